"""Conversion of documents with standard facets to events.

    RunEvent      ⇒ RUN, and from its parts JOB, DATASETs, PLAN, INTERVAL
    JobEvent      ⇒ JOB, DATASETs
    DatasetEvent  ⇒ DATASET, and a JOB for its lineage

An event has the document's time, so the same document gives the same events, with the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from headwater_openlineage.described import DescribedDataset, DescribedJob, described_dataset, described_job
from headwater_openlineage.errors import Refused
from headwater_openlineage.facets import kept
from headwater_openlineage.jobs import job_fields
from headwater_openlineage.lineage import Made, made_from, with_pairs
from headwater_openlineage.origin import PART, without, written
from headwater_openlineage.quality import ASSERTIONS, results_of
from headwater_openlineage.reading import Json, need_mapping, need_text, read_facets, text
from headwater_openlineage.runs import interval_of, run_fields, run_ref
from headwater_openlineage.times import time_of
from headwater_openlineage.uses import LIFECYCLE, entries, use_of
from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    IntervalEvent,
    JobEvent,
    JobRef,
    LineageEvent,
    PlanEvent,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)

_SCHEMA_URL: Final = re.compile(
    r"https?://\S+/(?P<major>\d+)-\d+-\d+/OpenLineage\.json(?:#/(?:\$defs|definitions)/(?P<kind>\w+))?"
)
_MAJORS: Final = ("1", "2")
_KINDS: Final = {"run": "RunEvent", "dataset": "DatasetEvent", "job": "JobEvent"}
_TYPES: Final = {type_.value: type_ for type_ in RunEventType if type_ is not RunEventType.UNKNOWN}
_OF_OUTPUT: Final = ("columnLineage", "lineage")


def standard_events(document: Json, *, tenant: str, unread: Collection[str] = ()) -> list[LineageEvent]:
    """Read the events of one document; the main event is first.

    Args:
        document: result of `decode`; not changed.
        unread: pointers of facets that are stored but not read; empty for a document in parts.

    Raises:
        Refused: the document isn't an event of OpenLineage 1 or 2, or can't be represented in the graph.
    """
    kind = _kind(document)
    context = _Context(need_text(document, "producer", ""), time_of(document), tenant, unread)
    if kind == "RunEvent":
        return _run(document, context)
    if kind == "JobEvent":
        return _job(document, context)
    return _dataset(document, context)


@dataclass(frozen=True, slots=True)
class _Context:
    producer: str
    time: datetime
    tenant: str
    unread: Collection[str]

    def event(
        self,
        body: RunEvent | JobEvent | DatasetEvent,
        rest: Json,
        *,
        job: JobRef | None = None,
        run: RunRef | None = None,
    ) -> LineageEvent:
        """Return the main event of the document, with the document's text."""
        return self._built(body, job, run, kept(rest))

    def part(
        self,
        body: PlanEvent | JobEvent | DatasetEvent | IntervalEvent,
        *,
        job: JobRef | None = None,
        run: RunRef | None = None,
    ) -> LineageEvent:
        """Build another event of the same document."""
        return self._built(body, job, run, PART)

    def _built(
        self,
        body: RunEvent | PlanEvent | JobEvent | DatasetEvent | IntervalEvent,
        job: JobRef | None,
        run: RunRef | None,
        document: str,
    ) -> LineageEvent:
        return build.lineage_event(
            body,
            producer=self.producer,
            event_time=self.time,
            tenant=self.tenant,
            job=job,
            run=run,
            document=document,
            redacting=False,
        )


@dataclass(frozen=True, slots=True)
class _Dataset:
    """A member of `inputs` or `outputs`."""

    described: DescribedDataset
    entry: Json
    at: str


def _kind(document: Json) -> str:
    """Detect RunEvent, JobEvent or DatasetEvent by the document's members; its schemaURL must not contradict them."""
    url = need_text(document, "schemaURL", "")
    found = _SCHEMA_URL.fullmatch(url)
    if found is None:
        raise Refused(
            "/schemaURL",
            "must be the URL of OpenLineage's own schema, such as "
            "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        )
    if found["major"] not in _MAJORS:
        raise Refused("/schemaURL", f"must be of version 1 or 2 of OpenLineage, not {found['major'][:9]}")
    kind = next((kind for name, kind in _KINDS.items() if document.get(name) is not None), None)
    named = found["kind"]
    if kind is None:
        wanted = next((name for name, each in _KINDS.items() if each == named), "run")
        raise Refused(f"/{wanted}", "is missing: an event has a run and a job, a job, or a dataset")
    if named in _KINDS.values() and named != kind:
        raise Refused("/schemaURL", f"names a {named}, but the document is a {kind}")
    return kind


def _run(document: Json, context: _Context) -> list[LineageEvent]:
    run = need_mapping(document, "run", "")
    job = described_job(need_mapping(document, "job", ""), "/job", context.unread)
    run_id = run_ref(run, "/run")
    run_facets, left = read_facets(run, "facets", "/run", context.unread)
    inputs, outputs = _datasets(document, "inputs", context), _datasets(document, "outputs", context)
    consumed = tuple([use_of(each.described, each.entry, each.at, "inputFacets", context.unread) for each in inputs])
    produced = tuple([use_of(each.described, each.entry, each.at, "outputFacets", context.unread) for each in outputs])
    quality = [
        result
        for datasets, inner in ((inputs, "inputFacets"), (outputs, "outputFacets"))
        for each in datasets
        if ASSERTIONS in (each.entry.get(inner) or ())
        for result in results_of(each.described.ref, read_facets(each.entry, inner, each.at, context.unread)[0])
    ]
    made = made_from(job, [each.described for each in inputs], [each.described for each in outputs])
    held_of_run = {name: kept(facet) for name, (facet, _) in run_facets.items()}
    held_of_run |= {name: kept(facet) for name, facet in left.items()}
    body = RunEvent(
        type=_type(document),
        processing_type=job.processing_type,
        inputs=_all_consumed(consumed, made),
        outputs=_all_produced(produced, made),
        quality=tuple(quality),
        plan_digest=None if made.plan is None else made.plan.digest,
        run_facets=held_of_run,
        job_facets=job.held,
        **run_fields(run_facets),
    )
    rest = _rest(document, without(run, "facets", held_of_run), job, (consumed, produced))
    events = [context.event(body, rest, job=job.ref, run=run_id)]
    if (declared := job.declared) is not None:
        events.append(context.part(declared, job=job.ref))
    events += [context.part(each, job=job.ref, run=run_id) for each in _bodies(inputs, outputs, body.type)]
    if made.plan is not None:
        events.append(context.part(made.plan, job=job.ref, run=run_id))
    interval = interval_of(events[0], run_facets)
    if interval is not None:
        events.append(context.part(interval, job=job.ref, run=run_id))
    return events


def _job(document: Json, context: _Context) -> list[LineageEvent]:
    job = described_job(need_mapping(document, "job", ""), "/job", context.unread)
    inputs, outputs = _datasets(document, "inputs", context), _datasets(document, "outputs", context)
    made = made_from(job, [each.described for each in inputs], [each.described for each in outputs])
    declared_inputs, declared_outputs = _declared(document, "inputs", inputs), _declared(document, "outputs", outputs)
    if made.sources or made.consumed or (declared_inputs and declared_outputs):
        declared_inputs, declared_outputs, made = _with_edges(declared_inputs, declared_outputs, made)
    body = JobEvent(
        inputs=declared_inputs,
        outputs=declared_outputs,
        lineage=made.columns,
        facets=job.held,
        **job_fields(job.facets),
    )
    return [
        context.event(body, {**document, "job": job.rest}, job=job.ref),
        *(context.part(each, job=job.ref) for each in _bodies(inputs, outputs, None)),
    ]


def _dataset(document: Json, context: _Context) -> list[LineageEvent]:
    entry = need_mapping(document, "dataset", "")
    dataset = described_dataset(entry, "/dataset", context.unread)
    body = dataset.body(()) or DatasetEvent(dataset=dataset.ref)
    rest = {**document, "dataset": without(entry, "facets", body.facets)}
    events = [context.event(body, rest)]
    if not dataset.facets.keys().isdisjoint(("columnLineage", "lineage")):
        job = JobRef(dataset.ref.namespace, f"lineage of {dataset.ref.name}")
        events.append(context.part(_lineage_job(job, dataset), job=job))
    return events


def _lineage_job(job: JobRef, dataset: DescribedDataset) -> JobEvent:
    """Make a job for the lineage in a dataset's own facets, because each edge of the graph belongs to a job."""
    made = made_from(DescribedJob(job, {}, {}), (), (dataset,))
    if made.columns is None and not made.sources:
        return JobEvent(inputs=(), outputs=(dataset.ref,), lineage=ColumnLineage())
    inputs, outputs, made = _with_edges((), (dataset.ref,), made)
    return JobEvent(inputs=inputs, outputs=outputs, lineage=made.columns)


def _type(document: Json) -> RunEventType:
    given = text(document, "eventType", "")
    if given is None:
        return RunEventType.OTHER
    if given not in _TYPES:
        raise Refused("/eventType", f"must be one of {', '.join(_TYPES)}")
    return _TYPES[given]


def _datasets(document: Json, name: str, context: _Context) -> list[_Dataset]:
    return [_Dataset(described_dataset(entry, at, context.unread), entry, at) for entry, at in entries(document, name)]


def _declared(document: Json, name: str, datasets: list[_Dataset]) -> tuple[DatasetRef, ...] | None:
    return None if document.get(name) is None else tuple(dict.fromkeys(each.described.ref for each in datasets))


def _all_consumed(uses: tuple[DatasetUse, ...], made: Made) -> tuple[DatasetUse, ...]:
    """Return the listed inputs, then inputs that only explicit lineage names."""
    listed = {use.dataset for use in uses}
    return uses + tuple(DatasetUse(dataset=each) for each in made.consumed if each not in listed)


def _all_produced(uses: tuple[DatasetUse, ...], made: Made) -> tuple[DatasetUse, ...]:
    """Return the listed outputs with their sources, then outputs that only explicit lineage names."""
    listed = {use.dataset for use in uses}
    others = tuple(DatasetUse(dataset=each) for each in made.sources if each not in listed)
    return tuple(_with_sources(use, made.sources.get(use.dataset)) for use in (*uses, *others))


def _with_sources(use: DatasetUse, sources: tuple[DatasetRef, ...] | None) -> DatasetUse:
    """Add an output's sources; if they aren't stated, every input is a possible source."""
    return msgspec.structs.replace(use, inputs=sources, possible=sources is None)


Declared = tuple[DatasetRef, ...] | None


def _with_edges(inputs: Declared, outputs: Declared, made: Made) -> tuple[Declared, Declared, Made]:
    """Turn a job's declared inputs and outputs into edges of the declared lineage.

    If both lists were declared, the graph would draw an edge from each input to each output. So only one of them is
    declared. An output without explicit edges is possibly derived from every input, as in a run; the declared lineage
    is then marked as incomplete.
    """
    all_inputs = tuple(dict.fromkeys((*(inputs or ()), *made.consumed)))
    all_outputs = tuple(dict.fromkeys((*(outputs or ()), *made.sources)))
    pairs = [(source, target) for target, sources in made.sources.items() for source in sources]
    possible = [(source, target) for target in all_outputs if target not in made.sources for source in all_inputs]
    fed = {target for _, target in (*pairs, *possible)}
    columns = with_pairs(made.columns, pairs, possible)
    made = replace(made, columns=columns)
    if set(all_outputs) <= fed:
        return all_inputs, (), made
    return (), all_outputs, made


def _bodies(inputs: list[_Dataset], outputs: list[_Dataset], type_: RunEventType | None) -> Iterator[DatasetEvent]:
    """List each described dataset once. If a dataset is both read and written, the output's description wins.

    A dataset's lifecycle change counts only in the event of a complete run: other events only announce the change, and
    the run may fail.
    """
    announced = () if type_ is RunEventType.COMPLETE else (LIFECYCLE,)
    written = {each.described.ref for each in outputs}
    found: dict[DatasetRef, DescribedDataset] = {}
    for each in (*inputs, *outputs):
        given = each.described
        before = found.get(given.ref, given)
        if before is not given:
            unread = {**before.unread, **given.unread}
            given = DescribedDataset(given.ref, {**before.facets, **given.facets}, unread)
        found[given.ref] = given
    for ref, dataset in found.items():
        # The lineage facets of an output are in the plan and in the RUN event.
        body = dataset.body((*announced, *_OF_OUTPUT) if ref in written else announced)
        if body is not None:
            yield body


def _rest(document: Json, run: Json, job: DescribedJob, uses: tuple[tuple[DatasetUse, ...], ...]) -> Json:
    """Return the document without the facets that its RUN event stores."""
    rest = {**document, "run": run, "job": job.rest}
    for name, inner, each in (("inputs", "inputFacets", uses[0]), ("outputs", "outputFacets", uses[1])):
        if each:
            rest[name] = [
                written(without(entry, inner, use.facets)) for entry, use in zip(document[name], each, strict=True)
            ]
    return rest
