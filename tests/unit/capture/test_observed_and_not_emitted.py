"""Micro-batches that were seen and couldn't be emitted: their progress never came, or their checkpoint can't be read.

A progress may be dropped, or cut off by a stop; the writes inside foreachBatch were seen all the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind, StreamingLink
from headwater_producers.spark.streaming.backfill import Backfill
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.interval import QueryProgress, parse_progress
from headwater_producers.spark.streaming.links import MicroBatch
from headwater_producers.spark.streaming.stream_run import UNCOMMITTED_FACET, StreamRun
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    IntervalEntry,
    Provenance,
    RunError,
    RunEventType,
)
from support.capture import DictFiles, FakeQuery, RecordingSink, event_context, recorded, stream_emitter
from support.checkpoints import BEGAN_MS, QUERY, HandWritten, kafka_checkpoint

OBSERVED, RECONCILED = Provenance.OBSERVED, Provenance.RECONCILED
IN, OUT = DatasetRef("kafka://here", "in"), DatasetRef("file", "/out")
SOURCE = PlanInput(dataset=IN, kind=SourceKind.KAFKA, source_index=0)
BEGAN = datetime.fromtimestamp(BEGAN_MS / 1_000, UTC)


FUNCTION = PlanDescription(
    inputs=(SOURCE,),
    outputs=(),
    lineage=ColumnLineage(),
    streaming=StreamingLink(source_descriptions=("k",), sink_kind=SourceKind.CALLBACK),
)
"""Plan of a query with a foreachBatch function."""


class Shaky(DictFiles):
    """A store that doesn't answer for some files."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__(texts)
        self.broken: set[str] = set()

    def read(self, path: str) -> str | None:
        if path in self.broken:
            raise OSError("slow down")
        return super().read(path)


class Stage:
    """A query that has called its function for some micro-batches, and what is emitted of it."""

    def __init__(self, made: HandWritten, query: FakeQuery | None = None) -> None:
        self.files = made.files = Shaky(made.files.texts)
        self.sink = RecordingSink()
        emitter = stream_emitter(made.files, self.sink.publish)
        backfill = Backfill(
            context=event_context(), emit=self.sink.publish, files=made.files, max_batches=100, inside=emitter.inside
        )
        self.flow = StreamFlow(emitter, wait_seconds=5.0, backfill=backfill)
        query = query or FakeQuery(FUNCTION)
        self.flow.started(StreamRun(query_id=QUERY, run_id="run", name="fb", started_at=BEGAN, query=query))
        self.flow.announce_planned()

    def write(self, batch: int, rows: int) -> None:
        at = MicroBatch(QUERY, batch, "run")
        self.flow.called(at)
        plan = PlanDescription(
            inputs=(SOURCE,),
            outputs=(PlanOutput(dataset=OUT, kind=SourceKind.FILE),),
            lineage=ColumnLineage(
                datasets=(IN, OUT), edges=(ColumnEdge(output=1, output_field="a", input=0, input_field="value"),)
            ),
        )
        assert self.flow.wrote(at, Write(description=plan, written=Counts(rows=rows)), BEGAN)

    def progress(self, batch: int) -> None:
        self.flow.progressed(numbered(batch), BEGAN)
        self.flow.settle(self.flow.pending, BEGAN)
        self.flow.backfill_next()

    def end(self, error: RunError | None = None) -> None:
        self.flow.terminated("run", error, BEGAN + timedelta(hours=1))
        self.flow.settle(self.flow.pending, BEGAN + timedelta(hours=1))

    def emitted(self) -> dict[int, tuple[Provenance, list[int | None]]]:
        events = [e.interval_event for e in self.sink.of_kind("INTERVAL") if e.interval_event]
        return {
            entry.batch_id: (event.provenance, [use.rows for use in entry.outputs])
            for event in events
            for entry in event.entries
        }

    def entry(self, batch: int) -> IntervalEntry:
        [entry] = [entry for entry in self.sink.entries() if entry.batch_id == batch]
        return entry


def numbered(batch: int) -> QueryProgress:
    document = json.loads(recorded("foreach_batch")) | {"batchId": batch, "id": QUERY, "runId": "run"}
    [source] = (progress := parse_progress(json.dumps(document))).sources
    start, end = ({"in": {"0": 5 + 10 * number}} for number in (batch, batch + 1))
    # With a watermark, so that a file of the checkpoint is read.
    return replace(progress, sources=(replace(source, start=start, end=end, rows=10),), has_watermark=True)


def test_a_dropped_progress_drops_no_write() -> None:
    stage = Stage(kafka_checkpoint(3))
    for batch in range(3):
        stage.write(batch, rows=batch + 1)
        if batch != 1:
            stage.progress(batch)
    assert stage.emitted() == {0: (OBSERVED, [1]), 1: (RECONCILED, [2]), 2: (OBSERVED, [3])}
    assert stage.entry(1).rows_out == 2
    assert stage.entry(1).plan_digest == stage.entry(0).plan_digest is not None


def test_the_last_progress_may_be_cut_off_by_the_stop_of_its_query() -> None:
    stage = Stage(kafka_checkpoint(1))
    stage.write(0, rows=1)
    stage.end()
    assert stage.emitted() == {0: (RECONCILED, [1])}
    [plan] = [event.plan_event for event in stage.sink.of_kind("PLAN") if event.plan_event]
    assert stage.entry(0).plan_digest == plan.digest
    assert OUT in {use.dataset for use in stage.sink.last_run("flights.fb").outputs}


def test_what_a_failed_micro_batch_wrote_is_not_what_another_start_has_committed() -> None:
    """The next start may have committed it by the time that the failure is looked at, with writes of its own."""
    made = kafka_checkpoint(1)
    stage = Stage(made)
    stage.write(0, rows=1)
    stage.progress(0)
    stage.write(1, rows=7)
    made.run(1, {"in": {"0": 25}})
    stage.end(RunError(message="not my day"))
    assert stage.emitted()[1] == (RECONCILED, [])


def test_what_was_never_committed_is_no_interval() -> None:
    stage = Stage(kafka_checkpoint(1))
    stage.write(0, rows=1)
    stage.progress(0)
    stage.write(1, rows=7)
    stage.end(RunError(message="not my day"))
    assert set(stage.emitted()) == {0}
    [left] = json.loads(stage.sink.last_run("flights.fb").run_facets[UNCOMMITTED_FACET])["batches"]
    assert left["batchId"] == 1


def test_a_store_that_does_not_answer_for_a_moment_costs_no_micro_batch() -> None:
    stage = Stage(kafka_checkpoint(3))
    stage.write(0, rows=1)
    stage.progress(0)
    stage.write(1, rows=2)
    stage.files.broken = {"file:/cp/commits/1"}
    with pytest.raises(OSError, match="slow down"):
        stage.progress(1)
    stage.files.broken = set()
    stage.write(2, rows=3)
    stage.progress(2)
    assert stage.emitted() == {0: (OBSERVED, [1]), 1: (RECONCILED, [2]), 2: (OBSERVED, [3])}


def test_a_run_ends_whatever_its_last_micro_batch_can_not_be_reported_for() -> None:
    stage = Stage(kafka_checkpoint(2))
    stage.write(0, rows=1)
    stage.progress(0)
    stage.write(1, rows=2)
    stage.files.broken = {"file:/cp/commits/1"}
    stage.flow.progressed(numbered(1), BEGAN)
    with pytest.raises(OSError, match="slow down"):
        stage.end()
    # It can't be rebuilt either: the log says so, and it is counted as failed.
    assert stage.sink.run_types("flights.fb")[-1] is RunEventType.COMPLETE
    assert not stage.flow.knows("run")
    assert set(stage.emitted()) == {0}


def test_every_run_is_aborted_and_what_can_be_rebuilt_is() -> None:
    stage = Stage(kafka_checkpoint(3))
    stage.flow.started(StreamRun(query_id="other", run_id="other", name="other", started_at=BEGAN, query=None))
    stage.files.broken = {"file:/cp/commits/1"}
    with pytest.raises(OSError, match="slow down"):
        stage.flow.abort_all(None, BEGAN + timedelta(hours=1))
    assert stage.sink.run_types("flights.fb")[-1] is stage.sink.run_types("flights.other")[-1] is RunEventType.ABORT
    assert set(stage.emitted()) == {0, 2}


def test_one_run_that_can_not_be_reported_keeps_no_other_back() -> None:
    stage = Stage(kafka_checkpoint(1))
    stage.flow.started(StreamRun(query_id="other", run_id="other", name="other", started_at=BEGAN, query=None))
    stage.write(0, rows=1)
    stage.flow.progressed(numbered(0), BEGAN)
    stage.files.broken = {"file:/cp/commits/0"}
    stage.flow.called(MicroBatch("other", 0, "other"))
    stage.flow.progressed(replace(numbered(0), query_id="other", run_id="other"), BEGAN)
    assert len(stage.flow.pending) == 2
    with pytest.raises(OSError, match="slow down"):
        stage.flow.settle(stage.flow.pending, BEGAN)
    assert stage.sink.entries("flights.other")


def test_a_query_that_can_not_be_looked_at_has_a_run(caplog: pytest.LogCaptureFixture) -> None:
    class Strange(FakeQuery):
        def sink_description(self) -> str:
            raise OSError("password=hunter2")

    stage = Stage(kafka_checkpoint(1), Strange(FUNCTION))
    stage.end()
    assert stage.sink.run_types("flights.fb") == [RunEventType.START, RunEventType.COMPLETE]
    assert "can't be inspected (OSError)" in caplog.text
    assert "hunter2" not in caplog.text
