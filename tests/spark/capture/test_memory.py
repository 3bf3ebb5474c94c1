"""Plans that wait don't fill the driver: their number is bounded by what they weigh."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.listeners import COLUMN_BYTES
from headwater_producers.spark.events.application import CAPTURE_FACET
from support.capture import FLUSH_SECONDS, RecordingSink, body

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = 500
ROUNDS = 3
EACH = 3


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is closed the worker stands still, as behind a plan that takes long."""
    opened = threading.Event()
    handle = Dispatch.handle
    monkeypatch.setattr(Dispatch, "handle", lambda self, signal: opened.wait(600) and handle(self, signal))
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


@pytest.mark.timeout(600)
def test_heavy_plans_do_not_pile_up(spark: SparkSession, gate: threading.Event) -> None:
    limit = 4 * COLUMNS * COLUMN_BYTES
    sink = RecordingSink()
    with attach(
        spark,
        sink=sink,
        job_name="app",
        capture_queue_max_bytes=limit,
        capture_drain_timeout_seconds=FLUSH_SECONDS,
    ) as capture:
        used, queued = [], []
        for _ in range(ROUNDS):
            for _ in range(EACH):
                write(spark)
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(60_000)
            used.append(heap(spark))
            queued.append(capture.status().queued)
            assert capture.status().queued_bytes <= limit
        status = capture.status()
        assert status.dropped > 0
        assert status.dropped + status.received == ROUNDS * EACH
        # Once the room is taken, nothing more of a plan stays; if it did, a round would keep three times this: a plan
        # has three operators. Some is Spark's own, which shows the last executions, whoever listens.
        assert queued[1] == queued[2]
        assert used[2] - used[1] < EACH * COLUMNS * COLUMN_BYTES
        gate.set()
        assert capture.flush(FLUSH_SECONDS)
        assert capture.status().queued_bytes == 0
    assert capture.status().failed == 0, capture.status().last_error
    [facet] = [json.loads(body(event).run_facets[CAPTURE_FACET]) for event in sink.runs("app")[-1:]]
    assert facet["dropped"] == status.dropped, "the application's run says that lineage of it is missing"
