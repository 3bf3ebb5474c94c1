"""Emission policies of a job whose lineage can't be made durable: each with a broker that isn't there."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from headwater_producers.outbox import Outbox
from headwater_producers.spark import Capture, attach
from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.driver.emission import Durability
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent, RunEventType
from support.capture import RecordingSink
from support.fake_producer import FakeCluster
from support.outbox import EVENTS, metrics, publisher
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


pytestmark = pytest.mark.spark


@pytest.fixture
def dead_broker() -> str:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Three files: three micro-batches."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in (1, 2, 3):
        file = folder / f"{number}.csv"
        file.write_text(f"{number}\n")
        os.utime(file, (1_700_000_000 + number,) * 2)
    return folder


def attached(spark: SparkSession, broker: str, **settings: Any) -> Capture:
    return attach(
        spark,
        job_name="job",
        kafka_bootstrap_servers=broker,
        capture_drain_timeout_seconds=patience(1),
        **settings,
    )


class GatedSink(RecordingSink):
    """Sink whose events are durable once the gate is open."""

    lost = 0
    outbox = None

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def await_durable(self, timeout_seconds: float) -> int:
        return 0 if self.gate.wait(min(timeout_seconds, 0.2)) else len(self.events)


class RefusingSink(RecordingSink):
    """Takes no interval."""

    def publish(self, event: LineageEvent) -> None:
        if event.interval_event is not None:
            raise OSError("no room")
        super().publish(event)


def relayed(folder: Path) -> dict[str, list[RunEventType]]:
    """States of each job's runs that the next start finds in the outbox, in order."""
    cluster = FakeCluster()
    [place] = list(folder.iterdir())
    with Outbox(place, publisher(cluster), metrics=metrics()) as outbox:
        eventually(
            lambda: outbox.figures().relayed > 0 and outbox.figures().events == 0, 60, expecting="all is relayed"
        )
    decoder = Decoder()
    emitted: dict[str, list[RunEventType]] = {}
    for event in map(decoder.decode, cluster.delivered[EVENTS]):
        if event.run_event is not None and event.job is not None:
            emitted.setdefault(event.job.name, []).append(event.run_event.type)
    return emitted


def test_retry_leaves_to_the_next_start_what_kafka_has_not_got(
    spark: SparkSession, tmp_path: Path, dead_broker: str
) -> None:
    with attached(spark, dead_broker, outbox_path=tmp_path / "outbox") as capture:
        spark.range(3).write.parquet(str(tmp_path / "rows"))
        assert not capture.flush(patience(1))
        held = capture.status().outbox
        assert held is not None
        assert held.events > 3
        assert held.relayed == 0
    assert relayed(tmp_path / "outbox") == {
        "job": [RunEventType.START, RunEventType.COMPLETE],
        "job.rows": [RunEventType.START, RunEventType.COMPLETE],
    }


@pytest.mark.nightly
def test_warn_lets_go_and_says_so(
    spark: SparkSession, tmp_path: Path, dead_broker: str, caplog: pytest.LogCaptureFixture
) -> None:
    capture = attached(spark, dead_broker, emission_policy="warn")
    spark.range(3).write.parquet(str(tmp_path / "rows"))
    capture.close()
    assert capture.status().outbox is None
    assert "not delivered yet" in caplog.text


@pytest.mark.nightly
def test_fail_job_is_content_with_the_outbox(spark: SparkSession, tmp_path: Path, dead_broker: str) -> None:
    with attached(spark, dead_broker, outbox_path=tmp_path / "outbox", emission_policy="fail_job"):
        spark.range(3).write.parquet(str(tmp_path / "rows"))
    assert relayed(tmp_path / "outbox")["job.rows"][-1] is RunEventType.COMPLETE


def test_fail_job_without_an_outbox_raises_and_the_data_stays(
    spark: SparkSession, tmp_path: Path, dead_broker: str
) -> None:
    capture = attached(spark, dead_broker, outbox_enabled=False, emission_policy="fail_job")
    spark.range(3).write.parquet(str(tmp_path / "rows"))
    with pytest.raises(LineageNotDurableError, match="events are neither acknowledged by Kafka nor in an outbox"):
        capture.close()
    capture.close()
    assert spark.read.parquet(str(tmp_path / "rows")).count() == 3


def test_a_statement_that_failed_and_that_the_job_caught_is_no_lineage_lost(spark: SparkSession) -> None:
    """Nothing was changed, so there is nothing to be emitted of it, nor anything of it that could be read."""
    spark.range(1).write.saveAsTable("job_that_goes_on")
    sink = GatedSink()
    sink.gate.set()
    with attach(spark, job_name="job", sink=sink, emission_policy="fail_job") as capture:
        with pytest.raises(AnalysisException):
            spark.sql("ALTER TABLE job_that_goes_on RENAME TO nowhere.moved")
        assert capture.flush(patience(60))
        assert (capture.status().failed, capture.status().received) == (0, 1)
    spark.sql("DROP TABLE job_that_goes_on")


def test_an_exception_of_the_job_is_not_hidden_by_the_policy(spark: SparkSession) -> None:
    with (
        pytest.raises(LookupError, match="the job's own"),
        attach(spark, sink=RefusingSink(), job_name="job", emission_policy="fail_job"),
    ):
        raise LookupError("the job's own")


def foreach_batch(spark: SparkSession, files: Path, func: Callable[[DataFrame, int], None]) -> StreamingQuery:
    source = spark.readStream.schema("a INT").option("maxFilesPerTrigger", 1).csv(str(files))
    writer = source.writeStream.foreachBatch(func).queryName("fb")
    return writer.option("checkpointLocation", str(files.parent / "cp")).trigger(availableNow=True).start()


class Holding:
    """Counts how often the fence found lineage that isn't durable."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        secure = Durability.secure

        def counted(durability: Durability, timeout_seconds: float) -> bool:
            secured = secure(durability, min(timeout_seconds, 1.0))
            self.times += not secured
            return secured

        monkeypatch.setattr(Durability, "secure", counted)


def test_fail_closed_holds_a_micro_batch_back_until_the_one_before_is_durable(
    spark: SparkSession, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding, sink, begun = Holding(monkeypatch), GatedSink(), list[tuple[int, list[int]]]()

    def func(frame: DataFrame, batch_id: int) -> None:
        begun.append((batch_id, [entry.batch_id for entry in sink.entries()]))

    with attach(spark, sink=sink, job_name="job", emission_policy="fail_closed"):
        query = foreach_batch(spark, files, func)
        eventually(lambda: holding.times >= 2 and sink.entries(), 60, expecting="the query is held back")
        assert begun == [(0, [])], "micro-batch 1 waits"
        assert [entry.batch_id for entry in sink.entries()] == [0]
        sink.gate.set()
        assert query.awaitTermination(int(patience(60)))
    assert begun == [(0, []), (1, [0]), (2, [0, 1])]


@pytest.mark.nightly
def test_fail_closed_holds_while_kafka_is_away_and_lets_the_query_be_stopped(
    spark: SparkSession, files: Path, dead_broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding, begun = Holding(monkeypatch), list[int]()
    capture = attached(spark, dead_broker, outbox_enabled=False, emission_policy="fail_closed")
    query = foreach_batch(spark, files, lambda _frame, batch_id: begun.append(batch_id))
    eventually(lambda: holding.times >= 2, 60, expecting="the query is held back")
    query.stop()
    assert begun == [0]
    assert query.exception() is None, "stopping a query that waits is no failure of it"
    with pytest.raises(LineageNotDurableError):
        capture.close()


def test_fail_closed_fails_the_query_when_its_lineage_is_lost(spark: SparkSession, files: Path) -> None:
    begun: list[int] = []
    capture = attach(spark, sink=RefusingSink(), job_name="job", emission_policy="fail_closed")
    query = foreach_batch(spark, files, lambda _frame, batch_id: begun.append(batch_id))
    with pytest.raises(Exception, match="micro-batch 1 is not begun"):
        query.awaitTermination(int(patience(60)))
    assert begun == [0]
    with pytest.raises(LineageNotDurableError, match="1 events refused"):
        capture.close()


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["refused", "kafka is away"])
def test_fail_closed_stops_a_query_with_another_sink_and_reports_the_overrun(
    spark: SparkSession, tmp_path: Path, dead_broker: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    where: dict[str, Any] = {"sink": RefusingSink()} if how == "refused" else {"outbox_enabled": False}
    capture = attached(spark, dead_broker, emission_policy="fail_closed", emission_wait_seconds=0.5, **where)
    source = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    query = (
        source.writeStream.format("parquet")
        .queryName("copy")
        .option("checkpointLocation", str(tmp_path / "cp"))
        .start(str(tmp_path / "out"))
    )
    assert query.awaitTermination(int(patience(60))), "it would run for ever"
    with pytest.raises(LineageNotDurableError, match=r"query copy: micro-batch.* committed, and the lineage"):
        capture.close()
    assert "lineage capture stops a streaming query" in caplog.text
    if how == "refused":
        run = where["sink"].last_run("job.copy")
        assert run.type is RunEventType.FAIL, "not COMPLETE: it was stopped for a reason"
        assert run.error is not None
        assert run.error.message.startswith("query copy: micro-batch")
