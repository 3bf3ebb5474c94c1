"""Rebuilt intervals equal the observed ones: the same positions, and so the same event id."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from headwater_producers.spark.common.errors import CheckpointError
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.plan import PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.interval import MicroBatchFacts, SinkCommits, interval_entry, parse_progress
from headwater_producers.spark.streaming.rebuild import QueryIdentity, Rebuilder, interval_events
from headwater_schemas.codec import encode
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    EmissionReason,
    FileSet,
    IntervalEntry,
    JobRef,
    OffsetRange,
    Provenance,
)
from headwater_schemas.identity import interval_identity
from support.capture import recorded
from support.checkpoints import QUERY, HandWritten, kafka_checkpoint

IN = PlanInput(dataset=DatasetRef("kafka://here", "in"), kind=SourceKind.KAFKA, source_index=0)
FILES = PlanInput(dataset=DatasetRef("file", "/in"), kind=SourceKind.FILE, source_index=0)
NOW = datetime(2026, 11, 21, tzinfo=UTC)
WHOSE = QueryIdentity(tenant="default", job=JobRef("default", "app.copy"), query_id=QUERY, producer="urn:test")


def rebuilder(made: HandWritten, *inputs: PlanInput, sources: int | None = 1) -> Rebuilder:
    return Rebuilder(QueryLog(made.location, made.files), made.files, inputs=inputs, sources=sources)


def ranges(entry: IntervalEntry) -> tuple[OffsetRange, ...]:
    [use] = entry.inputs
    assert use.position is not None
    assert use.position.kafka is not None
    return use.position.kafka.ranges


def files(entry: IntervalEntry) -> FileSet:
    [use] = entry.inputs
    assert use.position is not None
    assert use.position.files is not None
    return use.position.files


@pytest.mark.parametrize("name", ["kafka_first_batch", "kafka_next_batch", "kafka_new_partition"])
def test_a_recorded_progress_and_its_checkpoint_are_one_fact(name: str) -> None:
    progress = parse_progress(recorded(name))
    [source] = progress.sources
    made = HandWritten()
    made.first(0, {topic: dict.fromkeys(parts, 0) for topic, parts in source.end.items()})
    if source.start is not None:
        made.run(progress.batch_id - 1, source.start)
    made.run(progress.batch_id, source.end)

    observed = interval_entry(progress, [IN], MicroBatchFacts(), checkpoint=TextFolder(made.location, made.files))
    rebuilt = rebuilder(made, IN).entry(progress.batch_id)
    assert [(use.dataset, use.position, use.certainty) for use in rebuilt.inputs] == [
        (use.dataset, use.position, use.certainty) for use in observed.inputs
    ]
    assert interval_identity([rebuilt]) == interval_identity([observed])


def test_each_begins_where_the_one_before_ended() -> None:
    made = rebuilder(kafka_checkpoint(3), IN)
    entries = [made.entry(batch) for batch in range(3)]
    assert [ranges(entry) for entry in entries] == [
        (OffsetRange(0, 5, 15),),
        (OffsetRange(0, 15, 25),),
        (OffsetRange(0, 25, 35),),
    ]
    assert {use.certainty for entry in entries for use in entry.inputs} == {Certainty.EXACT}


def test_what_a_function_may_have_written_is_emitted_only_where_the_sinks_log_has_it() -> None:
    made = kafka_checkpoint(2)
    made.files.texts["/out/_spark_metadata/1"] = 'v1\n{"path":"file:///out/a","size":369,"action":"add"}'
    output = PlanOutput(dataset=DatasetRef("file", "/out"), kind=SourceKind.FILE)
    log = QueryLog(made.location, made.files)
    commits = SinkCommits("FileSink[/out]", QUERY, made.files)
    for proven, emitted in ((True, [0, 1]), (False, [1, 1])):
        rebuilt = Rebuilder(log, made.files, inputs=[IN], sources=1, outputs=[output], commits=commits, proven=proven)
        assert [len(rebuilt.entry(batch).outputs) for batch in range(2)] == emitted


def test_what_the_checkpoint_does_not_know_is_not_emitted() -> None:
    made = HandWritten()
    made.run(0, {"in": {"0": 5}}, watermark_ms=0)
    made.run(1, {"in": {"0": 5}}, watermark_ms=9_000)
    entry = rebuilder(made, IN).entry(1)
    assert entry.watermark_before == entry.watermark_after == datetime(1970, 1, 1, 0, 0, 9, tzinfo=UTC)
    assert entry.processing_time == datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC)
    unknown = ("duration_ms", "rows_in", "rows_out", "rows_dropped_late", "state_rows", "state_bytes", "plan_digest")
    assert {getattr(entry, name) for name in unknown} == {None}


def test_the_oldest_one_has_lost_its_beginning_and_keeps_its_id() -> None:
    made = kafka_checkpoint(8)
    whole = rebuilder(made, IN).entry(4)
    made.purge(4)
    rest = rebuilder(made, IN).entry(4)
    assert ranges(rest) == (OffsetRange(0, 5, 55),), "from where the query began: that contains the truth"
    assert rest.inputs[0].certainty is Certainty.UPPER_BOUND
    assert interval_identity([rest]) == interval_identity([whole])
    assert rebuilder(made, IN).entry(5).inputs[0].certainty is Certainty.EXACT


def test_files_are_those_of_the_batch() -> None:
    made = HandWritten()
    for number in range(3):
        line = json.dumps({"path": f"file:///in/{number}", "timestamp": 1, "batchId": number})
        made.files.texts[f"file:/cp/sources/0/{number}"] = f"v1\n{line}"
        made.run(number, {"logOffset": number})
    made.run(3, {"logOffset": 2}, watermark_ms=5)
    assert [files(rebuilder(made, FILES).entry(batch)).paths for batch in range(4)] == [
        ("file:///in/0",),
        ("file:///in/1",),
        ("file:///in/2",),
        (),
    ]
    made.purge(2)
    with pytest.raises(CheckpointError, match="its files are unknown"):
        rebuilder(made, FILES).entry(2)
    assert files(rebuilder(made, FILES).entry(3)).count == 0


def test_several_sources_one_of_them_silent() -> None:
    other = PlanInput(dataset=DatasetRef("memory://spark/app", "rate"), kind=SourceKind.GENERATED, source_index=1)
    made = HandWritten()
    made.first(0, {"in": {"0": 0}})
    made.run(0, {"in": {"0": 4}}, None)
    made.run(1, {"in": {"0": 4}}, 7)
    first, second = (rebuilder(made, IN, other, sources=2).entry(batch) for batch in (0, 1))
    assert [use.position is None for use in first.inputs] == [False, True]
    [opaque] = [use.position.opaque for use in second.inputs if use.position and use.position.opaque]
    assert (opaque.from_json, opaque.to_json) == (None, "7")


def test_a_source_that_is_in_the_plan_twice_is_one() -> None:
    made = HandWritten()
    made.first(0, {"in": {"0": 0}})
    made.run(0, {"in": {"0": 4}}, {"in": {"0": 4}})
    assert ranges(rebuilder(made, IN).entry(0)) == (OffsetRange(0, 0, 4),)
    made.run(1, {"in": {"0": 4}}, {"other": {"0": 4}})
    with pytest.raises(CheckpointError, match="offsets of 2 sources, the query 1"):
        rebuilder(made, IN).entry(1)


def test_the_same_reconstruction_is_the_same_event() -> None:
    made = rebuilder(kafka_checkpoint(5), IN)
    entries = [made.entry(batch) for batch in (0, 1, 3, 4)]
    together = list(interval_events(WHOSE, entries, per_event=50, now=NOW))
    batches = [[entry.batch_id for entry in e.interval_event.entries] for e in together if e.interval_event]
    assert batches == [[0, 1], [3, 4]], "consecutive ones alone share an event"
    assert {e.interval_event.provenance for e in together if e.interval_event} == {Provenance.RECONCILED}
    assert all(event.run is None for event in together)
    later = interval_events(WHOSE, entries, per_event=50, now=datetime(2030, 1, 1, tzinfo=UTC))
    assert [encode(event) for event in later] == [encode(event) for event in together]
    single = list(interval_events(WHOSE, entries, per_event=1, now=NOW))
    assert len({event.event_id for event in single}) == 4
    assert single[0].event_time == entries[0].processing_time


def test_an_event_is_divided_where_it_would_be_too_large() -> None:
    made = HandWritten()
    topic = {"in": {str(partition): 10**9 + partition for partition in range(2_000)}}
    for batch in range(20):
        made.run(batch, topic)
    made.first(0, topic)
    build = rebuilder(made, IN)
    events = list(interval_events(WHOSE, [build.entry(batch) for batch in range(20)], per_event=50, now=NOW))
    assert len(events) > 1
    assert all(len(encode(event)) <= 256 * 1024 for event in events)
    emitted = [entry.batch_id for event in events if event.interval_event for entry in event.interval_event.entries]
    assert emitted == list(range(20))


def test_a_source_logged_twice_beside_another_keeps_its_place() -> None:
    other = PlanInput(dataset=DatasetRef("memory://spark/app", "rate"), kind=SourceKind.GENERATED, source_index=1)
    made = HandWritten()
    made.run(0, {"in": {"0": 4}}, {"in": {"0": 4}}, 7)
    kafka, opaque = rebuilder(made, IN, other, sources=2).entry(0).inputs
    assert kafka.dataset == IN.dataset
    assert opaque.position is not None
    assert opaque.position.opaque is not None
    assert opaque.position.opaque.to_json == "7"


def test_outputs_are_reported_unless_they_need_proof() -> None:
    made = kafka_checkpoint(1)
    output = PlanOutput(dataset=DatasetRef("kafka://here", "out"), kind=SourceKind.KAFKA)
    rebuilt = Rebuilder(QueryLog(made.location, made.files), made.files, inputs=[IN], sources=1, outputs=[output])
    assert [use.dataset for use in rebuilt.entry(0).outputs] == [DatasetRef("kafka://here", "out")]


def test_in_order_each_log_is_read_once() -> None:
    made = kafka_checkpoint(4)
    rebuilt = rebuilder(made, IN)
    made.files.asked.clear()
    for batch in range(4):
        rebuilt.entry(batch)
    read = [path for path in made.files.asked if path.startswith("file:/cp/offsets/")]
    assert read == [f"file:/cp/offsets/{batch}" for batch in range(4)]
    assert list(rebuilt._read) == [2, 3], "what the next begins with, and no more than that"


def test_what_lost_its_beginning_is_an_upper_bound_where_offsets_are_known() -> None:
    other = PlanInput(dataset=DatasetRef("memory://spark/app", "rate"), kind=SourceKind.GENERATED, source_index=1)
    folder = PlanInput(dataset=DatasetRef("file", "/in"), kind=SourceKind.FILE, source_index=2)
    made = HandWritten()
    made.first(0, {"in": {"0": 0}})
    made.files.texts["file:/cp/sources/2/0"] = 'v1\n{"path": "file:///in/0", "timestamp": 1, "batchId": 0}'
    for batch in range(4):
        made.run(batch, {"in": {"0": 4 + batch}}, None, {"logOffset": 0})
    whole = rebuilder(made, IN, other, folder, sources=3).entry(3)
    del made.files.texts["file:/cp/offsets/2"]
    rest = rebuilder(made, IN, other, folder, sources=3).entry(3)
    certainties = [{use.dataset: use.certainty for use in entry.inputs} for entry in (whole, rest)]
    unknown = {other.dataset: Certainty.UNKNOWN, folder.dataset: Certainty.EXACT}
    assert certainties == [unknown | {IN.dataset: Certainty.EXACT}, unknown | {IN.dataset: Certainty.UPPER_BOUND}]


def test_an_event_has_the_time_of_its_last_micro_batch_if_that_is_known() -> None:
    made = rebuilder(kafka_checkpoint(3), IN)
    entries = [made.entry(batch) for batch in range(3)]
    [together] = interval_events(WHOSE, entries, per_event=50, now=NOW)
    assert together.event_time == entries[2].processing_time
    [timeless] = interval_events(
        WHOSE, [msgspec.structs.replace(entries[0], processing_time=None)], per_event=50, now=NOW
    )
    assert timeless.event_time == NOW
    assert [event.event_time for event in interval_events(WHOSE, entries, per_event=2, now=NOW)] == [
        entries[1].processing_time,
        entries[2].processing_time,
    ]


def test_names_of_a_query_are_reported_without_secrets() -> None:
    entry = rebuilder(kafka_checkpoint(1), IN).entry(0)
    secret = "jdbc:postgresql://bob:hunter2@db/x"
    named = replace(WHOSE, query_name=f"copy {secret}", checkpoint_location=secret)
    shown = "jdbc:postgresql://[redacted]@db/x"
    for query, names in ((named, (f"copy {shown}", shown)), (WHOSE, (None, None))):
        [event] = interval_events(query, [entry], per_event=1, now=NOW)
        body = event.interval_event
        assert body is not None
        assert (body.query_name, body.checkpoint_location) == names
        assert (event.tenant, event.producer, event.job, body.query_id) == (
            "default",
            "urn:test",
            JobRef("default", "app.copy"),
            QUERY,
        )
        assert body.reason is EmissionReason.CHECKPOINT


def test_a_micro_batch_of_other_sources_than_the_one_before_it_is_refused() -> None:
    made = HandWritten()
    made.run(0, {"in": {"0": 4}})
    made.run(1, {"in": {"0": 4}}, 7)
    message = "micro-batch 1 and the one before it have different numbers of sources"
    with pytest.raises(CheckpointError, match=message):
        rebuilder(made, IN, sources=None).entry(1)
