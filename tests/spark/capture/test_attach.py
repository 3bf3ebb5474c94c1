from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import (
    Capture,
    CaptureError,
    CaptureSettings,
    CaptureSettingsError,
    attach,
)
from headwater_producers.spark.driver import hooks, sessions, shutdown
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.engine import EventPublisher, Worker
from headwater_producers.spark.driver.sessions import join
from headwater_schemas.events import RunEventType
from support.capture import RecordingSink
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_attaching_twice_is_attaching_once(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink, other = RecordingSink(), RecordingSink()
    with attach(spark, sink=sink, job_name="once") as capture:
        assert attach(spark) is capture
        assert caplog.text == ""
        assert attach(spark, sink=other, job_name="twice") is capture
        assert "other settings of a second attach are ignored" in caplog.text
        spark.range(1).write.parquet(str(tmp_path / "x"))
    assert sink.run_types("once.x") == [RunEventType.START, RunEventType.COMPLETE]
    assert other.events == []


def test_what_the_session_was_set_to_counts(spark: SparkSession) -> None:
    spark.conf.set("spark.headwater.jobNmae", "x")
    try:
        with pytest.raises(CaptureSettingsError, match=r"did you mean spark\.headwater\.jobName"):
            attach(spark, sink=RecordingSink())
    finally:
        spark.conf.unset("spark.headwater.jobNmae")


def test_closing_and_attaching_again_observes_everything_once(spark: SparkSession, tmp_path: Path) -> None:
    first, second = RecordingSink(), RecordingSink()
    with attach(spark, sink=first, job_name="a"):
        spark.range(1).write.parquet(str(tmp_path / "one"))
    listeners = join(spark).sessions
    registered = dict(listeners)
    spark.range(1).write.parquet(str(tmp_path / "untracked"))
    with attach(spark, sink=second, job_name="b"):
        assert join(spark).sessions is listeners
        assert listeners == registered, "registered for the session's life"
        spark.range(1).write.parquet(str(tmp_path / "two"))
    assert first.jobs() == {"a", "a.one"}
    assert second.jobs() == {"b", "b.two"}
    assert len(second.runs("b.two")) == 2
    assert first.closed


def test_an_application_has_a_run_of_its_own(spark: SparkSession) -> None:
    sink = RecordingSink()
    capture = attach(spark, sink=sink, job_name="app", job_owner="team:x", job_tags="tier=1", job_code_version="v7")
    capture.close()
    capture.close()
    assert sink.run_types("app") == [RunEventType.START, RunEventType.COMPLETE]
    versions = sink.last_run("app").versions
    assert versions is not None
    assert versions.code == "v7"
    [job] = sink.of_kind("JOB")
    assert job.job_event is not None
    assert job.job_event.owners is not None
    assert job.job_event.owners[0].name == "team:x"
    assert job.job_event.tags is not None
    assert (job.job_event.tags[0].key, job.job_event.tags[0].value) == ("tier", "1")
    assert not capture.status().enabled


def test_an_error_that_leaves_the_block_is_the_applications_failure(spark: SparkSession) -> None:
    sink = RecordingSink()

    def work() -> None:
        with attach(spark, sink=sink, job_name="app"):
            raise LookupError("token=hunter2")

    with pytest.raises(LookupError):
        work()
    assert sink.run_types("app") == [RunEventType.START, RunEventType.FAIL]
    assert "hunter2" not in repr(sink.runs("app"))


def test_the_default_name_is_the_applications(spark: SparkSession) -> None:
    sink = RecordingSink()
    attach(spark, sink=sink).close()
    assert sink.jobs() == {spark.sparkContext.appName}


def test_turned_off_it_does_nothing(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No listener, no hook, no thread, no folder; nor is Kafka asked for."""
    monkeypatch.setenv("HEADWATER_CAPTURE_ENABLED", "false")
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path))
    for module, name in [(sessions, "join"), (shutdown, "install"), (hooks, "install"), (Worker, "start")]:
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("it was used"))
    threads = set(threading.enumerate())
    capture = attach(spark)
    assert isinstance(capture, Capture)
    assert not capture.status().enabled
    assert capture.flush(1)
    capture.close()
    assert set(threading.enumerate()) <= threads
    assert list(tmp_path.iterdir()) == []


def test_without_kafka_it_says_what_to_set(spark: SparkSession) -> None:
    with pytest.raises(CaptureSettingsError, match="HEADWATER_KAFKA_BOOTSTRAP_SERVERS"):
        attach(spark)
    with pytest.raises(CaptureSettingsError, match="did you mean job_name"):
        attach(spark, CaptureSettings.load(), job_nam="x")


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(CaptureError, match="not object"):
        attach(object(), sink=RecordingSink())  # type: ignore[arg-type]


def test_a_sink_that_fails_does_not_reach_the_job(spark: SparkSession, tmp_path: Path) -> None:
    class Broken(RecordingSink):
        def publish(self, event: object) -> None:
            raise RuntimeError("down")

    with attach(spark, sink=Broken(), job_name="app") as capture:
        spark.range(3).write.parquet(str(tmp_path / "x"))
        capture.flush(patience(60))
        assert capture.status().publish_failed >= 4
    assert spark.read.parquet(str(tmp_path / "x")).count() == 3


def test_callbacks_that_find_no_room_are_counted(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    handle = Dispatch.handle
    monkeypatch.setattr(Dispatch, "handle", lambda self, item: gate.wait(patience(60)) and handle(self, item))
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="app", capture_queue_size=1) as capture:
        for number in range(6):
            spark.range(1).write.parquet(str(tmp_path / f"n{number}"))
        assert spark.sparkContext._jsc is not None
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(int(patience(60) * 1_000))
        gate.set()
        assert capture.flush(patience(60))
        status = capture.status()
    assert status.dropped >= 4
    assert status.dropped + status.received == 6
    assert caplog.text.count("new ones are dropped") == 1


def test_hooks_pass_on_what_was_there() -> None:
    """The hooks stay for the process's life: they must be invisible."""
    with pytest.raises(SystemExit) as left:
        sys.exit(3)
    assert left.value.code == 3
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN


def test_a_kafka_that_can_not_be_reached_costs_the_job_no_more_than_the_drain(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    flush = EventPublisher.flush

    def remembering(publisher: EventPublisher, timeout_seconds: float, *, stall_seconds: float | None = None) -> int:
        waits.append(timeout_seconds)
        return flush(publisher, timeout_seconds, stall_seconds=stall_seconds)

    monkeypatch.setattr(EventPublisher, "flush", remembering)
    settings = CaptureSettings.load(kafka_bootstrap_servers="127.0.0.1:1", capture_drain_timeout_seconds=1.0)
    with attach(spark, settings, job_name="app") as capture:
        spark.range(3).write.parquet(str(tmp_path / "x"))
        eventually(lambda: capture.status().published >= 4)
    assert [0 <= seconds <= 1 for seconds in waits] == [True], "waited for Kafka once, and no longer than the drain"
    assert caplog.text.count("events are not delivered yet: Kafka at 127.0.0.1:1") == 1
    assert spark.read.parquet(str(tmp_path / "x")).count() == 3
