"""An application that makes a session for each request it serves isn't made to keep them by being captured."""

from __future__ import annotations

import gc
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark import attach
from headwater_producers.spark.driver import sessions
from headwater_schemas.events import RunEventType
from support.capture import RecordingSink
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

SESSIONS = 300
# The last ones may still be somebody's: the active session of a thread, a local variable of Spark's.
FEW = 10


def serve(spark: SparkSession) -> SparkSession:
    """A request with a session of its own."""
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    assert session.range(1).columns == ["id"]
    assert session._jvm is not None
    return session


def seen(session: SparkSession) -> tuple[weakref.ref[SparkSession], Any]:
    """Weak references that show whether Python and the JVM still have the session."""
    jvm: Any = session._jvm
    return weakref.ref(session), jvm.java.lang.ref.WeakReference(session._jsparkSession)


def test_sessions_are_let_go_of_on_both_sides(spark: SparkSession) -> None:
    gateway: Any = spark.sparkContext._gateway
    proxies = gateway.gateway_property.pool.dict
    with attach(spark, sink=RecordingSink(), job_name="app"):
        before = len(proxies)
        held = [serve(spark) for _ in range(SESSIONS)]
        assert len(sessions.join(spark).sessions) >= SESSIONS, "each is tracked while it is there"
        served = [seen(session) for session in held]
        held.clear()

        def left() -> tuple[int, int, int, int]:
            gc.collect()
            gateway.jvm.System.gc()
            return (
                sum(session() is not None for session, _ in served),
                sum(not session.refersTo(None) for _, session in served),
                len(sessions.join(spark).sessions),
                len(proxies) - before,
            )

        now = left()

        def few_are_left() -> bool:
            nonlocal now
            now = left()
            return max(now) <= FEW

        # The JVM's collector has the ends of the proxies finished on a thread of its own.
        with suppress(AssertionError):
            eventually(few_are_left, 90, every=0.2)
        assert max(now) <= FEW, now


def test_a_session_that_has_run_a_query_is_kept_by_spark_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Spark 4.0 keeps the JVM's for as long as the application lives, captured or not. Python's goes."""
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="app") as capture:

        def serve_with_query(number: int) -> weakref.ref[SparkSession]:
            session = spark.newSession()
            session.range(1).write.parquet(str(tmp_path / f"n{number}"))
            return weakref.ref(session)

        left = [serve_with_query(number) for number in range(15)]
        assert capture.flush(patience(60))

        def kept() -> int:
            gc.collect()
            return sum(session() is not None for session in left)

        # A write that was seen while it ran is let go of at the next look for running writes. The last one is active on
        # the worker's thread.
        eventually(lambda: kept() <= 1, 60, every=0.2, expecting="one session at most is kept")
    whole = [RunEventType.START, RunEventType.COMPLETE]
    assert all(sink.run_types(f"app.n{number}") == whole for number in range(15)), "each was tracked"


def test_a_session_that_python_has_let_go_of_is_tracked(spark: SparkSession, tmp_path: Path) -> None:
    """The job may have several objects for one session of the JVM: the one that has joined may be gone first."""
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="app"):
        joined = spark.newSession()
        other = type(spark)(spark.sparkContext, joined._jsparkSession)
        del joined
        gc.collect()
        other.range(1).write.parquet(str(tmp_path / "in"))
        stream = other.readStream.schema("id BIGINT").parquet(str(tmp_path / "in")).writeStream.format("noop")
        named = stream.queryName("q").option("checkpointLocation", str(tmp_path / "cp"))
        assert named.trigger(availableNow=True).start().awaitTermination(int(patience(120)))
    assert sink.run_types("app.in") == [RunEventType.START, RunEventType.COMPLETE]
    assert sink.run_types("app.q") == [RunEventType.START, RunEventType.COMPLETE]
    assert [entry.batch_id for entry in sink.entries("app.q")] == [0]
