from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec

from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.interval import QueryProgress, parse_progress
from headwater_producers.spark.streaming.links import MicroBatch
from headwater_producers.spark.streaming.stream_run import STATE_FACET, StreamRun
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    EmissionReason,
    OffsetRange,
    RunError,
    RunEventType,
    SchemaDefinition,
    SchemaField,
)
from headwater_schemas.identity import schema_digest
from support.capture import DictFiles, FakeQuery, RecordingSink, body, event_context, files_of, recorded, stream_emitter

IN, OUT, COUNTS = (
    DatasetRef("kafka://broker:9092", "in"),
    DatasetRef("kafka://broker:9092", "out"),
    DatasetRef("file", "/data/counts"),
)
NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
START, RUNNING, COMPLETE = RunEventType.START, RunEventType.RUNNING, RunEventType.COMPLETE


SCHEMA = SchemaDefinition((SchemaField(path="value", type="string"),))
DIGEST = schema_digest(SCHEMA)


def description(*outputs: DatasetRef) -> PlanDescription:
    datasets = (IN, *outputs)
    return PlanDescription(
        inputs=(PlanInput(dataset=IN, kind=SourceKind.KAFKA, source_index=0, type="TOPIC"),),
        outputs=tuple(PlanOutput(dataset=each, kind=SourceKind.KAFKA, schema=SCHEMA) for each in outputs),
        lineage=ColumnLineage(
            datasets=datasets,
            edges=tuple(
                ColumnEdge(output=index, output_field="value", input=0, input_field="value")
                for index in range(1, len(datasets))
            ),
        ),
    )


class Stage:
    """A flow with a recording sink, a fake checkpoint and a clock of its own."""

    def __init__(self, context: EventContext | None = None) -> None:
        self.sink = RecordingSink()
        self.files = DictFiles({"file:/cp/sources/0/0": 'v1\n{"in":{"0":0,"1":0}}'})
        self.now = 100.0
        self.flow = StreamFlow(
            stream_emitter(self.files, self.sink.publish, context), wait_seconds=5.0, clock=lambda: self.now
        )

    def start(
        self, query: FakeQuery | None, progress: QueryProgress, name: str | None = "enrich", run_id: str | None = None
    ) -> None:
        run_id = run_id or progress.run_id
        self.flow.started(StreamRun(query_id=progress.query_id, run_id=run_id, name=name, started_at=NOW, query=query))

    def called(self, number: int | None = None) -> tuple[QueryProgress, MicroBatch]:
        """A query's foreachBatch function is called for a micro-batch."""
        document = json.loads(recorded("foreach_batch"))
        progress = parse_progress(json.dumps(document | ({} if number is None else {"batchId": number})))
        batch = MicroBatch(progress.query_id, progress.batch_id)
        self.start(FakeQuery(description()), progress, name="fb")
        self.flow.called(batch)
        return progress, batch

    def settled(self, progress: QueryProgress) -> None:
        self.flow.progressed(progress, NOW)
        self.flow.settle(self.flow.pending, NOW)


def test_a_run_from_start_to_end() -> None:
    stage = Stage()
    first, second = parse_progress(recorded("kafka_first_batch")), parse_progress(recorded("kafka_next_batch"))
    stage.start(FakeQuery(description(OUT)), first)
    stage.flow.announce_planned()
    stage.flow.progressed(first, NOW)
    stage.flow.progressed(second, NOW)
    stage.flow.terminated(first.run_id, None, NOW + timedelta(seconds=1))

    assert [event.kind for event in stage.sink.events] == [
        *("JOB", "DATASET", "DATASET", "PLAN", "RUN", "INTERVAL", "INTERVAL", "RUN"),
    ]
    assert stage.sink.run_types("flights.enrich") == [START, COMPLETE]
    started = stage.sink.runs()[0].run_event
    assert started is not None
    assert started.inputs == (DatasetUse(dataset=IN),)
    assert started.outputs == (DatasetUse(dataset=OUT, schema_digest=DIGEST),)
    assert started.parent is not None
    assert started.parent.job.name == "flights"
    assert (started.query_id, started.checkpoint_location) == (first.query_id, "file:/cp")

    entries = stage.sink.entries()
    assert [entry.batch_id for entry in entries] == [0, 1]
    ranges = [
        use.position.kafka.ranges for entry in entries for use in entry.inputs if use.position and use.position.kafka
    ]
    assert ranges == [(OffsetRange(0, 0, 8), OffsetRange(1, 0, 12)), (OffsetRange(0, 8, 24), OffsetRange(1, 12, 26))]
    plan = stage.sink.of_kind("PLAN")[0].plan_event
    assert plan is not None
    assert {entry.plan_digest for entry in entries} == {plan.digest} == {started.plan_digest}
    assert all(event.run and event.run.run_id == first.run_id for event in stage.sink.of_kind("INTERVAL"))


def test_a_plan_too_large_for_the_topic_is_emitted_smaller_and_cited_as_it_was_sent() -> None:
    edges = (
        ColumnEdge(output=1, output_field=f"column{number}", input=0, input_field="value") for number in range(500)
    )
    wide = replace(description(OUT), lineage=ColumnLineage(datasets=(IN, OUT), edges=tuple(edges)))
    stage = Stage(replace(event_context(), max_event_bytes=5_000))
    first, second = parse_progress(recorded("kafka_first_batch")), parse_progress(recorded("kafka_next_batch"))
    stage.start(FakeQuery(wide), first)
    stage.flow.announce_planned()
    stage.flow.progressed(first, NOW)
    stage.flow.progressed(second, NOW)
    [plan] = [event.plan_event for event in stage.sink.of_kind("PLAN") if event.plan_event]
    assert [(edge.output, edge.input, edge.output_field) for edge in plan.lineage.edges] == [(1, 0, None)]
    assert not plan.lineage.complete
    assert [entry.plan_digest for entry in stage.sink.entries()] == [plan.digest] * 2


def test_what_was_emitted_is_not_emitted_again_after_a_restart() -> None:
    stage = Stage()
    progress = parse_progress(recorded("kafka_next_batch"))
    for run_id in ("run-1", "run-2"):
        stage.start(FakeQuery(description(OUT)), progress, run_id=run_id)
        stage.flow.announce_planned()
        stage.flow.terminated(run_id, None, NOW)
    assert [event.kind for event in stage.sink.events] == [*("JOB", "DATASET", "DATASET", "PLAN"), *["RUN"] * 4]
    assert {event.run.run_id for event in stage.sink.runs() if event.run} == {"run-1", "run-2"}


def test_a_start_waits_for_its_plan_but_not_longer_than_for_the_first_batch() -> None:
    stage = Stage()
    progress = parse_progress(recorded("kafka_next_batch"))
    query = FakeQuery(description(OUT), planned=False)
    stage.start(query, progress)
    stage.flow.announce_planned()
    assert stage.flow.unannounced
    assert stage.sink.events == []
    assert query.described == 0
    stage.flow.progressed(progress, NOW)
    assert stage.sink.run_types("flights.enrich") == [START]
    assert query.described == 1
    stage.flow.announce_planned()
    assert query.described == 1


def test_a_query_that_was_found_before_its_start_is_observed_is_one_run() -> None:
    stage = Stage()
    progress = parse_progress(recorded("kafka_next_batch"))
    for _ in range(2):
        stage.start(FakeQuery(description(OUT)), progress)
        stage.flow.announce_planned()
    stage.flow.progressed(progress, NOW)
    stage.flow.terminated(progress.run_id, None, NOW)
    assert stage.sink.run_types("flights.enrich") == [START, COMPLETE]
    assert len(stage.sink.entries()) == 1


def test_a_query_that_was_gone_at_once_has_a_run_all_the_same() -> None:
    stage = Stage()
    progress = parse_progress(recorded("kafka_next_batch"))
    stage.start(None, progress)
    stage.flow.terminated(progress.run_id, RunError(message="no such topic"), NOW)
    assert stage.sink.run_types("flights.enrich") == [START, RunEventType.FAIL]
    error = stage.sink.last_run("flights.enrich").error
    assert error is not None
    assert error.message == "no such topic"


def test_an_idle_trigger_is_never_an_interval() -> None:
    stage = Stage()
    document = json.loads(recorded("kafka_next_batch"))
    document["durationMs"] = {"latestOffset": 2, "triggerExecution": 2}
    idle = parse_progress(json.dumps(document))
    stage.start(FakeQuery(description(OUT)), idle)
    stage.flow.progressed(idle, NOW)
    assert stage.sink.entries() == []


def test_progress_of_an_ended_run_is_ignored() -> None:
    stage = Stage()
    progress = parse_progress(recorded("kafka_next_batch"))
    stage.start(FakeQuery(description(OUT)), progress)
    stage.flow.terminated(progress.run_id, None, NOW)
    stage.flow.progressed(progress, NOW)
    assert stage.sink.entries() == []
    assert not stage.flow.knows(progress.run_id)


def inner(dataset: DatasetRef, rows: int | None = 3) -> Write:
    return Write(description=description(dataset), written=Counts(rows=rows))


def test_writes_inside_foreach_batch_belong_to_its_interval() -> None:
    stage = Stage()
    progress, batch = stage.called()
    assert stage.flow.wrote(batch, inner(COUNTS), NOW)
    stage.flow.progressed(progress, NOW)
    assert stage.sink.entries() == [], "more writes may still be on their way"
    assert stage.flow.wrote(batch, inner(OUT, rows=None), NOW)
    stage.flow.settle(stage.flow.pending, NOW)

    [entry] = stage.sink.entries("flights.fb")
    assert entry.outputs == (
        DatasetUse(dataset=COUNTS, rows=3, inputs=(IN,), schema_digest=DIGEST),
        DatasetUse(dataset=OUT, inputs=(IN,), schema_digest=DIGEST),
    )
    assert (entry.rows_in, entry.rows_out) == (30, None)
    [plan] = stage.sink.of_kind("PLAN")
    assert plan.plan_event is not None
    assert set(plan.plan_event.lineage.datasets) == {IN, OUT, COUNTS}
    assert entry.plan_digest == plan.plan_event.digest
    assert stage.sink.run_types("flights.fb") == [START, RUNNING]
    assert [use.dataset for use in stage.sink.last_run("flights.fb").outputs] == [COUNTS, OUT]
    assert stage.flow.pending == frozenset()


def test_an_output_of_foreach_batch_has_the_inputs_of_its_own_writes() -> None:
    codes, audit = DatasetRef("file", "/data/codes"), DatasetRef("file", "/data/audit")
    joined, counted, hidden = description(OUT), description(COUNTS), description(audit)
    joined = replace(joined, inputs=(*joined.inputs, PlanInput(dataset=codes, kind=SourceKind.FILE)))
    hidden = replace(hidden, lineage=replace_complete(hidden.lineage))
    stage = Stage()
    progress, batch = stage.called()
    for each in (joined, counted, counted, hidden):
        stage.flow.wrote(batch, Write(description=each, written=Counts()), NOW)
    stage.settled(progress)

    # What code in between may have made of anything is made from everything.
    made_from = {OUT: (codes, IN), COUNTS: (IN,), audit: None}
    [entry] = stage.sink.entries("flights.fb")
    assert {use.dataset: use.inputs for use in entry.outputs} == made_from
    run = stage.sink.last_run("flights.fb")
    assert {use.dataset: use.inputs for use in run.outputs} == made_from
    assert {use.dataset for use in run.inputs} == {codes, IN}


def replace_complete(lineage: ColumnLineage) -> ColumnLineage:
    return msgspec.structs.replace(lineage, complete=False, incomplete_reason="rows that the program handed over")


def test_running_is_emitted_once_for_new_datasets() -> None:
    stage = Stage()
    for number in range(100):
        progress, batch = stage.called(number)
        stage.flow.wrote(batch, inner(COUNTS), NOW)
        stage.settled(progress)
    assert stage.sink.run_types("flights.fb") == [START, RUNNING]
    assert len(stage.sink.entries()) == 100
    assert len(stage.sink.of_kind("PLAN")) == 1
    [run] = stage.flow._runs.values()
    assert max(len(run.batches.emitted), len(run.batches.writes), len(run.batches.called)) <= 16, "memory is bounded"


def test_an_interval_waits_no_longer_than_its_time() -> None:
    stage = Stage()
    progress, _ = stage.called()
    stage.flow.progressed(progress, NOW)
    stage.now += 4.9
    stage.flow.settle_overdue(NOW)
    assert stage.sink.entries() == []
    stage.now += 0.2
    stage.flow.settle_overdue(NOW)
    assert [entry.outputs for entry in stage.sink.entries()] == [()]


def test_a_late_write_is_an_addition_to_the_same_fact() -> None:
    stage = Stage()
    progress, batch = stage.called()
    stage.settled(progress)
    late = NOW + timedelta(minutes=1)
    stage.flow.wrote(batch, inner(COUNTS), late)
    early, again = stage.sink.of_kind("INTERVAL")
    assert early.event_id == again.event_id
    assert early.event_time < again.event_time == late
    reported = [event.interval_event.reason for event in (early, again) if event.interval_event]
    assert reported == [EmissionReason.CHECKPOINT, EmissionReason.SINK_COMMIT]
    assert [use.dataset for use in stage.sink.entries()[1].outputs] == [COUNTS]


def test_an_end_emits_what_was_pending_first() -> None:
    stage = Stage()
    progress, _ = stage.called()
    stage.flow.progressed(progress, NOW)
    stage.flow.terminated(progress.run_id, None, NOW)
    stage.flow.settle(stage.flow.pending, NOW)
    assert [event.kind for event in stage.sink.events][-2:] == ["INTERVAL", "RUN"]
    assert stage.flow.pending == frozenset()


def test_an_end_waits_for_the_writes_of_the_last_batch_but_not_longer_than_its_time() -> None:
    stage = Stage()
    progress, batch = stage.called()
    batch = replace(batch, run_id=progress.run_id)
    stage.flow.called(batch)
    stage.flow.progressed(progress, NOW)
    stage.flow.terminated(progress.run_id, None, NOW)
    assert stage.flow.wrote(batch, inner(COUNTS), NOW), "it is still the batch's"
    stage.now += 4.9
    stage.flow.settle_overdue(NOW)
    assert stage.sink.run_types("flights.fb") == [START]
    stage.now += 0.2
    stage.flow.settle_overdue(NOW)
    assert [use.dataset for use in stage.sink.entries()[0].outputs] == [COUNTS]
    assert stage.sink.run_types("flights.fb") == [START, RUNNING, COMPLETE]
    assert not stage.flow.knows(progress.run_id)


def test_a_late_write_of_a_batch_that_failed_is_not_its_retrys() -> None:
    stage = Stage()
    progress = parse_progress(recorded("foreach_batch"))
    for run_id in ("run-1", "run-2"):
        stage.start(FakeQuery(description()), progress, "fb", run_id)
        stage.flow.called(MicroBatch(progress.query_id, progress.batch_id, run_id))
    stage.flow.terminated("run-1", RunError(message="not my day"), NOW)
    assert stage.flow.wrote(MicroBatch(progress.query_id, progress.batch_id, "run-1"), inner(COUNTS), NOW)
    stage.flow.wrote(MicroBatch(progress.query_id, progress.batch_id, "run-2"), inner(COUNTS), NOW)
    stage.flow.progressed(replace(progress, run_id="run-2"), NOW)
    stage.flow.settle(stage.flow.pending, NOW)
    [entry] = stage.sink.entries("flights.fb")
    own = DatasetUse(dataset=COUNTS, rows=3, inputs=(IN,), schema_digest=DIGEST)
    assert entry.outputs == (own,), "its own alone"
    failed = next(body for event in stage.sink.runs("flights.fb") if (body := event.run_event) and body.error)
    assert json.loads(failed.run_facets["headwater_uncommitted"])["batches"] == [
        {"batchId": progress.batch_id, "outputs": [{"namespace": "file", "name": "/data/counts", "rows": 3}]}
    ]
    assert [use.dataset for use in failed.outputs] == [COUNTS]


def test_a_batch_without_writes_is_no_other_version() -> None:
    stage = Stage()
    for number in range(4):
        progress, batch = stage.called(number)
        if number % 2:
            stage.flow.wrote(batch, inner(COUNTS), NOW)
        stage.settled(progress)
    reported = [event.interval_event for event in stage.sink.of_kind("INTERVAL") if event.interval_event]
    assert [bool(event.entries[0].plan_digest) for event in reported] == [False, True, False, True]
    assert {event.reason for event in reported} == {EmissionReason.CHECKPOINT}


def test_a_write_of_an_unknown_query_is_somebody_elses() -> None:
    assert not Stage().flow.wrote(MicroBatch("q", 0), inner(COUNTS), NOW)


def test_an_application_that_ends_aborts_what_still_runs() -> None:
    stage = Stage()
    progress = parse_progress(recorded("kafka_next_batch"))
    stage.start(FakeQuery(description(OUT)), progress)
    stage.flow.abort_all(None, NOW)
    assert stage.sink.run_types("flights.enrich") == [START, RunEventType.ABORT]


def test_watermarks_and_the_files_of_a_file_sink() -> None:
    stage = Stage()
    progress = parse_progress(recorded("windows_with_watermark"))
    stage.files.texts |= {
        "file:/cp/commits/2": 'v1\n{"nextBatchWatermarkMs":1704067239000}',
        "file:/data/win/_spark_metadata/2": 'v1\n{"path":"file:///data/win/a","size":369,"action":"add"}',
    }
    windows = DatasetRef("file", "/data/win")
    plan = PlanDescription(
        inputs=description().inputs,
        outputs=(PlanOutput(dataset=windows, kind=SourceKind.FILE),),
        lineage=ColumnLineage(),
    )
    stage.start(FakeQuery(plan, sink=progress.sink), progress, name=None)
    stage.flow.progressed(progress, NOW)
    [entry] = stage.sink.entries("flights.win")
    assert entry.watermark_before == datetime(2024, 1, 1, 0, 0, 9, tzinfo=UTC)
    assert entry.watermark_after == datetime(2024, 1, 1, 0, 0, 39, tzinfo=UTC)
    [use] = entry.outputs
    assert (files_of(use.position).paths, use.bytes, use.files) == (("file:///data/win/a",), 369, 1)
    assert (entry.state_rows, entry.rows_dropped_late) == (5, 0)
    stage.flow.terminated(progress.run_id, None, NOW)
    start, end = (body(event).run_facets for event in stage.sink.runs("flights.win"))
    assert STATE_FACET not in start
    [operator] = json.loads(end[STATE_FACET])["operators"]
    assert (operator["operatorName"], operator["numRowsTotal"]) == ("stateStoreSave", 5)
