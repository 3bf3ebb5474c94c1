"""Several watermarks, several stateful operators, joins of streams: what the micro-batches say of event time."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark.streaming.stream_run import STATE_FACET
from headwater_schemas.events import IntervalEntry
from support.capture import Captured, body
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


pytestmark = pytest.mark.spark
POLICY = "spark.sql.streaming.multipleWatermarkPolicy"


def stream(captured: Captured, folder: Path, delay: str) -> DataFrame:
    folder.mkdir(exist_ok=True)
    read = captured.spark.readStream.schema("id INT, t TIMESTAMP").option("maxFilesPerTrigger", 1)
    frame: DataFrame = read.json(str(folder)).withWatermark("t", delay)
    return frame


def drop(folder: Path, number: int, *rows: tuple[int, str]) -> None:
    folder.mkdir(exist_ok=True)
    part = folder / f".{number}"
    part.write_text("".join(json.dumps({"id": n, "t": f"2024-01-01 {t}:00"}) + "\n" for n, t in rows))
    os.utime(part, (1_700_000_000 + number,) * 2)
    part.rename(folder / f"{number}.json")


def run(frame: DataFrame, tmp_path: Path, name: str) -> None:
    writer = frame.writeStream.format("noop").queryName(name).option("checkpointLocation", str(tmp_path / "cp"))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(int(patience(120)))


def facet(captured: Captured, job: str) -> dict[str, Any]:
    [start, *_] = captured.sink.runs(job)
    found: dict[str, Any] = json.loads(body(start).run_facets["headwater_eventTime"])
    return found


def last(entries: list[IntervalEntry]) -> datetime | None:
    return entries[-1].watermark_before


@pytest.mark.parametrize(("policy", "expected"), [pytest.param("min", 8, marks=pytest.mark.nightly), ("max", 11)])
def test_the_policy_chooses_among_watermarks(captured: Captured, tmp_path: Path, policy: str, expected: int) -> None:
    captured.spark.conf.set(POLICY, policy)
    try:
        drop(tmp_path / "slow", 1, (1, "10:00"))
        drop(tmp_path / "fast", 1, (2, "12:00"))
        both = stream(captured, tmp_path / "slow", "2 hours").union(stream(captured, tmp_path / "fast", "1 hour"))
        counts = both.groupBy(F.window("t", "1 hour")).count()
        run(counts, tmp_path, policy)
        # A query keeps its policy, whatever the session says when it is started again.
        captured.spark.conf.set(POLICY, "max" if policy == "min" else "min")
        drop(tmp_path / "fast", 2, (3, "12:30"))
        run(counts, tmp_path, policy)
    finally:
        captured.spark.conf.unset(POLICY)
    sink = captured.flushed()
    entries = sink.entries(f"job.{policy}")
    assert entries[0].watermark_after == datetime(2024, 1, 1, expected, tzinfo=UTC)
    starts = [
        each
        for each in sink.runs(f"job.{policy}")
        if each.run_event and "headwater_eventTime" in each.run_event.run_facets
    ]
    facets = [json.loads(each.run_event.run_facets["headwater_eventTime"]) for each in starts if each.run_event]
    assert {each["policy"] for each in facets} == {policy}
    delays = [each["delayMs"] for each in facet(captured, f"job.{policy}")["watermarks"]]
    assert sorted(delays) == [3_600_000, 7_200_000]


@pytest.mark.nightly
def test_streams_that_are_joined(captured: Captured, tmp_path: Path) -> None:
    drop(tmp_path / "left", 1, (1, "10:00"), (2, "10:30"))
    drop(tmp_path / "right", 1, (1, "10:05"))
    left = stream(captured, tmp_path / "left", "10 minutes")
    right = stream(captured, tmp_path / "right", "20 minutes").select(F.col("id").alias("key"), F.col("t").alias("at"))
    joined = left.join(right, F.expr("id = key AND at BETWEEN t AND t + INTERVAL 1 HOUR"))
    run(joined, tmp_path, "joined")
    drop(tmp_path / "left", 2, (3, "15:00"))
    drop(tmp_path / "right", 2, (3, "15:30"))
    run(joined, tmp_path, "joined")
    # Behind both watermarks by now.
    drop(tmp_path / "left", 3, (4, "09:00"))
    run(joined, tmp_path, "joined")
    entries = captured.flushed().entries("job.joined")
    assert [len(entry.inputs) for entry in entries] == [2] * len(entries), "both sides, also where one is silent"
    assert entries[0].state_rows == 3
    assert all(entry.state_bytes for entry in entries)
    assert entries[0].watermark_after == datetime(2024, 1, 1, 9, 45, tzinfo=UTC), "the least of both"
    assert min(entry.state_rows or 0 for entry in entries[1:]) <= 2, "what no row can be joined with is let go"
    assert sum(entry.rows_dropped_late or 0 for entry in entries) == 1
    emitted = facet(captured, "job.joined")
    assert emitted["statefulOperators"] == ["Join"]
    assert emitted["policy"] == "min"
    assert "stateHorizonMs" not in emitted


def test_operators_one_after_the_other_add_up(captured: Captured, tmp_path: Path) -> None:
    rows = stream(captured, tmp_path / "in", "1 hour").dropDuplicates(["id", "t"])
    counts = rows.groupBy(F.window("t", "1 hour")).count()
    drop(tmp_path / "in", 1, (1, "10:00"), (1, "10:00"), (2, "12:30"))
    # What is late goes by the watermark of the micro-batch before, where there are several operators.
    drop(tmp_path / "in", 2, (3, "12:40"))
    drop(tmp_path / "in", 3, (4, "06:00"))
    run(counts, tmp_path, "counts")
    sink = captured.flushed()
    entries = sink.entries("job.counts")
    assert entries[0].state_rows == 4, "two rows and two windows"
    assert sum(entry.rows_dropped_late or 0 for entry in entries) == 1
    assert sorted(facet(captured, "job.counts")["statefulOperators"]) == ["Aggregate", "Deduplicate"]
    each = json.loads(sink.last_run("job.counts").run_facets[STATE_FACET])["operators"]
    assert [operator["operatorName"] for operator in each] == ["stateStoreSave", "dedupe"]
    assert sum(operator["numRowsTotal"] for operator in each) == entries[-1].state_rows
    assert [operator["numRowsDroppedByWatermark"] for operator in each] == [0, 1], (
        "the first of them drops what is late"
    )
