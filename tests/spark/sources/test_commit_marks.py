"""Commits that name the application's run: with the setting alone, and never in place of what the job sets itself."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_producers.spark.events.left_writes import LeftWrite, left_write, marked_run
from headwater_schemas.events import LineageEvent
from spark.gates import Gate
from spark.sources.watching import Watched
from support.capture import FLUSH_SECONDS, RecordingSink
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
DELTA = "spark.databricks.delta.commitInfo.userMetadata"
ICE = "ice.db.bearing"


def written(spark: SparkSession, folder: Path, **options: str) -> str | None:
    """The `userMetadata` of an append to a Delta table."""
    spark.range(1).write.format("delta").mode("append").options(**options).save(str(folder))
    newest = max((folder / "_delta_log").glob("*.json"))
    infos = [json.loads(line) for line in newest.read_text().splitlines() if line.startswith('{"commitInfo"')]
    found: str | None = infos[0]["commitInfo"].get("userMetadata")
    return found


def ice(spark: SparkSession) -> str | None:
    """The mark of a row that is added to an Iceberg table."""
    spark.sql(f"INSERT INTO {ICE} VALUES (1)")
    [row] = spark.sql(f"SELECT summary FROM {ICE}.snapshots ORDER BY committed_at DESC LIMIT 1").collect()
    mark: str | None = row[0].get("headwater.run")
    return mark


def test_marks(lake: SparkSession, tmp_path: Path) -> None:
    lake.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    lake.sql(f"CREATE TABLE {ICE} (id BIGINT) USING iceberg")
    common: dict[str, Any] = {"job_name": "job", "capture_drain_timeout_seconds": FLUSH_SECONDS}
    try:
        with attach(lake, sink=RecordingSink(), **common):
            assert (written(lake, tmp_path / "t"), ice(lake)) == (None, None), "off by default"

        sink = RecordingSink()
        with attach(lake, sink=sink, capture_commit_marks=True, **common):
            [application] = {event.run.run_id for event in sink.runs("job") if event.run}
            assert marked_run(written(lake, tmp_path / "t")) == application
            assert ice(lake) == application
            assert written(lake, tmp_path / "t", userMetadata="mine") == "mine", "the write's own option wins"
            lake.conf.set(DELTA, "the job's")
            assert written(lake, tmp_path / "t") == "the job's"
        assert lake.conf.get(DELTA) == "the job's", "it isn't capture's to take back"
        assert ice(lake) is None

        with attach(lake, sink=RecordingSink(), capture_commit_marks=True, **common):
            assert written(lake, tmp_path / "t") == "the job's", "set before: left alone"
        lake.conf.unset(DELTA)
        with attach(lake, sink=RecordingSink(), capture_commit_marks=True, **common):
            assert marked_run(written(lake.newSession(), tmp_path / "t")), "sessions to come are marked, too"
        assert lake.conf.get(DELTA, None) is None
    finally:
        lake.conf.unset(DELTA)
        lake.sql(f"DROP TABLE {ICE}")


@pytest.mark.nightly
@pytest.mark.usefixtures("announced_writes")
def test_a_write_s_start_has_its_transaction(watched: Watched, tmp_path: Path) -> None:
    """The write is held until it is announced."""
    gate, before = Gate(tmp_path / "gate"), len(watched.sink.events)

    def announced(events: list[LineageEvent]) -> list[LeftWrite]:
        return [left for event in events if (left := left_write(event, seen_at=event.event_time))]

    def open_when_announced() -> None:
        try:
            eventually(lambda: announced(watched.sink.events[before:]), 60, expecting="START of the write")
        finally:
            gate.open()

    frame = watched.spark.range(1).withColumn("id", F.udf(gate.function(), "long")("id"))
    with ThreadPoolExecutor(1) as beside:
        opened = beside.submit(open_when_announced)
        frame.write.format("delta").options(txnAppId="nightly", txnVersion="7").save(str(tmp_path / "t"))
        opened.result(patience(60))
    [left] = announced(watched.new_events())
    assert (left.transaction, left.marked) == (("nightly", 7), False)
    assert [(each.dataset.name, each.format) for each in left.targets] == [(str(tmp_path / "t"), "delta")]
