"""Frames and queries made before `attach` and run after it are captured, with the writes of their functions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import attach
from headwater_schemas.events import RunEventType
from spark.capture.test_sessions import untracked
from support.capture import FLUSH_SECONDS, RecordingSink
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["untracked"]

pytestmark = pytest.mark.spark
WHOLE = [RunEventType.START, RunEventType.COMPLETE]


def test_builders_frames_and_readers(untracked: SparkSession, tmp_path: Path) -> None:
    untracked.range(3).write.parquet(str(tmp_path / "in"))
    builder = type(untracked).builder.config("spark.sql.shuffle.partitions", "1")
    writer = untracked.read.parquet(str(tmp_path / "in")).selectExpr("id + 1 AS next").write.mode("append")

    def each(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("append").json(str(tmp_path / "inside"))

    stream = untracked.readStream.schema("id BIGINT").parquet(str(tmp_path / "in")).writeStream.queryName("q")
    query = stream.foreachBatch(each).option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True)
    sink = RecordingSink()
    with attach(untracked, sink=sink, job_name="app", capture_drain_timeout_seconds=FLUSH_SECONDS):
        writer.parquet(str(tmp_path / "out"))
        assert query.start().awaitTermination(int(patience(120)))
        builder.getOrCreate().range(1).write.parquet(str(tmp_path / "made"))
    assert sink.run_types("app.out") == sink.run_types("app.made") == WHOLE
    [entry] = sink.entries("app.q")
    assert [(use.dataset.name, use.rows) for use in entry.outputs] == [(str(tmp_path / "inside"), 3)]
    assert sink.jobs() == {"app", "app.out", "app.made", "app.q"}
