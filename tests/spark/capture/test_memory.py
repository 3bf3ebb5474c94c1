"""Memory of capture in the driver: waiting plans are bounded by weight, and a capture that ends lets go."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.finalizer import ThreadSafeFinalizer
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_producers.spark.driver.capture import running_capture
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.engine import Engine
from headwater_producers.spark.driver.listeners import COLUMN_BYTES
from headwater_producers.spark.events.application import CAPTURE_FACET
from headwater_producers.spark.streaming.flow import StreamFlow
from support.capture import FLUSH_SECONDS, RecordingSink, body
from support.micro_batches import run_over_files, three_files
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

COLUMNS = 500
ROUNDS = 3
EACH = 3


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is closed the worker stands still, as behind a plan that takes long."""
    opened = threading.Event()
    handle = Dispatch.handle
    monkeypatch.setattr(Dispatch, "handle", lambda self, signal: opened.wait(patience(600)) and handle(self, signal))
    yield opened
    opened.set()


def write(spark: SparkSession) -> None:
    """A plan of its own each time, wide and executed in no time: an empty one."""
    made = [(F.col("id") + n).alias(f"c{n}") for n in range(COLUMNS)]
    spark.range(1).select(*made).limit(0).write.format("noop").mode("overwrite").save()


def heap(spark: SparkSession) -> int:
    """Bytes of the JVM's heap in use after a collection; what Python has let go of the JVM doesn't hold for it."""
    gc.collect()
    jvm: Any = spark.sparkContext._jvm
    jvm.System.gc()
    return int(jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed())


@dataclass(frozen=True)
class Round:
    """State after a few writes more, all of which wait for the worker.

    Attributes:
        heap: Bytes of the JVM's heap in use; 0 where that isn't measured.
        queued: Callbacks that wait.
    """

    heap: int
    queued: int


def rounds_of_heavy_plans(spark: SparkSession, gate: threading.Event, *, measured: bool) -> list[Round]:
    """Write plans that weigh more than the queue may hold while the worker stands still, and check what is counted."""
    limit = 4 * COLUMNS * COLUMN_BYTES
    sink = RecordingSink()
    with attach(
        spark,
        sink=sink,
        job_name="app",
        capture_queue_max_bytes=limit,
        capture_drain_timeout_seconds=FLUSH_SECONDS,
    ) as capture:
        rounds = []
        for _ in range(ROUNDS):
            for _ in range(EACH):
                write(spark)
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(int(patience(60) * 1_000))
            rounds.append(Round(heap(spark) if measured else 0, capture.status().queued))
            assert capture.status().queued_bytes <= limit
        status = capture.status()
        assert status.dropped > 0
        assert status.dropped + status.received == ROUNDS * EACH
        gate.set()
        assert capture.flush(FLUSH_SECONDS)
        assert capture.status().queued_bytes == 0
    assert capture.status().failed == 0, capture.status().last_error
    [facet] = [json.loads(body(event).run_facets[CAPTURE_FACET]) for event in sink.runs("app")[-1:]]
    assert facet["dropped"] == status.dropped, "the application's run says that lineage of it is missing"
    return rounds


@pytest.mark.timeout(600)
def test_heavy_plans_do_not_pile_up(spark: SparkSession, gate: threading.Event) -> None:
    _, second, third = rounds_of_heavy_plans(spark, gate, measured=False)
    assert second.queued == third.queued, "the room is taken"


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_nothing_else_keeps_a_plan_that_found_no_room(spark: SparkSession, gate: threading.Event) -> None:
    """Once the room is taken, nothing more of a plan stays in the JVM.

    If it did, a round would keep three times this: a plan has three operators. Some is Spark's own, which shows the
    last executions, whoever listens.
    """
    _, second, third = rounds_of_heavy_plans(spark, gate, measured=True)
    assert third.heap - second.heap < EACH * COLUMNS * COLUMN_BYTES


def work(spark: SparkSession, folder: Path) -> None:
    """A write, a write that fails, and a query whose foreachBatch function writes: captured, and then no more."""
    folder.mkdir()
    three_files(folder / "in")

    def func(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("append").parquet(str(folder / "batches"))

    with attach(spark, sink=RecordingSink(), job_name="app", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        spark.range(2).write.parquet(str(folder / "out"))
        with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
            spark.range(2).write.parquet(str(folder / "out"))
        run_over_files(spark, folder / "in", folder / "cp", func)
        assert capture.flush(FLUSH_SECONDS)


def kept(spark: SparkSession) -> dict[str, int]:
    """References that both sides keep of each other, and of captures, after a collection."""
    gateway: Any = spark.sparkContext._gateway
    session: Any = spark._jsparkSession
    gateway.jvm.System.gc()
    gc.collect()
    objects = [type(each) for each in gc.get_objects()]
    return {
        "listeners of queries": len(session.listenerManager().listListeners()),
        "listeners of streams": len(session.streams().listListeners()),
        "proxies that the JVM may call": len(gateway.gateway_property.pool.dict),
        "objects of the JVM that Python refers to": len(ThreadSafeFinalizer.finalizers),
        "threads": sum(thread.name.startswith("headwater") for thread in threading.enumerate()),
        "captures": objects.count(Engine),
        "applications' queries": objects.count(StreamFlow),
    }


def grown(spark: SparkSession, before: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Counts that have grown, with both values."""
    return {name: (before[name], now) for name, now in kept(spark).items() if now > before[name]}


@pytest.mark.timeout(600)
def test_a_capture_that_has_ended_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """A driver may be captured again and again: a notebook, a server that attaches for each of its jobs."""
    work(spark, tmp_path / "first")
    before = kept(spark)
    for number in range(5):
        work(spark, tmp_path / f"n{number}")
    more: dict[str, tuple[int, int]] = {}

    def nothing_more() -> bool:
        nonlocal more
        more = grown(spark, before)
        return not more

    # The JVM finishes its ends of proxies on a thread of its own, and threads of py4j end a little later.
    with suppress(AssertionError):
        eventually(nothing_more, 60, every=0.5)
    assert more == {}


@contextmanager
def without_collector() -> Iterator[None]:
    """Python lets go of what nothing refers to, not of cycles: in a big process its collector hardly ever comes by."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.timeout(600)
def test_the_jvm_lets_go_of_what_was_captured_without_pythons_collector(spark: SparkSession, tmp_path: Path) -> None:
    """Each reference of Python's keeps its object in the JVM, a query's execution with all its plans."""

    def run(name: str) -> int:
        """Number of references that doing some work once more adds."""
        folder = tmp_path / name
        folder.mkdir()
        three_files(folder / "in")

        def func(frame: DataFrame, batch_id: int) -> None:
            frame.write.mode("append").parquet(str(folder / "batches"))

        def work() -> int:
            for number in range(5):
                frame = spark.range(2).withColumn("n", F.col("id") + number)
                frame.write.mode("overwrite").parquet(str(folder / "out"))
                with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
                    frame.write.parquet(str(folder / "out"))
            cp = folder / f"cp{len(list(folder.iterdir()))}"
            run_over_files(spark, folder / "in", cp, func)
            if running_capture(spark) is not None:
                assert captured.flush(FLUSH_SECONDS)
            return len(ThreadSafeFinalizer.finalizers)

        with without_collector():
            work()
            first = work()
            return work() - first

    alone = run("alone")
    with attach(spark, sink=RecordingSink(), job_name="app", capture_drain_timeout_seconds=FLUSH_SECONDS) as captured:
        # Of PySpark's own objects each of three calls of the function asks for a few.
        assert run("captured") <= alone + 15
