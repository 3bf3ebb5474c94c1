"""Events that can't become part of the graph, and the field that is named."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headwater_graph.fold import reject, reject_decoded, rejection
from headwater_graph.fold.rejection import Rejection, RejectionReason
from headwater_schemas import identity
from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRead,
    DatasetRef,
    DatasetUse,
    FileSet,
    IncidentClock,
    IncidentScope,
    IncidentSeverity,
    IntervalEntry,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    OpaqueRange,
    ParentRun,
    PartitionMapping,
    PlanEvent,
    Position,
    QualityResult,
    ReachedDataset,
    ReachedPart,
    RetentionMode,
    RunRef,
    SchemaDefinition,
    SchemaField,
    TableSnapshot,
    TimeRange,
)
from headwater_schemas.lru_cache import IdentityCache
from support.events import (
    DEPARTED,
    FULL_EVENTS,
    JOB,
    LATER,
    LINEAGE,
    TIME,
    full_dataset_event,
    full_interval_event,
    full_job_event,
    full_plan_event,
    full_run_event,
)
from support.events import with_body as with_other_body

NO_NAME = DatasetRef("n", "")
NAMELESS = (DatasetUse(dataset=NO_NAME),)
ONE_RUN = IncidentScope(run="one")


def reached(**fields: Any) -> ReachedDataset:
    """A dataset that an incident reached, with one part."""
    part = ReachedPart(certainty=Certainty.EXACT)
    given: dict[str, Any] = {"dataset": DEPARTED, "depth": 1, "certainty": Certainty.EXACT, "cleared": False}
    given |= {"parts": (part,), "part_count": 1, "digest": "ab" * 32}
    return ReachedDataset(**given | fields)


def holding(**fields: Any) -> ReachedDataset:
    """A dataset that an incident reached, with a part of these fields."""
    return reached(parts=(ReachedPart(certainty=Certainty.EXACT, **fields),))


def with_id(event: LineageEvent) -> LineageEvent:
    return msgspec.structs.replace(event, event_id=identity.event_id(event))


def of(event: LineageEvent, **fields: Any) -> LineageEvent:
    return msgspec.structs.replace(event, **fields)


def run(**fields: Any) -> LineageEvent:
    return with_body("run", **fields)


def interval(*entries: IntervalEntry) -> LineageEvent:
    return intervals(entries=entries)


def reading(*ranges: OffsetRange) -> tuple[DatasetUse, ...]:
    return (DatasetUse(dataset=DEPARTED, position=Position(kafka=KafkaRanges("t", ranges))),)


def intervals(**fields: Any) -> LineageEvent:
    return with_body("interval", **fields)


def placed(position: Position) -> LineageEvent:
    return run(inputs=(DatasetUse(dataset=DEPARTED, position=position),))


def using(**fields: Any) -> LineageEvent:
    return run(inputs=(DatasetUse(dataset=DEPARTED, **fields),))


def job(**fields: Any) -> LineageEvent:
    return with_body("job", **fields)


def of_plan(lineage: ColumnLineage, digest: str | None = None) -> LineageEvent:
    body = PlanEvent(digest=digest or identity.plan_digest(lineage), lineage=lineage)
    return with_id(of(full_plan_event(), plan_event=body))


def planned(edge: ColumnEdge) -> LineageEvent:
    event = full_job_event()
    assert event.job_event is not None
    lineage = ColumnLineage(datasets=(DEPARTED,), edges=(edge,))
    return of(event, job_event=msgspec.structs.replace(event.job_event, lineage=lineage))


def mapping(source: DatasetRef, output: DatasetRef) -> PartitionMapping:
    return PartitionMapping(input=source, output=output, input_field="day", output_field="day", transform="identity")


def dataset(body: DatasetEvent) -> LineageEvent:
    return with_id(of(full_dataset_event(), dataset_event=body))


def with_body(name: str, **fields: Any) -> LineageEvent:
    """A full event with fields of its body changed, and the id that follows from them."""
    return with_id(with_other_body(name, **fields))


def test_full_events_are_fine(subtests: pytest.Subtests) -> None:
    for name in FULL_EVENTS:
        with subtests.test(name):
            assert reject(FULL_EVENTS[name]()) is None
            assert reject_decoded(FULL_EVENTS[name]()) is None


HOLE = IntervalEntry(batch_id=1), IntervalEntry(batch_id=3)
TWO_SORTS = Position(kafka=KafkaRanges("t", ()), opaque=OpaqueRange(to_json="{}"))

INVALID: dict[str, tuple[LineageEvent, str, str]] = {
    "tenant": (of(full_run_event(), tenant=""), "tenant", "empty"),
    "no body": (of(full_run_event(), run_event=None), "run_event", "missing"),
    "two bodies": (of(full_run_event(), job_event=full_job_event().job_event), "job_event", "set in a RUN event"),
    "kind of another body": (of(full_run_event(), kind="PLAN"), "run_event", "set in a PLAN event"),
    "kind of a newer version": (of(full_run_event(), kind="TRACE"), "kind", "unknown in this version"),
    "other id": (
        of(full_run_event(), event_id=full_job_event().event_id),
        "event_id",
        "not the id of this content (identity.event_id)",
    ),
    "run without job": (of(full_run_event(), job=None), "job", "missing"),
    "run without run": (of(full_run_event(), run=None), "run", "missing"),
    "empty job name": (of(full_run_event(), job=JobRef("n", "")), "job.name", "empty"),
    "empty run id": (of(full_run_event(), run=RunRef("")), "run.run_id", "empty"),
    "interval without job": (of(full_interval_event(), job=None), "job", "missing"),
    "plan without job": (of(full_plan_event(), job=None), "job", "missing"),
    "job without job": (of(full_job_event(), job=None), "job", "missing"),
    "parent without run": (run(parent=ParentRun("", JobRef("n", "j"))), "run_event.parent.run_id", "empty"),
    "parent without job": (run(parent=ParentRun("r", JobRef("n", ""))), "run_event.parent.job.name", "empty"),
    "root without run": (run(root=ParentRun("", JobRef("n", "j"))), "run_event.root.run_id", "empty"),
    "root without job": (run(root=ParentRun("r", JobRef("n", ""))), "run_event.root.job.name", "empty"),
    "empty query": (run(query_id=""), "run_event.query_id", "empty"),
    "empty digest of a run": (run(plan_digest=""), "run_event.plan_digest", "empty"),
    "empty query of an interval": (intervals(query_id=""), "interval_event.query_id", "empty"),
    "no entries": (interval(), "interval_event.entries", "empty"),
    "negative batch": (interval(IntervalEntry(batch_id=-1)), "interval_event.entries[0].batch_id", "negative"),
    "batches with a hole": (
        interval(*HOLE),
        "interval_event.entries[1].batch_id",
        "3, not 2: not consecutive",
    ),
    "a batch twice": (
        interval(IntervalEntry(batch_id=0), IntervalEntry(batch_id=1), IntervalEntry(batch_id=1)),
        "interval_event.entries[2].batch_id",
        "1, not 2: not consecutive",
    ),
    "empty digest of a batch": (
        interval(IntervalEntry(batch_id=1, plan_digest="")),
        "interval_event.entries[0].plan_digest",
        "empty",
    ),
    "input of a batch": (
        interval(IntervalEntry(batch_id=1, inputs=NAMELESS)),
        "interval_event.entries[0].inputs[0].dataset.name",
        "empty",
    ),
    "output of a batch": (
        interval(IntervalEntry(batch_id=1, outputs=NAMELESS)),
        "interval_event.entries[0].outputs[0].dataset.name",
        "empty",
    ),
    "partition twice": (
        interval(IntervalEntry(batch_id=1, inputs=reading(OffsetRange(0, 1, 2), OffsetRange(0, 2, 3)))),
        "interval_event.entries[0].inputs[0].position.kafka.ranges[1].partition",
        "0 occurs twice",
    ),
    "negative partition": (
        run(inputs=reading(OffsetRange(-1, 1, 2))),
        "run_event.inputs[0].position.kafka.ranges[0].partition",
        "negative",
    ),
    "range backwards": (
        run(inputs=reading(OffsetRange(0, 2, 1))),
        "run_event.inputs[0].position.kafka.ranges[0]",
        "ends at 1, before it begins at 2",
    ),
    "negative offset": (
        run(outputs=reading(OffsetRange(0, -2, 1))),
        "run_event.outputs[0].position.kafka.ranges[0].from",
        "negative",
    ),
    "two sorts of position": (placed(TWO_SORTS), "run_event.inputs[0].position", "2 kinds of position at once"),
    "snapshot without id": (
        placed(Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=""))),
        "run_event.inputs[0].position.table_snapshot.snapshot_id",
        "empty",
    ),
    "files below none": (
        placed(Position(files=FileSet(count=-1))),
        "run_event.inputs[0].position.files.count",
        "negative",
    ),
    "files without digest": (
        placed(Position(files=FileSet(count=1, manifest_digest=""))),
        "run_event.inputs[0].position.files.manifest_digest",
        "empty",
    ),
    "times backwards": (
        placed(Position(time_range=TimeRange(from_=LATER, to_exclusive=TIME))),
        "run_event.inputs[0].position.time_range",
        "ends before it begins",
    ),
    "dataset without name": (run(inputs=NAMELESS), "run_event.inputs[0].dataset.name", "empty"),
    "dataset without name behind another": (
        run(inputs=(DatasetUse(dataset=DEPARTED), *NAMELESS)),
        "run_event.inputs[1].dataset.name",
        "empty",
    ),
    "source of an output without name": (
        run(outputs=(DatasetUse(dataset=DEPARTED, inputs=(DEPARTED, DatasetRef("n", ""))),)),
        "run_event.outputs[0].inputs[1].name",
        "empty",
    ),
    "output out of range": (
        planned(ColumnEdge(output=1)),
        "job_event.lineage.edges[0].output",
        "1 is no index into the 1 datasets",
    ),
    "negative output": (
        planned(ColumnEdge(output=-1)),
        "job_event.lineage.edges[0].output",
        "-1 is no index into the 1 datasets",
    ),
    "input out of range": (
        planned(ColumnEdge(output=0, input=7)),
        "job_event.lineage.edges[0].input",
        "7 is no index into the 1 datasets",
    ),
    "field of no input": (
        planned(ColumnEdge(output=0, input_field="x")),
        "job_event.lineage.edges[0].input_field",
        "set without an input",
    ),
    "dataset of a lineage without name": (
        job(lineage=ColumnLineage(datasets=(DatasetRef("n", ""),))),
        "job_event.lineage.datasets[0].name",
        "empty",
    ),
    "dataset of a plan without name": (
        of_plan(ColumnLineage(datasets=(DatasetRef("n", ""),))),
        "plan_event.lineage.datasets[0].name",
        "empty",
    ),
    "edge of a plan": (
        of_plan(
            ColumnLineage(datasets=(DEPARTED,), edges=(ColumnEdge(output=0), ColumnEdge(output=1))), digest="0" * 32
        ),
        "plan_event.lineage.edges[1].output",
        "1 is no index into the 1 datasets",
    ),
    "digest that is not the lineage's": (
        of_plan(LINEAGE, digest="0" * 32),
        "plan_event.digest",
        "not the digest of this lineage",
    ),
    "input of a job": (job(inputs=(DEPARTED, DatasetRef("n", ""))), "job_event.inputs[1].name", "empty"),
    "output of a job": (job(outputs=(DatasetRef("n", ""),)), "job_event.outputs[0].name", "empty"),
    "dataset": (dataset(DatasetEvent(dataset=DatasetRef("n", ""))), "dataset_event.dataset.name", "empty"),
    "dataset it was before": (
        dataset(DatasetEvent(dataset=DEPARTED, previous=DatasetRef("n", ""))),
        "dataset_event.previous.name",
        "empty",
    ),
    "path twice": (
        dataset(
            DatasetEvent(
                dataset=DEPARTED, schema=SchemaDefinition((SchemaField(path="a"), SchemaField(path="a", type="int")))
            )
        ),
        "dataset_event.schema.fields",
        "a path occurs twice",
    ),
    "retention of a newer version": (
        with_body("retention", mode=RetentionMode.UNKNOWN),
        "retention_event.mode",
        "unknown in this version",
    ),
    "retention of a job without its namespace": (
        with_body("retention", namespace=None),
        "retention_event.namespace",
        "missing: required with a job",
    ),
    "retention of a job without name": (with_body("retention", job=""), "retention_event.job", "empty"),
    "declaration of no set": (with_body("declaration", set=""), "declaration_event.set", "empty"),
    "declaration of nothing": (
        with_body("declaration_of_a_consumer", consumer=None),
        "declaration_event",
        "declares exactly one of dataset, job and consumer",
    ),
    "declaration with a field of another kind": (
        with_body("declaration_of_a_consumer", keep_days=3),
        "declaration_event.keep_days",
        "only a dataset has it",
    ),
    "consumer without name": (
        with_body("declaration_of_a_consumer", consumer=""),
        "declaration_event.consumer",
        "empty",
    ),
    "declared job without name": (
        with_body("declaration_of_a_job", job=JobRef("n", "")),
        "declaration_event.job.name",
        "empty",
    ),
    "declared dataset without name": (
        with_body("declaration", dataset=NO_NAME),
        "declaration_event.dataset.name",
        "empty",
    ),
    "input of a declared job": (
        with_body("declaration_of_a_job", inputs=(DEPARTED, NO_NAME)),
        "declaration_event.inputs[1].name",
        "empty",
    ),
    "output of a declared job": (
        with_body("declaration_of_a_job", outputs=(DEPARTED, NO_NAME)),
        "declaration_event.outputs[1].name",
        "empty",
    ),
    "what a declared consumer reads": (
        with_body("declaration_of_a_consumer", reads=(DatasetRead(DEPARTED), DatasetRead(NO_NAME))),
        "declaration_event.reads[1].name",
        "empty",
    ),
    "input of a partition mapping": (
        with_body("declaration_of_a_job", partitions=(mapping(NO_NAME, DEPARTED),)),
        "declaration_event.partitions[0].name",
        "empty",
    ),
    "output of a partition mapping": (
        with_body("declaration_of_a_job", partitions=(mapping(DEPARTED, NO_NAME),)),
        "declaration_event.partitions[1].name",
        "empty",
    ),
    "dataset of a declared lineage without name": (
        with_body("declaration_of_a_job", lineage=ColumnLineage(datasets=(NO_NAME,))),
        "declaration_event.lineage.datasets[0].name",
        "empty",
    ),
    "field of no input, declared": (
        with_body(
            "declaration_of_a_job",
            lineage=ColumnLineage(datasets=(DEPARTED,), edges=(ColumnEdge(output=0, input_field="x"),)),
        ),
        "declaration_event.lineage.edges[0].input_field",
        "set without an input",
    ),
    "revision of no set": (with_body("declaration_set", set=""), "declaration_set_event.set", "empty"),
    "revision 0": (
        with_body("declaration_set", revision=0),
        "declaration_set_event.revision",
        "revisions begin with 1",
    ),
    **{
        f"incident with an empty {field}": (with_body(kind, **{field: ""}), f"incident_event.{field}", "empty")
        for kind, field in (
            *(("incident", field) for field in ("incident", "by", "title", "cause")),
            ("incident_of_an_assignment", "assignee"),
            ("incident_of_a_merge", "into"),
        )
    },
    **{
        f"part of a scope with {name}": (
            with_body("incident", scope=(ONE_RUN, part)),
            f"incident_event.{field}",
            detail,
        )
        for name, (part, field, detail) in {
            "no name of a dataset": (IncidentScope(dataset=NO_NAME), "scope[1].dataset.name", "empty"),
            "no name of a job": (IncidentScope(job=JobRef("f", "")), "scope[1].job.name", "empty"),
            "an empty run": (IncidentScope(run=""), "scope[1].run", "empty"),
            "an empty query": (IncidentScope(query=""), "scope[1].query", "empty"),
            "an empty consumer": (IncidentScope(consumer=""), "scope[1].consumer", "empty"),
            "an empty column": (IncidentScope(dataset=DEPARTED, column=""), "scope[1].column", "empty"),
            "an empty partition": (IncidentScope(dataset=DEPARTED, partition=""), "scope[1].partition", "empty"),
            "an empty version": (IncidentScope(dataset=DEPARTED, version=""), "scope[1].version", "empty"),
            "an empty code version": (IncidentScope(job=JOB, code_version=""), "scope[1].code_version", "empty"),
            "a negative partition": (
                IncidentScope(dataset=DEPARTED, offsets=(OffsetRange(-1, 0, 1),)),
                "scope[1].offsets[0].partition",
                "negative",
            ),
            "a negative offset": (
                IncidentScope(dataset=DEPARTED, offsets=(OffsetRange(0, -1, 1),)),
                "scope[1].offsets[0].from",
                "negative",
            ),
            "a negative batch": (IncidentScope(query="q", from_batch=-1), "scope[1].from_batch", "negative"),
            "a negative last batch": (IncidentScope(query="q", to_batch=-1), "scope[1].to_batch", "negative"),
            "an empty span": (
                IncidentScope(query="q", since=TIME, until=TIME, clock=IncidentClock.EVENT),
                "scope[1].until",
                "not after since",
            ),
        }.items()
    },
    **{
        f"reached dataset with {name}": (
            with_body("incident_of_a_reach", reached=(dataset,)),
            f"incident_event.reached[0].{field}",
            detail,
        )
        for name, (dataset, field, detail) in {
            "no name": (reached(dataset=NO_NAME), "dataset.name", "empty"),
            "a negative depth": (reached(depth=-1), "depth", "negative"),
            "a negative number of parts": (reached(part_count=-1), "part_count", "negative"),
            "no digest": (reached(digest=""), "digest", "not 64 hex digits"),
            "an empty topic id": (holding(topic_id=""), "parts[0].topic_id", "empty"),
            "an empty format": (holding(format=""), "parts[0].format", "empty"),
            "an empty version": (holding(version=""), "parts[0].version", "empty"),
            "an empty first version": (holding(from_version=""), "parts[0].from_version", "empty"),
            "an empty position": (holding(position=""), "parts[0].position", "empty"),
            "an empty partition": (holding(partitions=("day=1", "")), "parts[0].partitions[1]", "empty"),
            "an empty file": (holding(files=("",)), "parts[0].files[0]", "empty"),
            "a negative number of files": (holding(file_count=-1), "parts[0].file_count", "negative"),
            "a negative partition": (
                holding(offsets=(OffsetRange(-1, 0, 1),)),
                "parts[0].offsets[0].partition",
                "negative",
            ),
            "a negative offset": (holding(offsets=(OffsetRange(0, -1, 1),)), "parts[0].offsets[0].from", "negative"),
        }.items()
    },
    "removed part of nothing": (
        with_body("incident", removed=(IncidentScope(dataset=NO_NAME),)),
        "incident_event.removed[0].dataset.name",
        "empty",
    ),
}


def test_what_the_algebra_cannot_place_is_invalid(subtests: pytest.Subtests) -> None:
    for name, (event, field, detail) in INVALID.items():
        with subtests.test(name):
            rejected = reject(event)
            assert rejected == Rejection(RejectionReason.INVALID_EVENT, field, detail)
            assert rejected.message == f"{field}: {detail}"
            assert reject_decoded(event) == rejected


def quality(value: float | None) -> QualityResult:
    return QualityResult(assertion="a", passed=True, value=value)


UNSTORABLE: dict[str, tuple[LineageEvent, str, str]] = {
    "surrogate": (of(full_run_event(), producer="x\ud800"), "producer", "a lone surrogate at character 1"),
    "surrogate in a facet's name": (
        run(run_facets={"\udfff": "{}"}),
        "run_event.run_facets (a name)",
        "a lone surrogate at character 0",
    ),
    "surrogate deep down": (
        interval(IntervalEntry(batch_id=1, inputs=(DatasetUse(dataset=DatasetRef("\ud800", "n")),))),
        "interval_event.entries[0].inputs[0].dataset.namespace",
        "a lone surrogate at character 0",
    ),
    "surrogate in a facet": (
        run(run_facets={"f": "ab\udfff"}),
        "run_event.run_facets.f",
        "a lone surrogate at character 2",
    ),
    "64 bits": (using(rows=1 << 63), "run_event.inputs[0].rows", "an integer over 64 bits"),
    "64 bits, the largest": (using(rows=(1 << 64) - 1), "run_event.inputs[0].rows", "an integer over 64 bits"),
    "64 bits, negative": (using(rows=-(1 << 63) - 1), "run_event.inputs[0].rows", "an integer over 64 bits"),
    "64 bits, after a number": (using(rows=5, bytes=1 << 63), "run_event.inputs[0].bytes", "an integer over 64 bits"),
    "64 bits, after a negative number": (
        using(rows=-5, bytes=1 << 63),
        "run_event.inputs[0].bytes",
        "an integer over 64 bits",
    ),
    "129 bits": (using(bytes=1 << 128), "run_event.inputs[0].bytes", "an integer over 64 bits"),
    "no number": (
        interval(IntervalEntry(batch_id=1, quality=(quality(1.5), quality(float("nan"))))),
        "interval_event.entries[0].quality.value",
        "not a finite number",
    ),
    "no number of a run": (
        run(quality=(quality(None), quality(float("-inf")))),
        "run_event.quality.value",
        "not a finite number",
    ),
}


def test_what_neo4j_cannot_hold_is_unstorable(subtests: pytest.Subtests) -> None:
    for name, (event, field, detail) in UNSTORABLE.items():
        with subtests.test(name):
            assert reject(event) == Rejection(RejectionReason.UNSTORABLE_VALUE, field, detail)


def test_the_largest_integers_are_fine() -> None:
    for number in (-(1 << 63), (1 << 63) - 1, 0xCF):
        assert reject(using(rows=number)) is None


def test_what_cannot_be_encoded_is_not_accepted_where_the_fault_is_not_found() -> None:
    # A list where the event has a tuple isn't looked into.
    with pytest.raises(OverflowError):
        reject(run(inputs=[DatasetUse(dataset=DEPARTED, rows=1 << 64)]))


def test_a_message_holds_no_text_of_the_event() -> None:
    secret = "hunter2"
    event = of(full_run_event(), producer=f"{secret}\ud800", tenant=secret)
    rejected = reject(event)
    assert rejected is not None
    assert secret not in rejected.message


TOLERATED: dict[str, LineageEvent] = {
    "a newer sort of position": placed(Position()),
    "no partition": placed(Position(kafka=KafkaRanges("t", ()))),
    "an empty range": placed(Position(kafka=KafkaRanges("t", (OffsetRange(0, 5, 5),)))),
    "an empty range at the beginning": placed(Position(kafka=KafkaRanges("t", (OffsetRange(0, 0, 0),)))),
    "an empty range of time": placed(Position(time_range=TimeRange(from_=TIME, to_exclusive=TIME))),
    "no file": placed(Position(files=FileSet(count=0))),
    "files without a digest": placed(Position(files=FileSet(count=1, manifest_digest=None))),
    "a namespace that is empty": run(inputs=(DatasetUse(dataset=DatasetRef("", "n")),)),
    "no query and no plan": run(query_id=None, plan_digest=None),
    "no parent and no root": run(parent=None, root=None),
    "the first micro-batch": interval(IntervalEntry(batch_id=0), IntervalEntry(batch_id=1)),
    "a job without lineage": job(lineage=None, inputs=None, outputs=None),
    "a schema without fields": dataset(DatasetEvent(dataset=DEPARTED, schema=SchemaDefinition(()))),
    "no datasets": of_plan(ColumnLineage()),
    "retention of a namespace": with_body("retention", job=None),
    "retention of all": with_body("retention", job=None, namespace=None),
    "a dataset that is only named": with_body("declaration", columns=None, marks=None),
    "a job that is only named": with_body(
        "declaration_of_a_job", inputs=None, outputs=None, lineage=None, partitions=None
    ),
    "a consumer that reads nothing": with_body("declaration_of_a_consumer", reads=None),
    "a set of nothing": with_body("declaration_set", items=()),
    "an incident without a scope": with_body("incident_of_an_opening", scope=None),
    "the first micro-batch and offset": with_body(
        "incident",
        scope=(
            IncidentScope(query="q", from_batch=0, to_batch=0),
            IncidentScope(dataset=DEPARTED, offsets=(OffsetRange(0, 0, 1),)),
        ),
    ),
    "an incident that reached nothing": with_body("incident_of_a_reach", reached=()),
    "a certainty of a newer version": with_body("incident_of_a_reach", reached=(reached(certainty=Certainty.UNKNOWN),)),
    "a severity of a newer version": with_body("incident", severity=IncidentSeverity.UNKNOWN),
}


def test_what_only_makes_the_graph_poorer_is_tolerated(subtests: pytest.Subtests) -> None:
    for name, event in TOLERATED.items():
        with subtests.test(name):
            assert reject(event) is None


def test_numbers_that_are_none_are_looked_for_in_what_was_decoded() -> None:
    for name in ("no number", "no number of a run"):
        event, field, detail = UNSTORABLE[name]
        assert reject_decoded(event) == Rejection(RejectionReason.UNSTORABLE_VALUE, field, detail)


class Sizes(IdentityCache[bool]):
    """Knows the size of each value that was kept."""

    def __init__(self) -> None:
        super().__init__(1_000)
        self.sizes: list[int] = []

    def put(self, source: object, value: bool, size: int = 1) -> None:
        self.sizes.append(size)
        super().put(source, value, size)


def test_a_plan_that_a_decoder_gives_again_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is its edges and one, so that there is an end to plans without edges as well."""
    kept = Sizes()
    monkeypatch.setattr(rejection, "_good_plans", kept)
    good, empty, bad = of_plan(LINEAGE), of_plan(ColumnLineage()), of_plan(LINEAGE, digest="0" * 32)
    assert [reject(event) is None for event in (good, empty, bad)] == [True, True, False]
    assert kept.sizes == [len(LINEAGE.edges) + 1, 1]

    digests: list[ColumnLineage] = []

    def digest(lineage: ColumnLineage) -> str:
        digests.append(lineage)
        return identity.plan_digest(lineage)

    monkeypatch.setattr(rejection, "plan_digest", digest)
    assert [reject(event) is None for event in (good, empty, bad)] == [True, True, False]
    assert digests == [LINEAGE], "of the bad one alone"
