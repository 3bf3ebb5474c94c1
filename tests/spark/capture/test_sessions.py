"""One application has one capture, whatever sessions it has, and whatever ran before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark import attach
from headwater_producers.spark.driver import sessions
from headwater_schemas.events import RunEventType
from support.capture import FLUSH_SECONDS, RecordingSink, body

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WHOLE = [RunEventType.START, RunEventType.COMPLETE]


@pytest.fixture
def untracked(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of the application as it is before its first `attach`; what was registered before stays silent."""
    application = sessions._applications.pop(sessions.application_id(spark), None)
    yield spark.newSession()
    sessions.forget(sessions.application_id(spark))
    if application is not None:
        sessions._applications[sessions.application_id(spark)] = application


def write(session: SparkSession, path: Path, mode: str = "error") -> None:
    session.range(1).write.mode(mode).parquet(str(path))


def test_sessions_before_and_after_attach_are_one_application(untracked: SparkSession, tmp_path: Path) -> None:
    before = untracked.newSession()
    sink = RecordingSink()
    with attach(untracked, sink=sink, job_name="app") as capture:
        after = untracked.newSession()
        assert attach(after) is capture
        for name, session in (("one", untracked), ("two", before), ("three", after), ("four", after.newSession())):
            write(session, tmp_path / name)
    assert {job: sink.run_types(job) for job in sink.jobs() if job != "app"} == {
        "app.one": WHOLE,
        "app.two": WHOLE,
        "app.three": WHOLE,
        "app.four": WHOLE,
    }
    assert {event.run.run_id for event in sink.runs("app") if event.run} == {capture_run_id(sink)}


def capture_run_id(sink: RecordingSink) -> str:
    """The application's run, which all others say is their parent."""
    parents = {parent.run_id for event in sink.runs() if (parent := body(event).parent)}
    assert len(parents) == 1
    return parents.pop()


def test_after_closing_every_session_is_silent_and_all_speak_again(untracked: SparkSession, tmp_path: Path) -> None:
    first, second = RecordingSink(), RecordingSink()
    with attach(untracked, sink=first, job_name="app"):
        other = untracked.newSession()
    write(other, tmp_path / "untracked")
    with attach(untracked, sink=second, job_name="app"):
        write(other, tmp_path / "tracked")
    assert first.jobs() == {"app"}
    assert second.run_types("app.tracked") == WHOLE


def test_a_plan_is_read_with_the_settings_of_its_own_session(untracked: SparkSession, tmp_path: Path) -> None:
    sink = RecordingSink()
    with attach(untracked, sink=sink, job_name="app"):
        other = untracked.newSession()
        other.range(3).createOrReplaceTempView("theirs")
        other.sql("SELECT id + 1 AS next FROM theirs").write.parquet(str(tmp_path / "out"))
    [plan] = [event.plan_event for event in sink.of_kind("PLAN")]
    assert plan is not None
    assert plan.lineage.complete


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> DataFrame:
    write(spark, tmp_path / "in")
    return spark.read.parquet(str(tmp_path / "in"))


def test_queries_that_run_already_are_seen(untracked: SparkSession, tmp_path: Path, source: DataFrame) -> None:
    """Also their foreachBatch functions, handed over before, and the writes inside them."""
    folder = tmp_path / "in"
    stream = untracked.readStream.schema(source.schema).parquet(str(folder))

    def each(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("append").parquet(str(tmp_path / "out"))

    def start(name: str, writer: Any) -> Any:
        return writer.queryName(name).option("checkpointLocation", str(tmp_path / name)).start()

    plain = start("plain", stream.writeStream.format("parquet").option("path", str(tmp_path / "plain_out")))
    inside = start("inside", stream.writeStream.foreachBatch(each))
    try:
        for query in (plain, inside):
            query.processAllAvailable()
        sink = RecordingSink()
        with attach(untracked, sink=sink, job_name="app") as capture:
            assert capture.flush(FLUSH_SECONDS)
            # Nothing has happened since, yet they are known to run.
            assert sink.run_types("app.plain") == [RunEventType.START]
            assert sink.run_types("app.inside") == [RunEventType.START]
            source.write.mode("append").parquet(str(folder))
            for query in (plain, inside):
                query.processAllAvailable()
                query.stop()
            assert capture.flush(FLUSH_SECONDS)
            assert capture.status().failed == 0, capture.status().last_error
    finally:
        plain.stop()
        inside.stop()
    assert sink.run_types("app.plain")[-1] is RunEventType.COMPLETE
    assert [entry.batch_id for entry in sink.entries("app.plain")][-1:] == [1]
    [entry] = [entry for entry in sink.entries("app.inside") if entry.batch_id == 1]
    assert [use.dataset.name for use in entry.outputs] == [str(tmp_path / "out")]
    assert "app.out" not in sink.jobs(), "a write inside foreachBatch has no run of its own"


def test_queries_that_code_of_the_jvm_starts_are_found(untracked: SparkSession, tmp_path: Path) -> None:
    """In a session of Python's that has started no query itself, and in one that Python has never had."""
    write(untracked, tmp_path / "in")
    sink = RecordingSink()
    with attach(untracked, sink=sink, job_name="app") as capture:
        ours, theirs = untracked.newSession()._jsparkSession, untracked._jsparkSession.newSession()
        queries = []
        for name, session in (("ours", ours), ("theirs", theirs)):
            stream = session.readStream().schema("id BIGINT").parquet(str(tmp_path / "in")).writeStream()
            stream = stream.format("parquet").option("checkpointLocation", str(tmp_path / name)).queryName(name)
            queries.append(stream.start(str(tmp_path / f"{name}_out")))
        try:
            for query in queries:
                query.processAllAvailable()
            assert capture.flush(FLUSH_SECONDS)
            assert sink.run_types("app.ours") == sink.run_types("app.theirs") == [RunEventType.START]
            write(untracked, tmp_path / "in", "append")
            for query in queries:
                query.processAllAvailable()
        finally:
            for query in queries:
                query.stop()
        assert capture.flush(FLUSH_SECONDS)
        assert capture.status().failed == 0, capture.status().last_error
    for name in ("ours", "theirs"):
        assert sink.run_types(f"app.{name}") == WHOLE
        assert [entry.batch_id for entry in sink.entries(f"app.{name}")] == [0, 1]
