from __future__ import annotations

import json
from datetime import UTC, datetime

from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.streaming.checkpoint import StreamCheckpoint
from headwater_producers.spark.streaming.interval import QueryProgress, parse_progress, source_offsets
from headwater_schemas.events import Position, TableRange
from support.capture import DictFiles, recorded


def checkpoint(**texts: str) -> StreamCheckpoint:
    return StreamCheckpoint("file:/cp", DictFiles({f"file:/cp/{name}": text for name, text in texts.items()}))


def progress_of(*sources: dict[str, object]) -> QueryProgress:
    document = json.loads(recorded("kafka_first_batch"))
    document["sources"] = list(sources)
    return parse_progress(json.dumps(document))


def read(of: StreamCheckpoint, progress: QueryProgress) -> list[Position | None]:
    """The ranges that a micro-batch read, by its sources and their logs."""
    sources = source_offsets(progress, (), of.root)
    ranges = [first_answer(each.read_range(source) for each in REGISTRY.of_source(source)) for source in sources]
    return [each[0].position if each is not None else None for each in ranges]


def first_offsets(of: StreamCheckpoint, progress: QueryProgress) -> list[dict[int, int]]:
    """The first offset of each partition, by source."""
    topics = [each.kafka for each in read(of, progress) if each is not None]
    return [{part.partition: part.from_ for part in topic.ranges} for topic in topics if topic is not None]


def kafka(topic: str, **ends: int) -> dict[str, object]:
    offsets = {partition.removeprefix("p"): end for partition, end in ends.items()}
    return {"description": f"KafkaV2[Subscribe[{topic}]]", "startOffset": None, "endOffset": {topic: offsets}}


def test_first_offsets_of_a_recorded_query() -> None:
    # As Spark 4.0 writes it: a zero byte first.
    logs = checkpoint(**{"sources/0/0": '\0v1\n{"in":{"0":0,"1":3}}'})
    assert first_offsets(logs, parse_progress(recorded("kafka_first_batch"))) == [{0: 0, 1: 3}]


def test_a_batch_with_a_start_needs_no_look() -> None:
    files = DictFiles()
    assert first_offsets(StreamCheckpoint("/cp", files), parse_progress(recorded("kafka_next_batch"))) == [
        {0: 8, 1: 12}
    ]
    assert files.asked == []


def test_each_source_has_its_own_log() -> None:
    both = checkpoint(**{"sources/0/0": 'v1\n{"a":{"0":1}}', "sources/1/0": 'v1\n{"b":{"0":2}}'})
    progress = progress_of(kafka("a", p0=5), kafka("b", p0=5))
    assert first_offsets(both, progress) == [{0: 1}, {0: 2}]


def test_a_log_that_can_not_lead_to_the_end_is_of_another_source() -> None:
    for text in ('v1\n{"b":{"0":1}}', 'v1\n{"a":{"0":6}}', 'v1\n{"a":{"9":0}}', "v1\nnothing"):
        assert first_offsets(checkpoint(**{"sources/0/0": text}), progress_of(kafka("a", p0=5))) == [{0: 0}]


def test_sources_are_in_the_order_of_their_folders() -> None:
    logs = {f"sources/{number}/0": f'v1\n{{"{name}":{{"0":{number}}}}}' for number, name in enumerate("edcba")}
    found = first_offsets(checkpoint(**logs), progress_of(*(kafka(name, p0=9) for name in "edcba")))
    assert found == [{0: index} for index in range(5)]


def test_topics_are_those_of_the_start_and_of_the_last_plan() -> None:
    begun = {"sources/0/0": "v1\n{}", "sources/2/0": 'v1\n{"c":{"0":0}}'}
    assert checkpoint(**begun).topics(3) == {0: frozenset(), 2: {"c"}}, "a pattern that nothing matched yet"
    planned = {
        "offsets/9": 'v1\n{}\n{"z":{"0":1}}\n-\n-',
        "offsets/10": 'v1\n{}\n{"a":{"0":1}}\n7\n{"c":{"0":1},"d":{"0":0}}',
        "offsets/.10.crc": "crc",
    }
    assert checkpoint(**begun, **planned).topics(3) == {0: {"a"}, 2: {"c", "d"}}
    assert checkpoint(**begun, **planned).topics(4) == checkpoint(**begun).topics(4), "a source is logged twice"


def test_an_iceberg_source_logs_where_it_began() -> None:
    end = {"version": 1, "snapshot_id": 71, "position": 2, "scan_all_files": False}
    logs = checkpoint(**{"sources/0/offsets/0": json.dumps({**end, "position": 0})})
    source: dict[str, object] = {"description": "SparkMicroBatchStream@7", "startOffset": None, "endOffset": end}
    logged, started = (read(logs, progress_of({**source, "startOffset": start}))[0] for start in (None, end))
    assert logged == Position(table_range=TableRange(format="iceberg", from_="71:0", to="71:2"))
    assert started == Position(table_range=TableRange(format="iceberg", from_="71:2", to="71:2"))
    nothing: dict[str, object] = {**source, "endOffset": {**end, "snapshot_id": -1}}
    [at_first] = read(logs, progress_of(nothing))
    assert at_first is not None
    assert at_first.opaque is not None, "no snapshot was there to read"
    assert json.loads(at_first.opaque.from_json or "") == {**end, "position": 0}


def test_watermark_after() -> None:
    commits = checkpoint(
        **{
            "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
            "commits/1": 'v1\n{"nextBatchWatermarkMs":1704067209000}',
            "commits/2": "v1\n{}",
        }
    )
    assert commits.watermark_after(1) == datetime(2024, 1, 1, 0, 0, 9, tzinfo=UTC)
    assert [commits.watermark_after(batch) for batch in (0, 2, 3)] == [None, None, None]


def test_files_of_a_file_source() -> None:
    logs = checkpoint(
        **{
            "sources/0/0": 'v1\n{"path":"file:///in/a","timestamp":1,"batchId":0}',
            "sources/0/1": 'v1\n{"path":"file:///in/b","timestamp":1,"batchId":1}',
        }
    )
    source: dict[str, object] = {
        "description": "FileStreamSource[file:/in]",
        "startOffset": {"logOffset": 0},
        "endOffset": {"logOffset": 1},
    }
    [taken] = read(logs, progress_of(source))
    assert taken is not None
    assert taken.files is not None
    assert taken.files.paths == ("file:///in/b",)
    other: dict[str, object] = {**source, "description": "Another[that counts in logOffset]"}
    assert read(logs, progress_of(other)) == [None]
