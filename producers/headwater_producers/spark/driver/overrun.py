"""Overrun: micro-batches that a query commits without durable lineage, under the emission policy `fail_closed`.

For sinks other than foreachBatch Spark reports a micro-batch after its commit, so nothing can hold the next one back.
The watch stops the query when an interval hasn't become durable in time, and reports the micro-batches that were
committed by then.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater_producers.spark.common.metrics import shared_metrics
from headwater_producers.spark.common.sink import DurableSink
from headwater_schemas.events import IntervalEvent, Provenance, RunError
from headwater_schemas.ranges import batches_text

logger = logging.getLogger(__name__)


_LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Overrun:
    """Overrun: micro-batches that were committed without durable lineage."""

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


class RunningQueries:
    """Running streaming queries of an application, which an overrun may stop.

    Args:
        stop_reasons: for each query id, the reason why capture stopped the query: its run ends with FAIL and this
            error.
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
        """Return a streaming query from the session that it was started in; None if no session has it."""
        found = (session._jsparkSession.streams().get(query_id) for session in self._sessions())
        return next((query for query in found if query is not None), None)


class OverrunWatch:
    """Watch, on a separate thread, that stops queries whose intervals don't become durable in time.

    Args:
        wait_seconds: longest time that an interval may take to become durable.
    """

    def __init__(self, sink: DurableSink | None, *, wait_seconds: float, stop: Callable[[Overrun], None]) -> None:
        self._sink = sink
        self._wait_seconds = wait_seconds
        self._stop = stop
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
        """End the watch: no further query is stopped."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def fence(self, query_id: str) -> None:
        """Exclude a query that a fence holds back: it can't overrun."""
        self._fenced.add(query_id)

    @property
    def overruns(self) -> tuple[Overrun, ...]:
        """Overruns of the queries that were stopped."""
        with self._changed:
            return tuple(self._stopped.values())

    def watch(self, interval: IntervalEvent, *, refused: bool = False) -> None:
        """Watch an interval that the sink has accepted or `refused`: a refused interval never becomes durable."""
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
                self._waiting.append((time.monotonic(), span))
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
        """Forget the intervals that have become durable; return the late ones."""
        with self._changed:
            asked = len(self._waiting)
        # If the sink has no event at risk, everything that it accepted before this call is durable.
        durable = self._sink is None or self._sink.await_durable(min(_LOOK_SECONDS, self._wait_seconds)) == 0
        with self._changed:
            if durable:
                del self._waiting[:asked]
            latest = time.monotonic() - self._wait_seconds
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
