"""Emission: one application's policy at work."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.emission.fence import Fence
from headwater_producers.spark.emission.overrun import OverrunWatch
from headwater_producers.spark.emission.policy import EmissionPolicy
from headwater_producers.spark.errors import LineageNotDurableError
from headwater_producers.spark.metrics import shared_metrics
from headwater_producers.spark.sink import DurableSink, KeepingSink
from headwater_schemas.events import Provenance, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater_producers.spark.emission.overrun import Overrun
    from headwater_producers.spark.engine import Engine
    from headwater_producers.spark.settings import CaptureSettings
    from headwater_producers.spark.sink import EventSink
    from headwater_producers.spark.status import CaptureStatus
    from headwater_schemas.events import LineageEvent

logger = logging.getLogger(__name__)


class Emission:
    """The sink that the engine publishes to, and what the policy makes of how that goes.

    Args:
        settings: of the capture.
        sink: where events really go.
        sessions: the application's sessions, to find a query in.
    """

    def __init__(self, settings: CaptureSettings, sink: EventSink, sessions: Callable[[], Iterable[Any]]) -> None:
        self.policy = settings.emission_policy
        self._sink = sink
        self._durable = sink if isinstance(sink, DurableSink) else None
        self._sessions = sessions
        self._metrics = shared_metrics()
        self._engine: Engine | None = None
        self._fence: Fence | None = None
        self._watch: OverrunWatch | None = None
        if self.policy is EmissionPolicy.FAIL_CLOSED:
            self._watch = OverrunWatch(self._durable, wait_seconds=settings.emission_wait_seconds, stop=self._stop)

    def start(self, engine: Engine) -> None:
        """The engine runs."""
        self._engine = engine
        engine.emission = self
        if self._watch is not None:
            self._watch.start()
            self._fence = Fence(self, self._lost)

    # The engine's sink

    def publish(self, event: LineageEvent) -> None:
        """Passes an event on."""
        interval = event.interval_event
        try:
            self._sink.publish(event)
        except Exception:
            self._metrics.refused.inc()
            if self._watch is not None and interval is not None:
                self._watch.refused(interval)
            raise
        self._metrics.published.inc()
        if interval is None:
            return
        if interval.provenance is Provenance.RECONCILED:
            self._metrics.reconciled.inc(len(interval.entries))
        elif self._watch is not None:
            self._watch.published(interval)

    def flush(self, timeout_seconds: float) -> int:
        """Waits for delivery."""
        return self._sink.flush(timeout_seconds)

    def flush_while_moving(self, timeout_seconds: float, *, stall_seconds: float) -> int:
        """Waits for delivery; see `KeepingSink`. A sink that keeps nothing is waited for as long as by `flush`."""
        if isinstance(self._sink, KeepingSink):
            return self._sink.flush_while_moving(timeout_seconds, stall_seconds=stall_seconds)
        return self._sink.flush(timeout_seconds)

    def close(self) -> None:
        """Nothing more comes."""
        if self._watch is not None:
            self._watch.end()
        self._sink.close()

    # The query's thread

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """Called before a foreachBatch function; see `Fence.hold`. Does nothing under other policies.

        Args:
            frame: that it is called with.
            query_id: Spark's id of the query.
            batch_id: of the micro-batch.
        """
        if self._fence is not None and self._watch is not None:
            self._watch.fence(query_id)
            if batch_id == 0:
                return  # nothing was committed before it
            jvm = frame.sparkSession.sparkContext._jvm
            self._fence.hold(jvm, batch_id, lambda: self._is_stopped(query_id))

    @property
    def closing(self) -> bool:
        """Whether capture ends, or has ended."""
        return self._engine is None or self._engine.ending

    def secure(self, timeout_seconds: float) -> bool:
        """Has all that has happened made into events and durable; False: not in time."""
        if self._engine is None:
            return False
        if self._durable is None:
            return self._engine.flush(timeout_seconds)
        return self._engine.take_in(timeout_seconds) and self._durable.await_durable(timeout_seconds) == 0

    @property
    def notes_folder(self) -> Path | None:
        """Folder of the notes on each query's last emitted micro-batch: beside the outbox; None: there is none."""
        outbox = self._durable.outbox if self._durable is not None else None
        return Path(outbox.folder) / "queries" if outbox is not None else None

    # Afterwards

    def status(self, status: CaptureStatus) -> CaptureStatus:
        """A status, with what the sink knows."""
        if self._durable is None:
            return status
        return replace(status, lost=self._durable.lost, outbox=self._durable.outbox)

    def verdict(self, *, delivered: bool) -> LineageNotDurableError | None:
        """What is to be raised when capture has ended.

        Args:
            delivered: whether all was made into events, and delivered.

        Returns:
            None: nothing, since the policy doesn't ask for it, or all is durable.
        """
        if not self.policy.fails or self._engine is None:
            return None
        reasons = [str(overrun) for overrun in self._overruns]
        if (lost := self._lost()) is not None:
            reasons.append(lost)
        if not self._engine.ended_in_time:
            reasons.append("not all that happened could be looked at in time (capture_drain_timeout_seconds)")
        if self._durable is None and not delivered:
            reasons.append("not all of it was delivered")
        elif self._durable is not None and (at_risk := self._durable.await_durable(0)):
            reasons.append(f"{at_risk} events are neither acknowledged by Kafka nor in an outbox")
        if not reasons:
            return None
        return LineageNotDurableError(
            f"lineage isn't durable (emission_policy {self.policy}): {'; '.join(reasons)}. "
            "The data is written, and stays"
        )

    @property
    def _overruns(self) -> tuple[Overrun, ...]:
        return self._watch.overruns if self._watch is not None else ()

    def _lost(self) -> str | None:
        status = self.status(self._engine.status(enabled=True)) if self._engine is not None else None
        if status is None or not (status.dropped + status.failed + status.publish_failed + status.lost):
            return None
        return (
            f"{status.dropped} callbacks dropped, {status.failed} not made into events, {status.publish_failed} events "
            f"refused, {status.lost} given up" + (f" ({status.last_error})" if status.last_error else "")
        )

    def _stop(self, overrun: Overrun) -> None:
        if self._engine is not None:
            self._engine.blame(overrun.query_id, RunError(type="LineageNotDurableError", message=str(overrun)))
        self._metrics.overruns.inc()
        query = self._query(overrun.query_id)
        if query is not None:
            query.stop()
        else:
            logger.warning("lineage capture: query %s has ended already and can't be stopped", overrun.query_id)

    def _is_stopped(self, query_id: str) -> bool:
        query = self._query(query_id)
        return query is not None and not query.isActive()

    def _query(self, query_id: str) -> Any:
        """A query that runs; None: it isn't known to any session. The one that its frames bear doesn't know it."""
        found = (session._jsparkSession.streams().get(query_id) for session in self._sessions())
        return next((query for query in found if query is not None), None)
