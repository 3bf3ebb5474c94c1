from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from headwater_producers.spark.events.batch import BatchRun, batch_events
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.plans import new_plan_event
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.plan import PlanDescription, PlanOutput, SourceKind
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    Expression,
    LineageEvent,
    PlanEvent,
    TransformationKind,
    TransformationType,
)
from headwater_schemas.identity import plan_digest
from headwater_schemas.reasons import too_large
from headwater_schemas.record import record_of
from support.capture import RecordingSink, event_context

if TYPE_CHECKING:
    import pytest

A, B, OUT = (DatasetRef("file", f"/data/{name}") for name in ("a", "b", "out"))
UNKNOWN = TransformationKind.UNKNOWN
BEGIN = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def wide(columns: int, text: int = 100) -> PlanDescription:
    """Each column of two of a's, with a text; b decides about all rows, and each seventh column is a constant."""
    edges: list[ColumnEdge] = [
        ColumnEdge(
            output=2,
            input=1,
            input_field="b",
            type=TransformationType.INDIRECT,
            subtype="FILTER",
            kind=TransformationKind.FILTER_DEPENDENCY,
        )
    ]
    for number in range(columns):
        if number % 7 == 0:
            edges.append(ColumnEdge(output=2, output_field=f"k{number}", kind=TransformationKind.CONSTANT))
        edges += [
            ColumnEdge(
                output=2,
                output_field=f"c{number}",
                input=0,
                input_field=name,
                type=TransformationType.DIRECT,
                kind=TransformationKind.DERIVE,
                expression=f"{number:016x}",
            )
            for name in (f"x{number}", f"y{number}")
        ]
    texts = tuple(Expression(f"{number:016x}", "é" * (text + number % 10)) for number in range(columns))
    return PlanDescription(
        inputs=(),
        outputs=(PlanOutput(dataset=OUT, kind=SourceKind.FILE),),
        lineage=ColumnLineage(datasets=(A, B, OUT), edges=tuple(edges), expressions=texts),
    )


def context(max_bytes: int) -> EventContext:
    return replace(event_context(), max_event_bytes=max_bytes)


def emitted(description: PlanDescription, max_bytes: int) -> PlanEvent | None:
    within = context(max_bytes)
    digest, event = new_plan_event(within, [description], job=within.job("j"), run_id="r", at=BEGIN, dedup=DedupCache())
    if event is None:
        assert digest is None
        return None
    record = record_of(event)
    headers = sum(len(name) + len(value) for name, value in record.headers)
    assert len(record.value) + len(record.key) + headers <= max_bytes
    assert event.plan_event is not None
    assert digest == event.plan_event.digest == plan_digest(event.plan_event.lineage)
    return event.plan_event


def test_what_fits_is_emitted_as_it_is() -> None:
    description = wide(50)
    body = emitted(description, 1_000_000)
    assert body is not None
    assert (len(body.lineage.edges), len(body.lineage.expressions)) == (len(description.lineage.edges), 50)
    assert body.lineage.complete


def test_texts_go_first_the_longest_of_them_and_the_digest_stays() -> None:
    description = wide(50)
    all_of_it = emitted(description, 1_000_000)
    body = emitted(description, 10_000)
    assert body is not None
    assert all_of_it is not None
    kept = body.lineage.expressions
    assert 0 < len(kept) < 50
    gone = set(all_of_it.lineage.expressions) - set(kept)
    assert min(len(each.text) for each in gone) >= max(len(each.text) for each in kept)
    assert (body.digest, body.lineage.edges) == (all_of_it.digest, all_of_it.lineage.edges)
    assert body.lineage.complete


def test_then_fields_of_inputs_and_it_says_so() -> None:
    body = emitted(wide(200), 7_000)
    assert body is not None
    edges = body.lineage.edges
    assert (body.lineage.expressions, body.lineage.complete) == ((), False)
    assert body.lineage.incomplete_reason == ("its plan event would be larger than the events topic takes, 7000 bytes")
    constants = {edge.output_field for edge in edges if edge.kind is TransformationKind.CONSTANT}
    assert constants == {f"k{number}" for number in range(0, 200, 7)}
    sources = {(edge.output_field, edge.input, edge.input_field) for edge in edges if edge.kind is UNKNOWN}
    assert sources == {(f"c{number}", 0, None) for number in range(200)} | {(None, 1, None)}


def test_then_fields_of_outputs() -> None:
    body = emitted(wide(200), 2_000)
    assert body is not None
    lineage = body.lineage
    assert [(e.output, e.output_field, e.input, e.input_field, e.kind) for e in lineage.edges] == [
        (2, None, 0, None, UNKNOWN),
        (2, None, 1, None, UNKNOWN),
    ]
    assert not lineage.complete


def test_what_the_sink_takes_counts_where_it_is_less() -> None:
    def event(sink_bytes: int) -> LineageEvent | None:
        within = replace(context(1_000_000), sink_bytes=lambda: sink_bytes)
        return new_plan_event(within, [wide(200)], job=within.job("j"), run_id="r", at=BEGIN, dedup=DedupCache())[1]

    small, whole = event(7_000), event(2_000_000)
    assert small is not None
    assert whole is not None
    assert len(record_of(small).value) <= 7_000 < len(record_of(whole).value)
    assert small.plan_event is not None
    assert small.plan_event.lineage.incomplete_reason == too_large(7_000)


def test_what_cannot_be_made_small_enough_is_not_cited() -> None:
    assert emitted(wide(200), 600) is None


def test_what_was_incomplete_keeps_its_reason() -> None:
    description = wide(200)
    partly = msgspec.structs.replace(description.lineage, complete=False, incomplete_reason="a UDTF isn't known")
    body = emitted(replace(description, lineage=partly), 2_000)
    assert body is not None
    assert body.lineage.incomplete_reason == (
        "a UDTF isn't known; its plan event would be larger than the events topic takes, 2000 bytes"
    )


def test_runs_cite_the_plan_that_was_sent(subtests: pytest.Subtests) -> None:
    for max_bytes in (1_000_000, 10_000, 2_000, 600):
        with subtests.test(max_bytes=max_bytes):
            sink, dedup = RecordingSink(), DedupCache()
            for _ in range(2):
                run = BatchRun(
                    write=Write(description=wide(200), written=Counts(rows=1)), started_at=BEGIN, ended_at=BEGIN
                )
                for event in batch_events(context(max_bytes), run, dedup):
                    sink.publish(event)
            sent = [event.plan_event.digest for event in sink.of_kind("PLAN") if event.plan_event]
            cited = {event.run_event.plan_digest for event in sink.runs() if event.run_event}
            assert len(sent) == (0 if max_bytes == 600 else 1), "and each once"
            assert cited == ({*sent} if sent else {None})


def test_the_log_says_once_for_each_job_what_a_setting_keeps_from_being_emitted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    dedup, within = DedupCache(), context(2_000)
    beyond = replace(wide(1), beyond_cap=True)
    with caplog.at_level(logging.WARNING):
        for job in ("one", "one", "other"):
            for description in (wide(200), wide(201), beyond):
                new_plan_event(within, [description], job=within.job(job), run_id="r", at=BEGIN, dedup=dedup)
    lines = [record.getMessage() for record in caplog.records]
    for job in ("one", "other"):
        mine = [line for line in lines if line.startswith(f"lineage capture: job {job}: ")]
        assert ["topic_max_message_bytes" in line for line in mine] == [True, False]
        assert ["capture_max_plan_bytes" in line for line in mine] == [False, True]
