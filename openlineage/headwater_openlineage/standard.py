"""The specification's own words: a document → events.

    RunEvent      ⇒ RUN, and what it brings along: JOB, DATASETs, PLAN, INTERVAL
    JobEvent      ⇒ JOB, DATASETs
    DatasetEvent  ⇒ DATASET, and a JOB for its lineage

An event's time, and so its id, is the document's: the same document gives the same events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from headwater_openlineage.checkpoints import interval_of
from headwater_openlineage.datasets import dataset_body
from headwater_openlineage.errors import Refused
from headwater_openlineage.facets import kept
from headwater_openlineage.jobs import job_fields, processing_type
from headwater_openlineage.lineage import DatasetFacets, Made, made_from, with_pairs
from headwater_openlineage.origin import PART, without
from headwater_openlineage.quality import results_of
from headwater_openlineage.reading import Json, given_text, need_mapping, need_text, text
from headwater_openlineage.repeated import Repeated
from headwater_openlineage.runs import job_ref, run_fields, run_ref
from headwater_openlineage.times import need_time
from headwater_openlineage.uses import LIFECYCLE, entries, facets_of, inner_facets, use_of
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
from headwater_schemas.naming import normal

_SCHEMA_URL: Final = re.compile(
    r"https?://\S+/(?P<major>\d+)-\d+-\d+/OpenLineage\.json(?:#/(?:\$defs|definitions)/(?P<kind>\w+))?"
)
_DECLARED_JOBS: Final = Repeated[JobEvent]()
_MAJORS: Final = ("1", "2")
_KINDS: Final = {"run": "RunEvent", "dataset": "DatasetEvent", "job": "JobEvent"}
_TYPES: Final = {type_.value: type_ for type_ in RunEventType if type_ is not RunEventType.UNKNOWN}
Facets = dict[str, tuple[Json, str]]


def standard_events(document: Json, *, tenant: str) -> list[LineageEvent]:
    """The events of one document: first the one that it is about.

    Args:
        document: as `decode` gives it; it isn't changed.
        tenant: whose graph.

    Raises:
        Refused: it is no event of OpenLineage 1 or 2, or has no place in the graph.
    """
    kind = _kind(document)
    context = _Context(need_text(document, "producer", ""), need_time(document, "eventTime", ""), tenant)
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

    def event(
        self,
        body: RunEvent | JobEvent | DatasetEvent,
        rest: Json,
        *,
        job: JobRef | None = None,
        run: RunRef | None = None,
    ) -> LineageEvent:
        """The event that the document is about, with what else is in it."""
        return self._made(body, job, run, kept(rest))

    def part(
        self,
        body: PlanEvent | JobEvent | DatasetEvent | IntervalEvent,
        *,
        job: JobRef | None = None,
        run: RunRef | None = None,
    ) -> LineageEvent:
        """Another event of the same document."""
        return self._made(body, job, run, PART)

    def _made(
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
        )


@dataclass(frozen=True, slots=True)
class _Dataset(DatasetFacets):
    """A member of `inputs` or `outputs`."""

    entry: Json
    at: str


def _kind(document: Json) -> str:
    """RunEvent, JobEvent or DatasetEvent: by what the document has, which its schemaURL mustn't contradict."""
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
    run, job = need_mapping(document, "run", ""), need_mapping(document, "job", "")
    run_id, job_name = run_ref(run, "/run"), job_ref(job, "/job")
    run_facets, job_facets = facets_of(run, "/run"), facets_of(job, "/job")
    inputs, outputs = _datasets(document, "inputs"), _datasets(document, "outputs")
    consumed = tuple(use_of(each.ref, each.entry, each.at, each.facets, "inputFacets") for each in inputs)
    produced = tuple(use_of(each.ref, each.entry, each.at, each.facets, "outputFacets") for each in outputs)
    quality = [
        result
        for datasets, inner in ((inputs, "inputFacets"), (outputs, "outputFacets"))
        for each in datasets
        for result in results_of(each.ref, inner_facets(each.entry, inner, each.at))
    ]
    made = made_from(job_name, job_facets, inputs, outputs)
    plan = None if made.plan is None else context.part(made.plan, job=job_name, run=run_id)
    held_of_run, held_of_job = _held(run_facets), _held(job_facets)
    body = RunEvent(
        type=_type(document),
        processing_type=processing_type(job_facets),
        inputs=_all_consumed(consumed, made),
        outputs=_all_produced(produced, made),
        quality=tuple(quality),
        plan_digest=None if made.plan is None else made.plan.digest,
        run_facets=held_of_run,
        job_facets=held_of_job,
        **run_fields(run_facets),
    )
    rest = _rest(document, run, job, (held_of_run, held_of_job), (consumed, produced))
    events = [context.event(body, rest, job=job_name, run=run_id)]
    declared = _declared_job(job_facets)
    if declared != JobEvent():
        events.append(context.part(declared, job=job_name))
    events += [context.part(each, job=job_name, run=run_id) for each in _bodies(inputs, outputs, body.type)]
    if plan is not None:
        events.append(plan)
    interval = interval_of(events[0], run_facets)
    if interval is not None:
        events.append(context.part(interval, job=job_name, run=run_id))
    return events


def _job(document: Json, context: _Context) -> list[LineageEvent]:
    job = need_mapping(document, "job", "")
    facets = facets_of(job, "/job")
    name = job_ref(job, "/job")
    inputs, outputs = _datasets(document, "inputs"), _datasets(document, "outputs")
    held = _held(facets)
    rest = {**document, "job": without(job, "facets", held)}
    made = made_from(name, facets, inputs, outputs)
    declared_inputs, declared_outputs = _declared(document, "inputs", inputs), _declared(document, "outputs", outputs)
    if made.sources or made.consumed or (declared_inputs and declared_outputs):
        declared_inputs, declared_outputs, made = _with_edges(declared_inputs, declared_outputs, made)
    body = JobEvent(
        inputs=declared_inputs,
        outputs=declared_outputs,
        lineage=made.columns,
        facets=held,
        **job_fields(facets),
    )
    return [
        context.event(body, rest, job=name),
        *(context.part(each, job=name) for each in _bodies(inputs, outputs, None)),
    ]


def _dataset(document: Json, context: _Context) -> list[LineageEvent]:
    entry = need_mapping(document, "dataset", "")
    dataset = _read_dataset(entry, "/dataset")
    body = dataset_body(dataset.ref, dataset.facets, ())
    rest = {**document, "dataset": without(entry, "facets", body.facets)}
    events = [context.event(body, rest)]
    if not dataset.facets.keys().isdisjoint(("columnLineage", "lineage")):
        job = JobRef(dataset.ref.namespace, f"lineage of {dataset.ref.name}")
        events.append(context.part(_lineage_job(job, dataset), job=job))
    return events


def _lineage_job(job: JobRef, dataset: _Dataset) -> JobEvent:
    """A job for what a dataset's own facets state that it was made from: each edge of the graph is some job's."""
    made = made_from(job, {}, (), (dataset,))
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


def _datasets(document: Json, name: str) -> list[_Dataset]:
    return [_read_dataset(entry, at) for entry, at in entries(document, name)]


def _read_dataset(entry: Json, at: str) -> _Dataset:
    ref = normal(given_text(entry, "namespace", at), need_text(entry, "name", at))
    return _Dataset(ref, facets_of(entry, at), entry, at)


def _declared_job(facets: Facets) -> JobEvent:
    """What a run's event states of its job."""
    source = {name: facet for name, (facet, _) in facets.items()}
    return _DECLARED_JOBS.read(None, source, lambda: JobEvent(**job_fields(facets)))


def _declared(document: Json, name: str, datasets: list[_Dataset]) -> tuple[DatasetRef, ...] | None:
    return None if document.get(name) is None else tuple(dict.fromkeys(each.ref for each in datasets))


def _all_consumed(uses: tuple[DatasetUse, ...], made: Made) -> tuple[DatasetUse, ...]:
    """Inputs as listed, then those that only explicit lineage names."""
    listed = {use.dataset for use in uses}
    return uses + tuple(DatasetUse(dataset=each) for each in made.consumed if each not in listed)


def _all_produced(uses: tuple[DatasetUse, ...], made: Made) -> tuple[DatasetUse, ...]:
    """Outputs as listed, with what they were made from, then those that only explicit lineage names."""
    listed = {use.dataset for use in uses}
    others = tuple(DatasetUse(dataset=each) for each in made.sources if each not in listed)
    return tuple(_made_of(use, made.sources.get(use.dataset)) for use in (*uses, *others))


def _made_of(use: DatasetUse, sources: tuple[DatasetRef, ...] | None) -> DatasetUse:
    """An output with what it was made from; where nothing states that, every input is a possible source."""
    return msgspec.structs.replace(use, inputs=sources, possible=sources is None)


Declared = tuple[DatasetRef, ...] | None


def _with_edges(inputs: Declared, outputs: Declared, made: Made) -> tuple[Declared, Declared, Made]:
    """What a job declares as edges, since the graph draws one from every declared input to every declared output.

    So only one of the lists is declared, and the edges are those of the declared lineage. An output without explicit
    edges is possibly made from every input, as of a run: a declared lineage shows that it is incomplete.
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
    """Each dataset once that anything is stated of. Of one that is both read and written, what the output states wins.

    What a run does to a dataset has happened when the run is complete: what its other events announce may still fail.
    """
    announced = () if type_ is RunEventType.COMPLETE else (LIFECYCLE,)
    found: dict[DatasetRef, dict[str, tuple[Json, str]]] = {}
    for each in (*inputs, *outputs):
        found.setdefault(each.ref, {}).update(each.facets)
    written = {each.ref for each in outputs}
    for ref, facets in found.items():
        # Of an output these are in the plan and the run.
        elsewhere = ("columnLineage", "lineage") if ref in written else ()
        body = dataset_body(ref, facets, (*announced, *elsewhere))
        if body != DatasetEvent(dataset=ref):
            yield body


def _held(facets: Facets) -> dict[str, str]:
    """Facets of a run or job as the event holds them."""
    return {name: kept(facet) for name, (facet, _) in facets.items()}


def _rest(
    document: Json,
    run: Json,
    job: Json,
    held: tuple[dict[str, str], dict[str, str]],
    uses: tuple[tuple[DatasetUse, ...], tuple[DatasetUse, ...]],
) -> Json:
    rest = {**document, "run": without(run, "facets", held[0]), "job": without(job, "facets", held[1])}
    for name, inner, each in (("inputs", "inputFacets", uses[0]), ("outputs", "outputFacets", uses[1])):
        if each:
            rest[name] = [without(entry, inner, use.facets) for entry, use in zip(document[name], each, strict=True)]
    return rest
