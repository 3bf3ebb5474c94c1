from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses
from pyspark.sql.streaming.listener import StreamingQueryListener

from headwater_schemas.events import Certainty, DatasetRef, FileSet, IntervalEntry, Provenance, RunEventType
from headwater_schemas.identity import schema_digest
from support.capture import Captured, body, files_of
from support.waiting import eventually

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )
    from pyspark.sql.streaming.query import StreamingQuery


pytestmark = pytest.mark.spark

START, COMPLETE, FAIL = RunEventType.START, RunEventType.COMPLETE, RunEventType.FAIL


class Inbox:
    """A folder that files are dropped into, one micro-batch each."""

    def __init__(self, captured: Captured, folder: Path) -> None:
        self.folder = folder / "in"
        self.folder.mkdir()
        self._spark = captured.spark
        self._count = 0

    def drop(self, rows: int = 2, text: str = "x") -> None:
        self._count += 1
        lines = (json.dumps({"a": number, "b": text}) for number in range(rows))
        # Renamed into place, for the source takes whatever it sees.
        part = self.folder / f".{self._count}"
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        # The source takes files in the order of their times.
        os.utime(part, (1_700_000_000 + self._count,) * 2)
        part.rename(self.folder / f"{self._count:03}.json")

    def stream(self) -> DataFrame:
        reader = self._spark.readStream.schema("a INT, b STRING").option("maxFilesPerTrigger", 1)
        frame: DataFrame = reader.json(str(self.folder))
        return frame


def files_read(entry: IntervalEntry) -> FileSet:
    [use] = entry.inputs
    assert use.certainty is Certainty.EXACT
    return files_of(use.position)


def files_written(entry: IntervalEntry) -> FileSet:
    [use] = entry.outputs
    assert use.certainty is Certainty.EXACT
    return files_of(use.position)


def test_a_chain_of_intervals_goes_on_over_a_restart(captured: Captured, tmp_path: Path) -> None:
    inbox = Inbox(captured, tmp_path)

    def run() -> StreamingQuery:
        shaped = inbox.stream().select("a", F.upper("b").alias("big"))
        writer = shaped.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "cp"))
        query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()
        return query

    for _ in range(7):
        inbox.drop()
    run()
    for _ in range(6):
        inbox.drop(rows=3)
    query = run()

    sink = captured.flushed()
    runs = sink.runs("job.out")
    assert [event.run_event.type for event in runs if event.run_event] == [START, COMPLETE] * 2
    assert len({event.run.run_id for event in runs if event.run}) == 2, "each start is a run"
    assert {event.run_event.query_id for event in runs if event.run_event} == {str(query.id)}
    intervals = [event.interval_event for event in sink.of_kind("INTERVAL") if event.interval_event]
    assert {interval.query_id for interval in intervals} == {str(query.id)}
    assert {interval.checkpoint_location for interval in intervals} == {f"file:{tmp_path / 'cp'}"}
    assert {interval.provenance for interval in intervals} == {Provenance.OBSERVED}

    entries = sink.entries("job.out")
    assert [entry.batch_id for entry in entries] == list(range(13))
    # Batch 9's logs are compacted ones, of the source and of the sink.
    assert (tmp_path / "out/_spark_metadata/9.compact").exists()
    read = [path for entry in entries for path in files_read(entry).paths]
    assert [path.rsplit("/", 1)[1] for path in read] == [f"{number:03}.json" for number in range(1, 14)]
    written = [path.rsplit("/", 1)[1] for entry in entries for path in files_written(entry).paths]
    assert sorted(written) == sorted(path.name for path in (tmp_path / "out").glob("*.parquet"))
    assert sum(files_written(entry).bytes or 0 for entry in entries) == sum(
        path.stat().st_size for path in (tmp_path / "out").glob("*.parquet")
    )
    assert [entry.rows_in for entry in entries] == [2] * 7 + [3] * 6
    assert len(sink.of_kind("PLAN")) == 1, "column lineage travels once"
    schemas = {about.dataset: about.schema for event in sink.of_kind("DATASET") if (about := event.dataset_event)}
    uses = [use for event in runs if (run_ := event.run_event) for use in (*run_.inputs, *run_.outputs)]
    assert len(uses) == 8
    for use in uses:
        schema = schemas[use.dataset]
        assert schema is not None
        assert use.schema_digest == schema_digest(schema)


def test_a_driver_that_died_between_the_logs_of_the_source_and_of_offsets(captured: Captured, tmp_path: Path) -> None:
    """Spark plans such a micro-batch anew, with what has come since: it has read the files of two log batches."""
    inbox = Inbox(captured, tmp_path)

    def run() -> None:
        writer = inbox.stream().writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "cp"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()

    inbox.drop()
    run()
    inbox.drop()
    taken = {"path": (inbox.folder / "002.json").as_uri(), "timestamp": 1_700_000_002_000, "batchId": 1}
    (tmp_path / "cp" / "sources" / "0" / "1").write_text(f"v1\n{json.dumps(taken)}", encoding="utf-8")
    inbox.drop()
    run()
    entries = captured.flushed().entries("job.out")
    assert [[path.rpartition("/")[2] for path in files_read(entry).paths] for entry in entries] == [
        ["001.json"],
        ["002.json", "003.json"],
    ]
    assert [entry.rows_in for entry in entries] == [2, 4]


def test_watermark_state_and_a_batch_without_data(captured: Captured, tmp_path: Path) -> None:
    inbox = Inbox(captured, tmp_path)
    inbox.drop(rows=3, text="2024-01-01 00:00:00")
    inbox.drop(rows=2, text="2024-01-01 01:00:00")
    counts = (
        inbox.stream()
        .withColumn("t", F.to_timestamp("b"))
        .withWatermark("t", "1 minute")
        .groupBy(F.window("t", "1 minute"))
        .count()
    )
    writer = counts.writeStream.format("noop").outputMode("append").queryName("counts")
    query = writer.option("checkpointLocation", str(tmp_path / "cp")).start()
    query.processAllAvailable()
    inbox.drop(rows=1, text="2023-01-01 00:00:00")
    query.processAllAvailable()
    query.stop()
    sink = captured.flushed()
    entries = sink.entries("job.counts")
    assert [entry.batch_id for entry in entries] == list(range(len(entries)))
    by_rows = [entry.rows_in for entry in entries]
    assert [rows for rows in by_rows if rows] == [3, 2, 1]
    assert 0 in by_rows, "a batch that only moves the watermark is a batch"
    assert entries[0].watermark_before is None
    for before, after in pairwise(entries):
        assert before.watermark_after == after.watermark_before, "what one batch set is what the next ran with"
    assert entries[-1].watermark_before is not None
    assert entries[-1].watermark_before.isoformat() == "2024-01-01T00:59:00+00:00"
    assert sum(entry.rows_dropped_late or 0 for entry in entries) == 1
    assert entries[-1].state_rows == 1
    assert all(entry.state_bytes for entry in entries)
    [start, _] = sink.runs("job.counts")
    assert json.loads(body(start).run_facets["headwater_eventTime"]) == {
        "watermarks": [{"field": "t", "delayMs": 60_000}],
        "statefulOperators": ["Aggregate"],
        "windowMs": 60_000,
        "stateHorizonMs": 120_000,
    }


class IdleTriggers(StreamingQueryListener):
    """Counts the triggers that had nothing to do."""

    def __init__(self) -> None:
        self.times = 0

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's names
        """Nothing is counted."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Nothing is counted."""

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        self.times += 1

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Nothing is counted."""


def test_idle_triggers_are_no_intervals(captured: Captured, tmp_path: Path) -> None:
    idle = IdleTriggers()
    captured.spark.streams.addListener(idle)
    captured.spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "10")
    try:
        inbox = Inbox(captured, tmp_path)
        inbox.drop()
        writer = inbox.stream().writeStream.format("noop").queryName("idle")
        query = writer.option("checkpointLocation", str(tmp_path / "cp")).start()
        query.processAllAvailable()
        eventually(lambda: idle.times >= 3, 60, expecting="three triggers without anything to do")
        inbox.drop()
        query.processAllAvailable()
        query.stop()
    finally:
        captured.spark.conf.unset("spark.sql.streaming.noDataProgressEventInterval")
        captured.spark.streams.removeListener(idle)
    assert [entry.batch_id for entry in captured.flushed().entries("job.idle")] == [0, 1]


def test_a_failed_query_says_why_without_secrets(captured: Captured, tmp_path: Path) -> None:
    inbox = Inbox(captured, tmp_path)
    inbox.drop()
    broken = inbox.stream().select(F.raise_error(F.lit("no access: password=hunter2")).cast("int").alias("x"))
    writer = broken.writeStream.format("noop").queryName("broken").option("checkpointLocation", str(tmp_path / "cp"))
    with pytest.raises(StreamingQueryException, match="hunter2"):
        writer.trigger(availableNow=True).start().awaitTermination()
    sink = captured.flushed()
    assert sink.run_types("job.broken") == [START, FAIL]
    assert sink.entries() == []
    error = sink.last_run("job.broken").error
    assert error is not None
    assert "password=[redacted]" in error.message
    assert "hunter2" not in repr(sink.events)


def test_a_start_is_emitted_before_there_is_any_data(captured: Captured, tmp_path: Path) -> None:
    inbox = Inbox(captured, tmp_path)
    writer = inbox.stream().writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "cp"))
    query = writer.start(str(tmp_path / "quiet"))
    try:
        query.processAllAvailable()
        sink = captured.flushed()
        [start] = sink.runs("job.quiet")
        assert [use.dataset for use in body(start).inputs] == [DatasetRef("file", str(inbox.folder))]
        assert [use.dataset for use in body(start).outputs] == [DatasetRef("file", str(tmp_path / "quiet"))]
        assert start.run is not None
        assert start.run.run_id == str(query.runId)
    finally:
        query.stop()
    assert captured.flushed().run_types("job.quiet") == [START, COMPLETE]
