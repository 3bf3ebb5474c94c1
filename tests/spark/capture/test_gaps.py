"""Gaps: micro-batches that a checkpoint has forgotten and nobody has emitted, in words, in numbers, and in the run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark import attach
from headwater_producers.spark.common.metrics import EarlierEmission
from headwater_producers.spark.streaming.gaps import GAPS_FACET
from headwater_schemas.events import RunEventType
from support.capture import FLUSH_SECONDS, RecordingSink, body
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def forgetful(spark: SparkSession) -> Iterator[SparkSession]:
    """Checkpoints remember two micro-batches instead of a hundred."""
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    yield spark
    spark.conf.unset("spark.sql.streaming.minBatchesToRetain")


def run(spark: SparkSession, folder: Path, files: int) -> None:
    """A micro-batch for each of so many new files."""
    (folder / "in").mkdir(exist_ok=True)
    before = len(list((folder / "in").iterdir()))
    for number in range(before, before + files):
        file = folder / "in" / f"{number:03}.csv"
        file.write_text(f"{number}\n")
        os.utime(file, (1_700_000_000 + number,) * 2)
    frame = spark.readStream.schema("a INT").option("maxFilesPerTrigger", 1).csv(str(folder / "in"))
    writer: Any = frame.writeStream.format("noop").queryName("q").option("checkpointLocation", str(folder / "cp"))
    assert writer.trigger(availableNow=True).start().awaitTermination(int(patience(120)))


def test_a_query_that_ran_for_long_without_capture(
    forgetful: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(forgetful, tmp_path, 6)
    oldest = min(int(path.name) for path in (tmp_path / "cp" / "commits").iterdir() if path.name.isdecimal())
    assert oldest > 0
    sink = RecordingSink()
    with attach(forgetful, sink=sink, job_name="job", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        run(forgetful, tmp_path, 1)
    [gap] = capture.status().gaps
    # The files of the oldest one were known by the one before it alone. Spark may forget one more when it commits the
    # new micro-batch, before capture looks.
    assert gap.last in {oldest, oldest + 1}
    assert (gap.name, gap.first, gap.emitted) == ("q", 0, EarlierEmission.UNKNOWN)
    assert [entry.batch_id for entry in sink.entries("job.q")] == list(range(gap.last + 1, 7))
    facets = [
        (body(event).type, json.loads(body(event).run_facets.get(GAPS_FACET, "{}"))) for event in sink.runs("job.q")
    ]
    gaps = [{"first": 0, "last": gap.last, "emitted": "unknown"}]
    assert [(kind, facet.get("gaps")) for kind, facet in facets] == [
        (RunEventType.START, None),
        (RunEventType.RUNNING, gaps),
        (RunEventType.COMPLETE, gaps),
    ]
    assert f"micro-batches 0..{gap.last + 1}" in caplog.text
