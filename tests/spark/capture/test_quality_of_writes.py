"""Assertions of a batch write's frame, and what a suite of checks reports of a dataset."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import CaptureError
from headwater_schemas.events import DatasetRef, QualityResult
from support.capture import Captured

pytestmark = pytest.mark.spark


def test_what_a_written_frame_observed_is_about_what_it_wrote(captured: Captured, tmp_path: Path) -> None:
    few = F.expr("count(*) < 5").alias("few")
    frame = captured.spark.range(10).observe("size", few, F.count_if(F.col("id") > 6).alias("few_value"))
    frame.write.parquet(str(tmp_path / "out"))
    [result] = captured.flushed().last_run("job.out").quality
    about = DatasetRef("file", str(tmp_path / "out"))
    assert result == QualityResult(assertion="size.few", passed=False, value=3.0, dataset=about)


def test_a_suite_of_checks_is_a_run_that_read_the_dataset_of_a_frame(captured: Captured, tmp_path: Path) -> None:
    path = str(tmp_path / "checked")
    captured.spark.range(3).write.parquet(path)
    frame = captured.spark.read.parquet(path)
    run_id = captured.capture.report_quality(
        [{"assertion": "unique", "passed": True, "column": "id"}], dataset=frame, suite="checks", suite_version="2"
    )
    sink = captured.flushed()
    end = sink.last_run("job.checks")
    assert [use.dataset.name for use in end.inputs] == [path]
    assert [(each.assertion, each.suite, each.dataset) for each in end.quality] == [
        ("unique", "checks", DatasetRef("file", path))
    ]
    assert {event.run.run_id for event in sink.runs("job.checks") if event.run} == {run_id}
    with pytest.raises(CaptureError, match="reads none that is known"):
        captured.capture.report_quality([], dataset=captured.spark.range(1), suite="checks")
