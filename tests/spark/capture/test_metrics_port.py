"""A driver with `metrics_port`, scraped while its query runs and after that."""

from __future__ import annotations

import logging
import re
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import attach
from headwater_producers.spark.driver import metrics_server
from support.capture import Captured, RecordingSink
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def scraped(url: str) -> dict[str, float]:
    with urllib.request.urlopen(url, timeout=patience(30)) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_a_query_is_shown_while_it_runs(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_server, "_served", {})
    sink = RecordingSink()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"id": 1}\n{"id": 2}\n')
    with caplog.at_level(logging.INFO), attach(spark, sink=sink, job_name="job", metrics_port=0) as capture:
        [url] = re.findall(r"metrics are served on (\S+)", caplog.text)
        before = scraped(url)
        frame = spark.readStream.schema("id INT").json(str(tmp_path / "in"))
        query = (
            frame.dropDuplicates(["id"])
            .writeStream.format("parquet")
            .queryName("orders")
            .start(str(tmp_path / "out"), checkpointLocation=str(tmp_path / "cp"))
        )
        query.processAllAvailable()
        Captured(spark, sink, capture).flushed()
        during = scraped(url)
        query.stop()
        spark.range(3).write.parquet(str(tmp_path / "batch"))
        Captured(spark, sink, capture).flushed()
        after = scraped(url)
    assert during['headwater_query_intervals_total{query="orders"}'] == 1
    assert during['headwater_query_rows_read_total{query="orders"}'] == 2
    assert during['headwater_query_batch{query="orders"}'] == 0
    assert during['headwater_query_state_rows{query="orders"}'] == 2
    assert 'headwater_query_offsets_behind{query="orders"}' not in during, "files have none"
    assert not [name for name in after if name.startswith("headwater_query_")], "it has ended"

    def grown(name: str, since: dict[str, float], now: dict[str, float]) -> float:
        return now[name] - since[name]

    assert grown("headwater_capture_observed_total", before, after) == 1
    assert grown("headwater_capture_published_total", before, during) >= 3
    assert grown("headwater_capture_published_total", during, after) >= 3
    assert grown("headwater_capture_failed_total", before, after) == 0
