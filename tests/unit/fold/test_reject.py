"""What can't become part of the graph, and the field that is named."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_consumers.materializer.fold import reject
from headwater_schemas import identity
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    QualityResult,
    RunRef,
    SchemaDefinition,
    SchemaField,
)
from support.events import (
    DEPARTED,
    full_dataset_event,
    full_interval_event,
    full_job_event,
    full_plan_event,
    full_run_event,
)

FULL = (full_run_event(), full_interval_event(), full_plan_event(), full_dataset_event(), full_job_event())


def with_id(event: LineageEvent) -> LineageEvent:
    return msgspec.structs.replace(event, event_id=identity.event_id(event))


def of(event: LineageEvent, **fields: Any) -> LineageEvent:
    return msgspec.structs.replace(event, **fields)


def run(**fields: Any) -> LineageEvent:
    event = full_run_event()
    assert event.run_event is not None
    return with_id(of(event, run_event=msgspec.structs.replace(event.run_event, **fields)))


def interval(*entries: IntervalEntry) -> LineageEvent:
    event = full_interval_event()
    assert event.interval_event is not None
    return with_id(of(event, interval_event=msgspec.structs.replace(event.interval_event, entries=entries)))


def reading(*ranges: OffsetRange) -> tuple[DatasetUse, ...]:
    return (DatasetUse(dataset=DEPARTED, position=Position(kafka=KafkaRanges("t", ranges))),)


def planned(edge: ColumnEdge) -> LineageEvent:
    event = full_job_event()
    assert event.job_event is not None
    lineage = ColumnLineage(datasets=(DEPARTED,), edges=(edge,))
    return of(event, job_event=msgspec.structs.replace(event.job_event, lineage=lineage))


def dataset(body: DatasetEvent) -> LineageEvent:
    return with_id(of(full_dataset_event(), dataset_event=body))


@pytest.mark.parametrize("event", FULL, ids=lambda event: event.kind)
def test_full_events_are_fine(event: LineageEvent) -> None:
    assert reject(event) is None


INVALID: dict[str, tuple[LineageEvent, str]] = {
    "tenant": (of(full_run_event(), tenant=""), "tenant"),
    "no body": (of(full_run_event(), run_event=None), "run_event"),
    "two bodies": (of(full_run_event(), job_event=full_job_event().job_event), "job_event"),
    "kind of another body": (of(full_run_event(), kind="PLAN"), "run_event"),
    "kind of a newer version": (of(full_run_event(), kind="TRACE"), "kind"),
    "other id": (of(full_run_event(), event_id=full_job_event().event_id), "event_id"),
    "run without job": (of(full_run_event(), job=None), "job"),
    "run without run": (of(full_run_event(), run=None), "run"),
    "empty job name": (of(full_run_event(), job=JobRef("n", "")), "job.name"),
    "empty run id": (of(full_run_event(), run=RunRef("")), "run.run_id"),
    "interval without job": (of(full_interval_event(), job=None), "job"),
    "plan without job": (of(full_plan_event(), job=None), "job"),
    "job without job": (of(full_job_event(), job=None), "job"),
    "no entries": (interval(), "interval_event.entries"),
    "negative batch": (interval(IntervalEntry(batch_id=-1)), "interval_event.entries[0].batch_id"),
    "batches with a hole": (
        interval(IntervalEntry(batch_id=1), IntervalEntry(batch_id=3)),
        "interval_event.entries[1].batch_id",
    ),
    "partition twice": (
        interval(IntervalEntry(batch_id=1, inputs=reading(OffsetRange(0, 1, 2), OffsetRange(0, 2, 3)))),
        "interval_event.entries[0].inputs[0].position.kafka.ranges[1].partition",
    ),
    "range backwards": (
        run(inputs=reading(OffsetRange(0, 2, 1))),
        "run_event.inputs[0].position.kafka.ranges[0]",
    ),
    "negative offset": (
        run(outputs=reading(OffsetRange(0, -2, 1))),
        "run_event.outputs[0].position.kafka.ranges[0].from",
    ),
    "dataset without name": (
        run(inputs=(DatasetUse(dataset=DatasetRef("n", "")),)),
        "run_event.inputs[0].dataset.name",
    ),
    "output out of range": (planned(ColumnEdge(output=1)), "job_event.lineage.edges[0].output"),
    "negative output": (planned(ColumnEdge(output=-1)), "job_event.lineage.edges[0].output"),
    "input out of range": (planned(ColumnEdge(output=0, input=7)), "job_event.lineage.edges[0].input"),
    "field of no input": (planned(ColumnEdge(output=0, input_field="x")), "job_event.lineage.edges[0].input_field"),
    "path twice": (
        dataset(
            DatasetEvent(
                dataset=DEPARTED, schema=SchemaDefinition((SchemaField(path="a"), SchemaField(path="a", type="int")))
            )
        ),
        "dataset_event.schema.fields",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_what_the_algebra_cannot_place_is_invalid(name: str) -> None:
    event, field = INVALID[name]
    rejection = reject(event)
    assert rejection is not None
    assert (rejection.reason, rejection.field) == (DeadLetterReason.INVALID_EVENT, field)
    assert rejection.message.startswith(f"{field}: ")


def test_a_digest_that_is_not_the_lineages_is_invalid() -> None:
    event = full_plan_event()
    assert event.plan_event is not None
    forged = with_id(of(event, plan_event=msgspec.structs.replace(event.plan_event, digest="0" * 32)))
    rejection = reject(forged)
    assert rejection is not None
    assert rejection.field == "plan_event.digest"


UNSTORABLE: dict[str, tuple[LineageEvent, str]] = {
    "surrogate": (of(full_run_event(), producer="x\ud800"), "producer"),
    "surrogate in a facet's name": (run(run_facets={"\udfff": "{}"}), "run_event.run_facets (a name)"),
    "surrogate deep down": (
        interval(IntervalEntry(batch_id=1, inputs=(DatasetUse(dataset=DatasetRef("\ud800", "n")),))),
        "interval_event.entries[0].inputs[0].dataset.namespace",
    ),
    "65 bits": (run(inputs=(DatasetUse(dataset=DEPARTED, rows=1 << 63),)), "run_event.inputs[0].rows"),
    "129 bits": (run(inputs=(DatasetUse(dataset=DEPARTED, bytes=1 << 128),)), "run_event.inputs[0].bytes"),
    "no number": (
        interval(IntervalEntry(batch_id=1, quality=(QualityResult(assertion="a", passed=True, value=float("nan")),))),
        "interval_event.entries[0].quality.value",
    ),
}


@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_neo4j_cannot_hold_is_unstorable(name: str) -> None:
    event, field = UNSTORABLE[name]
    rejection = reject(event)
    assert rejection is not None
    assert (rejection.reason, rejection.field) == (DeadLetterReason.UNSTORABLE_VALUE, field)


def test_the_largest_integers_are_fine() -> None:
    for number in (-(1 << 63), (1 << 63) - 1, 0xCF):
        assert reject(run(inputs=(DatasetUse(dataset=DEPARTED, rows=number),))) is None


def test_a_message_holds_no_text_of_the_event() -> None:
    secret = "hunter2"
    event = of(full_run_event(), producer=f"{secret}\ud800", tenant=secret)
    rejection = reject(event)
    assert rejection is not None
    assert secret not in rejection.message


@pytest.mark.parametrize(
    "position",
    [
        Position(),
        Position(kafka=KafkaRanges("t", ())),
        Position(kafka=KafkaRanges("t", (OffsetRange(0, 5, 5),))),
    ],
    ids=["a newer sort", "no partition", "an empty range"],
)
def test_what_only_makes_the_graph_poorer_is_tolerated(position: Position) -> None:
    assert reject(run(inputs=(DatasetUse(dataset=DEPARTED, position=position),))) is None


def test_two_sorts_of_position_contradict_each_other() -> None:
    position = Position(kafka=KafkaRanges("t", ()), opaque=msgspec.convert({"to_json": "{}"}, _opaque()))
    rejection = reject(run(inputs=(DatasetUse(dataset=DEPARTED, position=position),)))
    assert rejection is not None
    assert rejection.field == "run_event.inputs[0].position"


def _opaque() -> Any:
    from headwater_schemas.events import OpaqueRange

    return OpaqueRange
