"""Emission policies (`emission_policy`): failing a job, or holding it back, until its lineage is durable.

    Fence         fail_closed, foreachBatch: holds a micro-batch back until the previous one's lineage is durable
    OverrunWatch  fail_closed, other sinks: stops a query whose intervals don't become durable; see `overrun`
    Emission      applies one application's policy, and gives the verdict at the end

The fence holds the query's own thread, as the policy asks. It waits in short steps, and checks after each that waiting
still makes sense.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.common.settings import EmissionPolicy
from headwater_producers.spark.common.sink import DurableSink, EventSink
from headwater_producers.spark.driver.engine import Engine
from headwater_producers.spark.driver.overrun import OverrunWatch, RunningQueries
from headwater_producers.spark.driver.status import CaptureStatus

logger = logging.getLogger(__name__)


class Durability:
    """Durability check of an application's lineage: would all of it survive the process?"""

    def __init__(self, engine: Engine, sink: EventSink) -> None:
        self._engine = engine
        self._durable = durable_sink(sink)

    @property
    def closing(self) -> bool:
        """True if capture is ending, or has ended."""
        return self._engine.ending

    def secure(self, timeout_seconds: float) -> bool:
        """Emit all work so far and make it durable; False: not in time."""
        if self._durable is None:
            return self._engine.flush(timeout_seconds)
        return self._engine.take_in(timeout_seconds) and self._durable.await_durable(timeout_seconds) == 0

    def status(self, *, enabled: bool) -> CaptureStatus:
        """Return the counters of the engine and the sink so far."""
        status = self._engine.status(enabled=enabled)
        if self._durable is None:
            return status
        return replace(status, lost=self._durable.lost, outbox=self._durable.outbox)

    def lost(self) -> str | None:
        """Describe the lineage that is lost for good; None: nothing is lost."""
        status = self.status(enabled=True)
        if not (status.dropped + status.failed + status.publish_failed + status.lost):
            return None
        return (
            f"{status.dropped} callbacks dropped, {status.failed} not made into events, {status.publish_failed} events "
            f"refused, {status.lost} given up" + (f" ({status.last_error})" if status.last_error else "")
        )

    def missing(self, *, delivered: bool) -> Iterator[str]:
        """Yield the reasons why some lineage isn't durable after the end of capture; empty if all is durable.

        Args:
            delivered: True if all callbacks became events, and all events were delivered.
        """
        if (lost := self.lost()) is not None:
            yield lost
        if not self._engine.ended_in_time:
            yield "not all callbacks were processed in time (capture_drain_timeout_seconds)"
        if self._durable is None and not delivered:
            yield "not all lineage was delivered"
        elif self._durable is not None and (at_risk := self._durable.await_durable(0)):
            yield f"{at_risk} events are neither acknowledged by Kafka nor in an outbox"


class Emission:
    """Emission policy of one application.

    Args:
        watch: started watch over overruns; None under other policies than `fail_closed`.
    """

    def __init__(
        self,
        policy: EmissionPolicy,
        durability: Durability,
        queries: RunningQueries,
        watch: OverrunWatch | None = None,
    ) -> None:
        self.policy = policy
        self.durability = durability
        self._queries = queries
        self._watch = watch
        self._fence = Fence(durability) if watch is not None else None

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """Hold a foreachBatch function back, on its query's thread, if the policy asks for it; see `Fence.hold`."""
        if self._fence is not None and self._watch is not None:
            self._watch.fence(query_id)
            if batch_id == 0:
                return  # no micro-batch was committed before it
            jvm = frame.sparkSession.sparkContext._jvm
            self._fence.hold(jvm, batch_id, lambda: self._queries.is_stopped(query_id))

    def verdict(self, *, delivered: bool) -> LineageNotDurableError | None:
        """Return the error to raise when capture has ended.

        Args:
            delivered: True if all callbacks became events, and all events were delivered.

        Returns:
            None if the policy doesn't fail jobs, or all lineage is durable.
        """
        if not self.policy.fails:
            return None
        overruns = self._watch.overruns if self._watch is not None else ()
        reasons = [*map(str, overruns), *self.durability.missing(delivered=delivered)]
        if not reasons:
            return None
        return LineageNotDurableError(
            f"lineage isn't durable (emission_policy {self.policy}): {'; '.join(reasons)}. "
            "The data is written, and stays"
        )


def durable_sink(sink: EventSink) -> DurableSink | None:
    """Return the sink as a `DurableSink`; None if it doesn't know which events would survive the process."""
    return sink if isinstance(sink, DurableSink) else None


_TAKE_IN_SECONDS: Final = 5.0
_PAUSE_MILLISECONDS: Final = 200
_COMPLAIN_SECONDS: Final = 10.0


class Fence:
    """Fence that holds foreachBatch functions back.

    Args:
        durability: makes all events so far durable.
        clock: monotonic seconds.
    """

    def __init__(self, durability: Durability, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._durability = durability
        self._clock = clock

    def hold(self, jvm: Any, batch_id: int, stopped: Callable[[], bool] = lambda: False) -> None:
        """Wait until the lineage of all micro-batches the query has committed is durable, or capture is closed.

        Args:
            jvm: the gateway's JVM view. The query's JVM thread does the waiting, so that `query.stop()` interrupts it
                as it would interrupt Spark itself.
            stopped: returns True if the query was stopped. If Python's threads aren't pinned to the JVM's
                (`PYSPARK_PIN_THREAD=false`), the interruption doesn't reach this code.

        Raises:
            LineageNotDurableError: lineage is lost for good, so that waiting is useless; or the query was stopped.
            Py4JJavaError: the query was stopped meanwhile.
        """
        began = complained = self._clock()
        while not self._durability.closing:
            if (lost := self._durability.lost()) is not None:
                raise LineageNotDurableError(
                    f"micro-batch {batch_id} is not begun: lineage is lost (emission_policy fail_closed): {lost}"
                )
            if self._durability.secure(_TAKE_IN_SECONDS):
                return
            if (now := self._clock()) - complained >= _COMPLAIN_SECONDS:
                complained = now
                logger.warning(
                    "lineage capture: micro-batch %d has waited %d s for the lineage of earlier micro-batches to "
                    "become durable (emission_policy fail_closed); is the outbox writable, or Kafka reachable?",
                    batch_id,
                    now - began,
                )
            jvm.java.lang.Thread.sleep(_PAUSE_MILLISECONDS)
            if stopped():
                raise LineageNotDurableError(f"micro-batch {batch_id} is not begun: the query was stopped")
