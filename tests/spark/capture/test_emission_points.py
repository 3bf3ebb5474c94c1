"""Emission points of a streaming run: its states, and the reasons of its intervals."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.outbox import OutboxFigures
from headwater_producers.spark import attach
from headwater_schemas.events import EmissionReason, Provenance, RunEventType
from support.capture import FLUSH_SECONDS, RecordingSink
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
CHECKPOINT, STOP, START = EmissionReason.CHECKPOINT, EmissionReason.STOP, EmissionReason.START
VERSION, QUALITY = EmissionReason.VERSION_CHANGE, EmissionReason.QUALITY_CHANGE
FAILURE = EmissionReason.FAILURE


def drop(folder: Path, numbers: Iterable[int]) -> None:
    """A file for each number, one a micro-batch: the number itself, or nothing where it is negative."""
    folder.mkdir(exist_ok=True)
    for count, number in enumerate(numbers, start=len(list(folder.glob("*.json")))):
        part = folder / f".{count}"
        part.write_text(json.dumps({"a": number if number >= 0 else None}) + "\n")
        os.utime(part, (1_700_000_000 + count,) * 2)
        part.rename(folder / f"{count:03}.json")


def source(spark: SparkSession, folder: Path) -> DataFrame:
    frame: DataFrame = spark.readStream.schema("a INT").option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    return frame


def reasons(sink: RecordingSink) -> list[tuple[EmissionReason, list[int]]]:
    return [
        (event.interval_event.reason, [entry.batch_id for entry in event.interval_event.entries])
        for event in sink.of_kind("INTERVAL")
        if event.interval_event
    ]


@contextmanager
def emitted(spark: SparkSession, sink: RecordingSink | None = None, **settings: Any) -> Iterator[RecordingSink]:
    """Collect the events of the block, where micro-batches may wait for one another until it ends."""
    target = sink or RecordingSink()
    patient = {"coalesce_max_batches": 10, "coalesce_max_seconds": 600, "capture_drain_timeout_seconds": FLUSH_SECONDS}
    with attach(spark, sink=target, job_name="job", **{**patient, **settings}):
        yield target


def test_coalesced_until_something_changes(spark: SparkSession, tmp_path: Path) -> None:
    drop(tmp_path / "in", [1, 2, 3, -1, -1, 4, 5, 6, 7, 8, 9])
    with emitted(spark, coalesce_max_batches=3) as sink:
        checked = source(spark, tmp_path).observe("in", F.expr("bool_and(a IS NOT NULL)").alias("has_a"))
        writer = checked.writeStream.format("noop").queryName("q").option("checkpointLocation", str(tmp_path / "cp"))
        assert writer.trigger(availableNow=True).start().awaitTermination(int(patience(120)))
    assert reasons(sink) == [
        (CHECKPOINT, [0]),  # the first one doesn't wait
        (CHECKPOINT, [1, 2]),
        (QUALITY, [3]),
        (CHECKPOINT, [4]),
        (QUALITY, [5]),
        (CHECKPOINT, [6, 7, 8]),  # they are many
        (STOP, [9, 10]),
    ]
    assert sink.run_types("job.q") == [RunEventType.START, RunEventType.COMPLETE]


def test_a_new_lineage_is_a_change_of_version(spark: SparkSession, tmp_path: Path) -> None:
    drop(tmp_path / "in", range(4))

    def write(frame: DataFrame, batch: int) -> None:
        derived = frame.select("a") if batch < 2 else frame.select((F.col("a") + 1).alias("a"))
        derived.write.mode("append").parquet(str(tmp_path / "out"))

    with emitted(spark) as sink:
        writer = source(spark, tmp_path).writeStream.foreachBatch(write).queryName("q")
        query = writer.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True).start()
        assert query.awaitTermination(int(patience(120)))
    assert reasons(sink) == [(CHECKPOINT, [0]), (CHECKPOINT, [1]), (VERSION, [2]), (CHECKPOINT, [3])], "none waits"
    digests = [entry.plan_digest for entry in sink.entries("job.q")]
    assert digests[0] == digests[1] != digests[2] == digests[3]
    assert len({event.plan_event.digest for event in sink.of_kind("PLAN") if event.plan_event} & set(digests)) == 2


class SinkWithOutbox(RecordingSink):
    """One with a folder that outlives it, where notes can be left for the next start."""

    lost = 0

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.outbox = OutboxFigures(str(folder), 0, 0, 0, 0, 0, None)

    def await_durable(self, timeout_seconds: float) -> int:
        return 0


def test_code_and_configuration_change_between_two_starts(spark: SparkSession, tmp_path: Path) -> None:
    """A process has one version of its code: its runs and intervals say which, and the first one says if it is new."""
    sinks = []
    for version in ("v1", "v2", "v2"):
        drop(tmp_path / "in", [1])
        versions = {"job_code_version": version, "job_config_version": f"conf-{version}"}
        with emitted(spark, SinkWithOutbox(tmp_path / "outbox"), **versions) as sink:
            writer = source(spark, tmp_path).writeStream.format("noop").queryName("q")
            query = writer.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True).start()
            assert query.awaitTermination(int(patience(120)))
        sinks.append(sink)
        for event in sink.runs("job.q"):
            assert event.run_event is not None
            assert event.run_event.versions is not None
            assert (event.run_event.versions.code, event.run_event.versions.config) == (version, f"conf-{version}")
    observed = [
        (body.versions.code, body.reason, [entry.batch_id for entry in body.entries])
        for sink in sinks
        for event in sink.of_kind("INTERVAL")
        if (body := event.interval_event) and body.provenance is Provenance.OBSERVED and body.versions
    ]
    assert observed == [("v1", CHECKPOINT, [0]), ("v2", VERSION, [1]), ("v2", CHECKPOINT, [2])]
    assert (START, [0]) in reasons(sinks[1]), "what the checkpoint has is emitted at the start"


def test_a_failure_sends_what_waits_and_says_why(spark: SparkSession, tmp_path: Path) -> None:
    drop(tmp_path / "in", [1, 2, 99, 3])
    with emitted(spark) as sink:
        failing = source(spark, tmp_path).selectExpr("IF(a = 99, raise_error('enough'), a) AS a")
        writer = failing.writeStream.format("noop").queryName("q").option("checkpointLocation", str(tmp_path / "cp"))
        with pytest.raises(StreamingQueryException, match="enough"):
            writer.trigger(availableNow=True).start().awaitTermination(int(patience(120)))
    assert reasons(sink) == [(CHECKPOINT, [0]), (FAILURE, [1])], "the third one was never committed"
    assert sink.run_types("job.q") == [RunEventType.START, RunEventType.FAIL]
    assert sink.last_run("job.q").error is not None
    events = [event.kind for event in sink.events if event.job and event.job.name == "job.q"]
    assert events.index("INTERVAL") < len(events) - 1 - events[::-1].index("RUN"), "the end comes last"
