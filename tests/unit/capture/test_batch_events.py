from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headwater_producers.spark.events.batch import (
    NOTHING_WRITTEN,
    UNKNOWN_OUTPUTS,
    BatchRun,
    batch_events,
    batch_unreadable,
    batch_wrote_nothing,
)
from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    LifecycleChange,
    PublicationState,
    RunError,
    RunEventType,
    SchemaDefinition,
    SchemaField,
)
from headwater_schemas.identity import schema_digest
from support.capture import RecordingSink, event_context

BEGIN = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
END = BEGIN + timedelta(seconds=3)
TOPIC, REPORT = DatasetRef("kafka://b:1", "flights"), DatasetRef("file", "/data/report")
SCHEMA = SchemaDefinition((SchemaField(path="day", type="date", nullable=False),))


def plan(lifecycle: LifecycleChange | None = None) -> PlanDescription:
    return PlanDescription(
        inputs=(PlanInput(dataset=TOPIC, kind=SourceKind.KAFKA, type="TOPIC", schema=SCHEMA),),
        outputs=(PlanOutput(dataset=REPORT, kind=SourceKind.FILE, schema=SCHEMA, lifecycle=lifecycle),),
        lineage=ColumnLineage(
            datasets=(REPORT, TOPIC),
            edges=(ColumnEdge(output=0, output_field="day", input=1, input_field="value"),),
        ),
    )


def emitted(*runs: BatchRun) -> RecordingSink:
    sink, dedup = RecordingSink(), DedupCache()
    for run in runs:
        for event in batch_events(event_context(), run, dedup):
            sink.publish(event)
    return sink


def run(error: RunError | None = None, lifecycle: LifecycleChange | None = None) -> BatchRun:
    write = Write(description=plan(lifecycle), written=Counts(rows=3, bytes=30, files=1))
    return BatchRun(write=write, started_at=BEGIN, ended_at=END, error=error)


def test_a_write_is_a_run() -> None:
    sink = emitted(run())
    assert [event.kind for event in sink.events] == ["JOB", "PLAN", "DATASET", "DATASET", "RUN", "RUN"]
    start, end = sink.runs("flights.report")
    assert start.run == end.run
    assert (start.event_time, end.event_time) == (BEGIN, END)
    assert start.run_event is not None
    assert end.run_event is not None
    assert (start.run_event.type, end.run_event.type) == (RunEventType.START, RunEventType.COMPLETE)
    reported = [event.dataset_event for event in sink.of_kind("DATASET")]
    [schema] = [each.schema for each in reported if each is not None and each.dataset == REPORT]
    assert schema is not None
    written = DatasetUse(dataset=REPORT, rows=3, bytes=30, files=1, schema_digest=schema_digest(schema))
    assert end.run_event.outputs == (written,)
    assert end.run_event.inputs == (DatasetUse(dataset=TOPIC),)
    assert end.run_event.publication is PublicationState.PUBLISHED
    assert end.run_event.parent is not None
    assert end.run_event.parent.run_id == event_context().app_run_id
    plan_event = sink.of_kind("PLAN")[0].plan_event
    assert plan_event is not None
    assert end.run_event.plan_digest == plan_event.digest


def test_each_write_is_a_run_of_its_own_and_what_is_known_is_reported_once() -> None:
    sink = emitted(run(), run())
    assert len({event.run.run_id for event in sink.runs() if event.run}) == 2
    assert [event.kind for event in sink.events].count("PLAN") == 1
    assert [event.kind for event in sink.events].count("DATASET") == 2
    assert [event.kind for event in sink.events].count("JOB") == 1


def test_a_failed_write_says_why_and_claims_nothing() -> None:
    sink = emitted(run(RunError(type="x.Y", message="no space")))
    end = sink.last_run("flights.report")
    assert end.type is RunEventType.FAIL
    assert end.error is not None
    assert end.error.message == "no space"
    assert end.publication is PublicationState.UNKNOWN
    assert sink.of_kind("DATASET") == [], "nothing may have been made"


def test_a_lifecycle_change_is_emitted_each_time_it_happens() -> None:
    sink = emitted(run(lifecycle=LifecycleChange.OVERWRITE), run(lifecycle=LifecycleChange.OVERWRITE))
    changes = [event for event in sink.of_kind("DATASET") if event.dataset_event and event.dataset_event.lifecycle]
    assert len(changes) == 2


def test_a_readers_view_of_a_topic_is_no_schema_of_it() -> None:
    topic, report = dataset_bodies(plan())
    assert (topic.dataset, topic.schema) == (TOPIC, None)
    assert report.schema is not None


def test_nullability_says_nothing_of_a_file() -> None:
    _, report = dataset_bodies(plan())
    assert report.schema == SchemaDefinition((SchemaField(path="day", type="date"),))


def test_a_dataset_that_is_read_and_written_is_emitted_as_written() -> None:
    both = PlanDescription(
        inputs=(PlanInput(dataset=REPORT, kind=SourceKind.FILE, schema=SchemaDefinition(())),),
        outputs=plan().outputs,
        lineage=ColumnLineage(),
    )
    [body] = dataset_bodies(both)
    assert body.schema is not None
    assert body.schema.fields


def test_a_sink_that_keeps_nothing_has_no_schema() -> None:
    """Or two queries of an application would change each other's."""
    for name, kept in (("console", False), ("noop", False), ("memory", True)):
        dataset = DatasetRef("memory://spark/app", name)
        output = PlanOutput(dataset=dataset, kind=SourceKind.GENERATED, schema=SCHEMA, format=name)
        bodies = list(dataset_bodies(PlanDescription(inputs=(), outputs=(output,), lineage=ColumnLineage())))
        assert any(body.schema for body in bodies) is kept, name


def test_an_announced_write_whose_rows_another_run_reports_names_that_run() -> None:
    announced = run()
    end = batch_wrote_nothing(event_context(), announced, "the write inside the command is reported", "inner").run_event
    assert end is not None
    assert (end.type, end.publication) == (RunEventType.COMPLETE, PublicationState.UNPUBLISHED)
    assert (end.inputs, end.outputs) == ((), ())
    facet = json.loads(end.run_facets[NOTHING_WRITTEN])
    assert (facet["reason"], facet["runId"]) == ("the write inside the command is reported", "inner")


def test_an_announced_write_that_cannot_be_read_at_its_end_has_unknown_outputs() -> None:
    end = batch_unreadable(event_context(), run()).run_event
    assert end is not None
    assert (end.type, end.publication) == (RunEventType.COMPLETE, PublicationState.UNKNOWN)
    assert json.loads(end.run_facets[UNKNOWN_OUTPUTS])["reason"] == "its plan couldn't be read at its end"
    failed = batch_unreadable(event_context(), replace(run(), error=RunError(message="no"))).run_event
    assert failed is not None
    assert (failed.type, failed.run_facets) == (RunEventType.FAIL, {})
