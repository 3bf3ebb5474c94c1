"""A micro-batch that is run again after a kill, and that Delta's sink skips: its table has the transaction already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import attach
from spark.sources.conftest import active_lake, lake
from support.capture import FLUSH_SECONDS, RecordingSink
from support.micro_batches import three_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["active_lake", "lake"]

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("active_lake"), pytest.mark.timeout(600)]


@pytest.mark.nightly
def test_rows_of_a_micro_batch_that_delta_skips_are_unknown(lake: SparkSession, tmp_path: Path) -> None:
    three_files(tmp_path / "in")
    sink = RecordingSink()

    def run() -> None:
        frame = lake.readStream.schema("a STRING, b STRING").option("maxFilesPerTrigger", 1).csv(str(tmp_path / "in"))
        writer = frame.writeStream.format("delta").option("checkpointLocation", str(tmp_path / "cp"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()

    with attach(lake, sink=sink, job_name="job", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        run()
        # As a driver leaves it that is killed between the table's commit and the checkpoint's.
        (tmp_path / "cp/commits/2").unlink()
        (tmp_path / "cp/commits/.2.crc").unlink(missing_ok=True)
        run()
        capture.flush(FLUSH_SECONDS)
    *_, before, again = sink.entries("job.out")
    assert (before.batch_id, again.batch_id) == (2, 2)
    assert before.rows_in is not None
    assert before.rows_in > 0
    # Spark's progress has 0 rows, beside a version with all of them.
    assert (again.rows_in, [use.rows for use in again.inputs]) == (None, [None])
    assert again.outputs == before.outputs
    assert again.outputs[0].rows == before.rows_in
