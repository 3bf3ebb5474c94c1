from __future__ import annotations

import json
from typing import Any

import pytest

from headwater_producers.spark.connectors.connector_questions import SourceOffsets
from headwater_producers.spark.connectors.kafka.connector import Kafka
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.plan import PlanInput, SourceKind
from headwater_producers.spark.streaming.interval import (
    MicroBatchFacts,
    QueryProgress,
    SinkCommits,
    interval_entry,
    micro_batch_facts,
    parse_progress,
    source_rows,
)
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, OffsetRange
from support.capture import DictFiles, NoTopics, files_of, kafka_of, recorded

CLUSTER = "kafka://broker:9092"


def topic(name: str, source: int | None = 0) -> PlanInput:
    return PlanInput(dataset=DatasetRef(CLUSTER, name), kind=SourceKind.KAFKA, source_index=source)


def changed(name: str, **source: Any) -> QueryProgress:
    document = json.loads(recorded(name))
    document["sources"][0].update(source)
    return parse_progress(json.dumps(document))


def test_a_recorded_micro_batch() -> None:
    entry = interval_entry(
        parse_progress(recorded("kafka_next_batch")), [topic("in")], MicroBatchFacts(plan_digest="d" * 32)
    )
    [use] = entry.inputs
    assert kafka_of(use.position).ranges == (OffsetRange(0, 8, 24), OffsetRange(1, 12, 26))
    assert (use.certainty, use.rows) == (Certainty.EXACT, 30)
    assert (entry.batch_id, entry.rows_in, entry.rows_out, entry.plan_digest) == (1, 30, 30, "d" * 32)


SKIPPED: list[tuple[int, int, int | None]] = [
    # The sink had it before the trigger began: it was written by a driver that was killed, and is skipped now.
    (0, 1, None),
    # A micro-batch without rows writes, too: what a watermark has closed, or an empty file.
    (0, 0, 0),
    (0, -900, 0),
    (30, 1, 30),
]


def test_rows_of_a_micro_batch_that_the_sink_skips_are_unknown(subtests: pytest.Subtests) -> None:
    for rows, before_ms, rows_in in SKIPPED:
        with subtests.test(rows=rows, before_ms=before_ms):
            progress = changed("kafka_next_batch", numInputRows=rows)
            written = int(progress.started_at.timestamp() * 1000) - before_ms
            line = json.dumps({"path": "/out/a", "size": 1, "modificationTime": written, "action": "add"})
            files = DictFiles({f"/out/_spark_metadata/{progress.batch_id}": f"v1\n{line}"})
            txn = {"txn": {"appId": "q", "version": progress.batch_id}}
            actions = [txn, {"commitInfo": {"timestamp": written, "operation": "STREAMING UPDATE"}}]
            delta = DictFiles(
                {f"/out/_delta_log/{0:020d}.json": "\n".join(json.dumps(a, separators=(",", ":")) for a in actions)}
            )
            for commits in (SinkCommits("FileSink[/out]", "q", files), SinkCommits("DeltaSink[/out]", "q", delta)):
                facts = micro_batch_facts(progress, None, None, (), None, commits, ObservedTopics(NoTopics()))
                entry = interval_entry(progress, [topic("in")], facts)
                assert (entry.rows_in, entry.inputs[0].rows) == (rows_in, rows_in)


def test_a_first_batch_takes_its_start_from_the_checkpoint() -> None:
    progress = parse_progress(recorded("kafka_first_batch"))
    logs = TextFolder("/cp", DictFiles({"/cp/sources/0/0": 'v1\n{"in":{"0":2,"1":0}}'}))
    entry = interval_entry(progress, [topic("in")], MicroBatchFacts(), checkpoint=logs)
    [use] = entry.inputs
    assert kafka_of(use.position).ranges == (OffsetRange(0, 2, 8), OffsetRange(1, 0, 12))
    assert use.certainty is Certainty.EXACT


def test_a_new_partition_makes_the_input_inferred() -> None:
    entry = interval_entry(parse_progress(recorded("kafka_new_partition")), [topic("in")], MicroBatchFacts())
    [use] = entry.inputs
    assert use.certainty is Certainty.INFERRED
    assert kafka_of(use.position).ranges[2] == OffsetRange(2, 0, 0)


def test_a_table_that_is_joined_in_is_no_input_of_the_micro_batch() -> None:
    """Facts that the checkpoint doesn't have must not be part of the interval's identity."""
    airlines = PlanInput(dataset=DatasetRef("file", "/data/airlines"), kind=SourceKind.FILE)
    progress = parse_progress(recorded("kafka_next_batch"))
    with_table = interval_entry(progress, [airlines, topic("in")], MicroBatchFacts())
    assert with_table == interval_entry(progress, [topic("in")], MicroBatchFacts())


def test_a_subscribed_pattern_meets_new_topics() -> None:
    progress = changed("kafka_next_batch", startOffset={"a": {"0": 1}}, endOffset={"a": {"0": 2}, "b": {"0": 3}})
    entry = interval_entry(progress, [topic("a")], MicroBatchFacts())
    assert [use.dataset for use in entry.inputs] == [DatasetRef(CLUSTER, "a"), DatasetRef(CLUSTER, "b")]
    assert [use.certainty for use in entry.inputs] == [Certainty.EXACT, Certainty.INFERRED]
    assert [use.rows for use in entry.inputs] == [None, None], "Spark counts for the source, not for its topics"


def test_a_source_of_a_sort_of_its_own_keeps_its_offsets_verbatim() -> None:
    progress = changed("kafka_next_batch", startOffset={"at": 4}, endOffset={"at": 7, "and": [1]})
    rate = PlanInput(dataset=DatasetRef("memory://x", "rate"), kind=SourceKind.GENERATED, source_index=0)
    [use] = interval_entry(progress, [rate], MicroBatchFacts()).inputs
    assert use.position is not None
    assert use.position.opaque is not None
    assert use.position.opaque.from_json == '{"at":4}'
    assert use.position.opaque.to_json == '{"and":[1],"at":7}'


def test_offsets_like_kafkas_make_no_topic_of_another_source() -> None:
    shelf = PlanInput(dataset=DatasetRef("memory://x", "shelf"), kind=SourceKind.GENERATED, source_index=0)
    [use] = interval_entry(parse_progress(recorded("kafka_next_batch")), [shelf], MicroBatchFacts()).inputs
    assert use.dataset == shelf.dataset
    assert use.position is not None
    assert use.position.opaque is not None


@pytest.mark.parametrize(
    ("start", "begins", "first", "certainty"),
    [
        (None, False, False, Certainty.UPPER_BOUND),  # `startingVersion` may have left something out
        (None, True, False, Certainty.EXACT),
        (None, False, True, Certainty.EXACT),  # still within the table's first snapshot
        (2, False, False, Certainty.EXACT),
    ],
)
def test_a_tables_beginning(start: int | None, *, begins: bool, first: bool, certainty: Certainty) -> None:
    def offset(version: int) -> dict[str, Any]:
        return {
            "sourceVersion": 1,
            "reservoirId": "d",
            "reservoirVersion": version,
            "index": 3 if first else -1,
            "isStartingVersion": first,
        }

    progress = changed("kafka_next_batch", startOffset=None if start is None else offset(start), endOffset=offset(5))
    table = PlanInput(dataset=DatasetRef("file", "/t"), kind=SourceKind.TABLE, source_index=0, from_beginning=begins)
    [use] = interval_entry(progress, [table], MicroBatchFacts()).inputs
    assert use.position is not None
    assert use.position.table_range is not None
    assert use.certainty is certainty


def test_a_source_without_any_offset_claims_nothing() -> None:
    progress = changed("kafka_first_batch", endOffset=None)
    [use] = interval_entry(progress, [topic("in")], MicroBatchFacts()).inputs
    assert use == DatasetUse(dataset=DatasetRef(CLUSTER, "in"), rows=20)


def test_files_of_a_file_source() -> None:
    progress = changed(
        "kafka_next_batch",
        startOffset={"logOffset": 0},
        endOffset={"logOffset": 1},
        description="FileStreamSource[file:/in]",
    )
    lines = [json.dumps({"path": f"file:///in/{name}", "timestamp": 1, "batchId": 1}) for name in "ab"]
    logs = TextFolder("/cp", DictFiles({"/cp/sources/0/1": "\n".join(["v1", *lines])}))
    source = PlanInput(dataset=DatasetRef("file", "/in"), kind=SourceKind.FILE, source_index=0)
    [use] = interval_entry(progress, [source], MicroBatchFacts(), checkpoint=logs).inputs
    assert files_of(use.position).paths == ("file:///in/a", "file:///in/b")
    assert (use.files, use.certainty) == (2, Certainty.EXACT)


def test_two_sources_of_one_topic_are_one_use_where_they_agree() -> None:
    document = json.loads(recorded("kafka_next_batch"))
    document["sources"] *= 2
    same = interval_entry(parse_progress(json.dumps(document)), [topic("in", 0), topic("in", 1)], MicroBatchFacts())
    assert len(same.inputs) == 1
    document["sources"][1] = {**document["sources"][1], "endOffset": {"in": {"0": 9, "1": 12}}}
    differ = interval_entry(parse_progress(json.dumps(document)), [topic("in", 0), topic("in", 1)], MicroBatchFacts())
    assert len(differ.inputs) == 2


COUNTED_ROWS: list[tuple[int | None, bool, int | None]] = [
    (30, False, 30),
    (29, True, 29),  # a transaction marker or a compacted record among the offsets
    (60, True, 30),  # two writes inside foreachBatch
    (60, False, 30),  # a stream that the query uses twice
    (45, True, None),  # one and a half times: isn't known
    (None, True, None),
]


def test_rows_are_counted_once(subtests: pytest.Subtests) -> None:
    for rows, read_often, expected in COUNTED_ROWS:
        with subtests.test(rows=rows, read_often=read_often):
            ends: dict[str, Any] = {"start": {"in": {"0": 8, "1": 12}}, "end": {"in": {"0": 24, "1": 26}}}
            ranges = Kafka().read_range(SourceOffsets(**ends, kind=SourceKind.KAFKA))
            assert source_rows(ranges, rows, read_often=read_often) == expected


def test_rows_of_a_source_without_offsets_are_not_known_when_it_may_be_read_often() -> None:
    assert source_rows(None, 10, read_often=True) is None
    assert source_rows(None, 10, read_often=False) == 10
