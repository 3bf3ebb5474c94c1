"""Engine: one application's capture while it runs. See `wiring` for how it is put together."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.events.application import application_ended, application_started
from headwater_producers.spark.metrics import shared_metrics
from headwater_producers.spark.run_all import run_all
from headwater_producers.spark.runtime.signals import Attached, BatchFunctionCalled, QueryStarted, QueryTerminated
from headwater_producers.spark.runtime.weights import weigh
from headwater_producers.spark.runtime.worker import Order
from headwater_producers.spark.status import CaptureStatus
from headwater_producers.spark.streaming.gaps import Gaps

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.kafka.end_offsets import KafkaEndOffsets
    from headwater_producers.spark.emission import Emission
    from headwater_producers.spark.events.context import EventContext
    from headwater_producers.spark.events.dedup_cache import DedupCache
    from headwater_producers.spark.runtime.dispatch import Dispatch
    from headwater_producers.spark.runtime.inbox import Inbox
    from headwater_producers.spark.runtime.signals import Signal
    from headwater_producers.spark.runtime.worker import Worker
    from headwater_producers.spark.settings import CaptureSettings
    from headwater_producers.spark.streaming.flow import StreamFlow
    from headwater_schemas.events import LineageEvent, RunError, RunEventType

logger = logging.getLogger(__name__)


class Engine:
    """Takes signals, and makes events of them on its worker's thread.

    Args:
        context: of the application.
        settings: of the capture.
        inbox: where signals wait.
        worker: who handles them; not started yet.
        streams: the application's streaming queries.
        end_offsets: reads the end offsets of the topics they write.
        gaps: their micro-batches that can't be recovered any more.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        settings: CaptureSettings,
        inbox: Inbox[Signal | Order],
        worker: Worker,
        streams: StreamFlow,
        end_offsets: KafkaEndOffsets,
        gaps: Gaps | None = None,
    ) -> None:
        self.context = context
        self.settings = settings
        self._inbox = inbox
        self._worker = worker
        self._streams = streams
        self._end_offsets = end_offsets
        self._gaps = gaps or Gaps()
        self._started_at = datetime.now(UTC)
        self._logged_drops = False
        self._end: Order | None = None
        self.emission: Emission | None = None

    def start(self, handler: Dispatch, dedup: DedupCache) -> None:
        """Starts the worker, whose first act is the START of the application's run."""
        for event in application_started(self.context, self._started_at, dedup):
            self._worker.emit(event)
        self._worker.start(handler, self._streams)

    def found(self, session: Any) -> None:
        """Has the queries tracked that run in a session already."""
        self._inbox.put_urgent(Attached(session, datetime.now(UTC)))

    def offer(self, signal: Signal) -> None:
        """Takes a signal, or drops it where too many wait. Never waits.

        The start and end of a query are never dropped: nothing that comes later reports them. Nor is the call of a
        foreachBatch function: its writes would be taken for those of the micro-batch before.
        """
        always = isinstance(signal, BatchFunctionCalled | QueryStarted | QueryTerminated)
        # Mostly the worker takes it at once, whatever it weighs.
        weight = weigh(signal) if self._inbox.waiting else 0
        if self._inbox.put(signal, weight=weight, always=always):
            return
        shared_metrics().dropped.inc()
        if not self._logged_drops:
            self._logged_drops = True
            logger.warning(
                "lineage capture: the queue is full (%d callbacks, about %d MiB); new ones are dropped. Micro-batches "
                "are backfilled from the checkpoint later, batch writes are not. Raise capture_queue_size or "
                "capture_queue_max_bytes",
                self._inbox.waiting,
                self._inbox.bytes >> 20,
            )

    @property
    def captures_reads(self) -> bool:
        """Whether queries that only read are captured."""
        return self.settings.capture_reads

    def flush(self, timeout_seconds: float | None = None) -> bool:
        """Waits until everything that has happened so far is delivered; False: the time was over first."""
        return self._worker.carry_out(Order(self._deadline(timeout_seconds)))

    def take_in(self, timeout_seconds: float) -> bool:
        """Has everything that has happened so far made into events and published; False: not in time."""
        order = Order(self._deadline(timeout_seconds), delivers=False)
        return self._worker.carry_out(order) and order.taken_in

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """On the query's thread, before a foreachBatch function: waits where the emission policy requires it."""
        if self.emission is not None:
            self.emission.hold(frame, query_id, batch_id)

    def finish(self, kind: RunEventType, error: RunError | None = None, *, session_ends: bool) -> bool:
        """Ends the application's run, delivers everything, and ends the worker.

        Args:
            kind: how the run ended.
            error: why, if it failed.
            session_ends: whether the session goes down with it: then queries that still run are aborted.

        Returns:
            Whether everything was delivered.
        """

        def end() -> None:
            now = datetime.now(UTC)
            run_all(
                (
                    lambda: self._streams.abort_all(error, now) if session_ends else None,
                    lambda: self._worker.emit(self._ended(kind, error, now)),
                    self._end_offsets.close,
                )
            )

        self._end = Order(
            self._deadline(None), action=end, last=True, stall_seconds=self.settings.capture_stall_seconds
        )
        delivered = self._worker.carry_out(self._end)
        if not self.ended_in_time:
            logger.warning(
                "lineage capture: stopped after capture_drain_timeout_seconds with %d callbacks unprocessed",
                self._inbox.waiting,
            )
        return delivered

    def _ended(self, kind: RunEventType, error: RunError | None, now: datetime) -> LineageEvent:
        return application_ended(
            self.context,
            kind,
            self._started_at,
            now,
            error,
            dropped=self._inbox.dropped,
            failed=self._worker.tally.failed,
        )

    def blame(self, query_id: str, error: RunError) -> None:
        """Records why a query is about to be stopped: its run FAILs by that."""
        self._streams.blame(query_id, error)

    @property
    def ending(self) -> bool:
        """Whether `finish` was called."""
        return self._end is not None

    @property
    def ended_in_time(self) -> bool:
        """Whether `finish` could look at everything that had happened."""
        return self._end is not None and self._end.done.is_set() and self._end.taken_in

    def await_end(self) -> None:
        """Waits for a `finish` that is under way.

        For a signal handler that has interrupted it on the same thread: so it takes no lock.
        """
        while (end := self._end) is not None and not end.done.is_set() and end.remaining():
            time.sleep(0.02)

    def status(self, *, enabled: bool) -> CaptureStatus:
        """The counts so far."""
        tally = self._worker.tally
        return CaptureStatus(
            enabled=enabled,
            queued=self._inbox.waiting,
            queued_bytes=self._inbox.bytes,
            received=self._inbox.received,
            dropped=self._inbox.dropped,
            failed=tally.failed,
            published=tally.published,
            publish_failed=tally.publish_failed,
            last_error=tally.last_error,
            gaps=self._gaps.found,
        )

    def _deadline(self, timeout_seconds: float | None) -> float:
        seconds = self.settings.capture_drain_timeout_seconds if timeout_seconds is None else timeout_seconds
        return time.monotonic() + seconds
