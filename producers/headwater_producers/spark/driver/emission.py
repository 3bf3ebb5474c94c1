"""Emission policies (`emission_policy`) at work: fail a job, or hold it back, until its lineage is durable.

    OverrunWatch  fail_closed, other sinks: stops a query whose intervals don't become durable
    Fence         fail_closed, foreachBatch: holds a micro-batch back until the lineage of the one before is durable
    Emission      one application's policy at work, and its verdict at the end

The fence holds the query's own thread, as the policy asks. Each of its steps can be repeated: it waits for a moment at
a time, and then checks that waiting still makes sense.

For sinks other than foreachBatch Spark reports a micro-batch after its commit, so nothing can hold the next one back.
The watch stops the query when an interval hasn't become durable in time, and reports the micro-batches that were
committed by then.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.common.metrics import shared_metrics
from headwater_producers.spark.common.settings import EmissionPolicy
from headwater_producers.spark.common.sink import DurableSink, EventSink
from headwater_producers.spark.driver.engine import Engine
from headwater_producers.spark.driver.status import CaptureStatus
from headwater_schemas.events import IntervalEvent, Provenance, RunError
from headwater_schemas.ranges import batches_text

logger = logging.getLogger(__name__)


class RunningQueries:
    """Running streaming queries of an application, which an overrun may stop.

    Args:
        sessions: the application's sessions, to find a query in.
        stop_reasons: reason of each stop by capture, by query id: the query's run FAILs with it.
    """

    def __init__(
        self, sessions: Callable[[], Iterable[Any]], stop_reasons: MutableMapping[str, RunError] | None = None
    ) -> None:
        self._sessions = sessions
        self._stop_reasons = stop_reasons if stop_reasons is not None else {}

    def stop(self, overrun: Overrun) -> None:
        """Stop the query of an overrun."""
        self._stop_reasons[overrun.query_id] = RunError(type="LineageNotDurableError", message=str(overrun))
        shared_metrics().overruns.inc()
        query = self._query(overrun.query_id)
        if query is not None:
            query.stop()
        else:
            logger.warning("lineage capture: query %s has ended already and can't be stopped", overrun.query_id)

    def is_stopped(self, query_id: str) -> bool:
        """Return True if a query is known, and has stopped."""
        query = self._query(query_id)
        return query is not None and not query.isActive()

    def _query(self, query_id: str) -> Any:
        """Return a streaming query; None where no session knows it. The session of its own frames doesn't."""
        found = (session._jsparkSession.streams().get(query_id) for session in self._sessions())
        return next((query for query in found if query is not None), None)


class Durability:
    """Durability check of an application's lineage: would all of it survive the process?

    Args:
        engine: source of the events.
        sink: destination of the events.
    """

    def __init__(self, engine: Engine, sink: EventSink) -> None:
        self._engine = engine
        self._durable = durable_sink(sink)

    @property
    def closing(self) -> bool:
        """True if capture is ending, or has ended."""
        return self._engine.ending

    def secure(self, timeout_seconds: float) -> bool:
        """Make everything so far into durable events; False: not in time."""
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
        """Describe the lineage that is lost for good; None: none is."""
        status = self.status(enabled=True)
        if not (status.dropped + status.failed + status.publish_failed + status.lost):
            return None
        return (
            f"{status.dropped} callbacks dropped, {status.failed} not made into events, {status.publish_failed} events "
            f"refused, {status.lost} given up" + (f" ({status.last_error})" if status.last_error else "")
        )

    def missing(self, *, delivered: bool) -> Iterator[str]:
        """Yield the reasons why some lineage isn't durable, when capture has ended; none where all is.

        Args:
            delivered: True if all was made into events, and delivered.
        """
        if (lost := self.lost()) is not None:
            yield lost
        if not self._engine.ended_in_time:
            yield "not all that happened could be looked at in time (capture_drain_timeout_seconds)"
        if self._durable is None and not delivered:
            yield "not all of it was delivered"
        elif self._durable is not None and (at_risk := self._durable.await_durable(0)):
            yield f"{at_risk} events are neither acknowledged by Kafka nor in an outbox"


class Emission:
    """Emission policy of one application at work.

    Args:
        policy: the policy.
        durability: durability of the application's lineage.
        queries: the application's.
        watch: over overruns, which has been started; None: under other policies than `fail_closed`.
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
        self._fence = Fence(durability, durability.lost) if watch is not None else None

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """Hold a foreachBatch function back, on its query's thread; see `Fence.hold`. No other policy holds it.

        Args:
            frame: frame that the function is called with.
            query_id: Spark's id of the query.
            batch_id: id of the micro-batch.
        """
        if self._fence is not None and self._watch is not None:
            self._watch.fence(query_id)
            if batch_id == 0:
                return  # nothing was committed before it
            jvm = frame.sparkSession.sparkContext._jvm
            self._fence.hold(jvm, batch_id, lambda: self._queries.is_stopped(query_id))

    def status(self, *, enabled: bool) -> CaptureStatus:
        """Return the counters so far."""
        return self.durability.status(enabled=enabled)

    def verdict(self, *, delivered: bool) -> LineageNotDurableError | None:
        """Return the error to raise when capture has ended.

        Args:
            delivered: True if all was made into events, and delivered.

        Returns:
            None where the policy doesn't fail jobs, or all lineage is durable.
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
    """Return the sink as a `DurableSink`; None where it doesn't know which events would survive the process."""
    return sink if isinstance(sink, DurableSink) else None


_TAKE_IN_SECONDS: Final = 5.0
_PAUSE_MILLISECONDS: Final = 200
_COMPLAIN_SECONDS: Final = 10.0


class Intake(Protocol):
    """Protocol of `Durability`, as the fence uses it."""

    @property
    def closing(self) -> bool:
        """True if capture is ending, or has ended."""

    def secure(self, timeout_seconds: float) -> bool:
        """Make everything so far into durable events; False: not in time."""


class Fence:
    """Fence that holds foreachBatch functions back.

    Args:
        intake: makes everything so far durable.
        lost: describes the lineage that is lost for good; None: none is.
        clock: monotonic seconds.
    """

    def __init__(
        self, intake: Intake, lost: Callable[[], str | None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._intake = intake
        self._lost = lost
        self._clock = clock

    def hold(self, jvm: Any, batch_id: int, stopped: Callable[[], bool] = lambda: False) -> None:
        """Wait until the lineage of all micro-batches the query has committed is durable, or capture is closed.

        Args:
            jvm: the gateway's. Waiting is done by the JVM's thread of the query, so that `query.stop()` interrupts it
                as it would interrupt Spark itself.
            batch_id: the micro-batch that is to begin.
            stopped: returns True if the query was stopped. Where Python's threads aren't pinned to the JVM's
                (`PYSPARK_PIN_THREAD=false`), the interruption doesn't get here.

        Raises:
            LineageNotDurableError: lineage is lost for good, so that waiting is no use; or the query was stopped.
            Py4JJavaError: the query was stopped meanwhile.
        """
        began = complained = self._clock()
        while not self._intake.closing:
            if (lost := self._lost()) is not None:
                raise LineageNotDurableError(
                    f"micro-batch {batch_id} is not begun: lineage is lost (emission_policy fail_closed): {lost}"
                )
            if self._intake.secure(_TAKE_IN_SECONDS):
                return
            if (now := self._clock()) - complained >= _COMPLAIN_SECONDS:
                complained = now
                logger.warning(
                    "lineage capture: micro-batch %d has waited %d s for its lineage to become durable "
                    "(emission_policy fail_closed); is the outbox writable, or Kafka reachable?",
                    batch_id,
                    now - began,
                )
            jvm.java.lang.Thread.sleep(_PAUSE_MILLISECONDS)
            if stopped():
                raise LineageNotDurableError(f"micro-batch {batch_id} is not begun: the query was stopped")


_LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Overrun:
    """Overrun: micro-batches that were committed without durable lineage.

    Attributes:
        query_id: Spark's id of their query.
        name: the query's name.
        first_batch, last_batch: the first and the last of them.
    """

    query_id: str
    name: str | None
    first_batch: int
    last_batch: int

    def __str__(self) -> str:
        """Describe the overrun in a sentence."""
        query = f"query {self.name}" if self.name else f"query {self.query_id}"
        verb = "were" if self.last_batch > self.first_batch else "was"
        batches = batches_text(self.first_batch, self.last_batch)
        return f"{query}: micro-{batches} {verb} committed, and the lineage isn't durable"

    def joined(self, other: Overrun) -> Overrun:
        """Join with another overrun of the same query."""
        first, last = min(self.first_batch, other.first_batch), max(self.last_batch, other.last_batch)
        return replace(self, first_batch=first, last_batch=last)


class OverrunWatch:
    """Watch that stops queries whose intervals don't become durable in time, on a thread of its own.

    Args:
        sink: destination of the intervals.
        wait_seconds: longest time to durability of an interval.
        stop: stops the query of an overrun.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        sink: DurableSink | None,
        *,
        wait_seconds: float,
        stop: Callable[[Overrun], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sink = sink
        self._wait_seconds = wait_seconds
        self._stop = stop
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, Overrun]] = []
        self._refused: list[Overrun] = []
        self._fenced: set[str] = set()
        self._stopped: dict[str, Overrun] = {}
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="headwater-emission", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """End the watch: no query is stopped any more."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def fence(self, query_id: str) -> None:
        """Exclude a query that a fence holds back, and that can't overrun."""
        self._fenced.add(query_id)

    def published(self, interval: IntervalEvent) -> None:
        """Watch an interval that the sink has accepted."""
        self._watch(interval, refused=False)

    def refused(self, interval: IntervalEvent) -> None:
        """Record an interval that the sink refused: it never will be durable."""
        self._watch(interval, refused=True)

    @property
    def overruns(self) -> tuple[Overrun, ...]:
        """Overruns of the queries that were stopped."""
        with self._changed:
            return tuple(self._stopped.values())

    def _watch(self, interval: IntervalEvent, *, refused: bool) -> None:
        # Reconstructed micro-batches were committed by an earlier run.
        if interval.query_id in self._fenced or interval.provenance is not Provenance.OBSERVED:
            return
        batches = [entry.batch_id for entry in interval.entries]
        span = Overrun(interval.query_id, interval.query_name, min(batches), max(batches))
        with self._changed:
            if (stopped := self._stopped.get(span.query_id)) is not None:
                self._stopped[span.query_id] = stopped.joined(span)
            elif refused:
                self._refused.append(span)
            else:
                self._waiting.append((self._clock(), span))
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ending or self._waiting or self._refused)
                if self._ending:
                    return
            try:
                for span in self._overdue():
                    self._overran(span)
            except Exception:
                logger.exception("lineage capture: unexpected error in the emission policy's check; retrying")

    def _overdue(self) -> list[Overrun]:
        """Forget the intervals that are durable by now; return those that are late."""
        with self._changed:
            asked = len(self._waiting)
        # Everything accepted before the question is durable if none of it is at risk.
        durable = self._sink is None or self._sink.await_durable(min(_LOOK_SECONDS, self._wait_seconds)) == 0
        with self._changed:
            if durable:
                del self._waiting[:asked]
            latest = self._clock() - self._wait_seconds
            late = {span.query_id for at, span in self._waiting if at <= latest}
            overdue = self._refused + [span for _, span in self._waiting if span.query_id in late]
            self._waiting = [(at, span) for at, span in self._waiting if span.query_id not in late]
            self._refused = []
            return overdue

    def _overran(self, span: Overrun) -> None:
        with self._changed:
            earlier = self._stopped.get(span.query_id)
            self._stopped[span.query_id] = earlier.joined(span) if earlier is not None else span
        if earlier is None:
            logger.error("lineage capture stops a streaming query (emission_policy fail_closed): %s", span)
            self._stop(span)
