"""Engine: one application's capture while it runs, and its worker, the only thread that builds and emits lineage.

The worker's loop takes a signal, builds its events and publishes them. Between signals, and at least four times a
second, it checks waiting work: starts whose plan wasn't readable yet, micro-batches whose writes weren't all reported.
The worker also wakes when a buffered interval is due.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from headwater_producers.spark.common.metrics import shared_metrics
from headwater_producers.spark.common.run_all import run_all
from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.common.sink import EventSink, KeepingSink
from headwater_producers.spark.connectors.kafka.topic_states import KafkaTopicStates
from headwater_producers.spark.driver import metrics_server
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.listeners import Inbox
from headwater_producers.spark.driver.overrun import OverrunWatch
from headwater_producers.spark.driver.signals import Attached, Signal
from headwater_producers.spark.driver.status import CaptureStatus
from headwater_producers.spark.events.application import UncheckedWrites, application_ended, application_started
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.run_error import first_line
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.jvm.references import own_thread
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.gaps import Gaps
from headwater_producers.spark.streaming.query_metrics import shared_metrics as query_metrics
from headwater_schemas.events import EmissionReason, LineageEvent, Provenance, RunError, RunEventType
from headwater_schemas.redaction import redact

logger = logging.getLogger(__name__)


class Engine:
    """Engine of one application's capture: accepts signals, and emits their events on its worker's thread.

    Args:
        worker: worker that handles signals; not started yet.
        unchecked: writes of the application without a check of their inputs.
        gaps: micro-batches that can no longer be recovered.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        settings: CaptureSettings,
        inbox: Inbox[Signal | DrainRequest],
        worker: Worker,
        publisher: EventPublisher,
        streams: StreamFlow,
        topic_states: KafkaTopicStates,
        unchecked: UncheckedWrites,
        gaps: Gaps | None = None,
    ) -> None:
        self.context = context
        self.settings = settings
        self._inbox = inbox
        self._worker = worker
        self._publisher = publisher
        self._streams = streams
        self._topic_states = topic_states
        self._unchecked = unchecked
        self._gaps = gaps or Gaps()
        self._started_at = datetime.now(UTC)
        self._end: DrainRequest | None = None

    def start(self, dedup: DedupCache) -> None:
        """Emit the START of the application's run, then start the worker."""
        for event in application_started(self.context, self._started_at, dedup):
            self._publisher.emit(event)
        self._worker.start()

    def found(self, session: Any) -> None:
        """Enqueue the tracking of the queries that already run in a session."""
        self._inbox.put_urgent(Attached(session, datetime.now(UTC)))

    def flush(self, timeout_seconds: float | None = None) -> bool:
        """Wait until all events so far are delivered; False: the time was over first."""
        return self._worker.carry_out(DrainRequest(self._deadline(timeout_seconds)))

    def take_in(self, timeout_seconds: float) -> bool:
        """Publish the events of all signals so far; False: not in time."""
        request = DrainRequest(self._deadline(timeout_seconds), delivers=False)
        return self._worker.carry_out(request) and request.taken_in

    def finish(self, kind: RunEventType, error: RunError | None = None, *, session_ends: bool) -> bool:
        """End the application's run, deliver everything, and end the worker.

        Args:
            session_ends: True if the session ends, too: running queries are then aborted.

        Returns:
            True if everything was delivered.
        """

        def end() -> None:
            now = datetime.now(UTC)
            run_all(
                (
                    lambda: self._streams.abort_all(error, now) if session_ends else None,
                    lambda: self._publisher.emit(self._ended(kind, error, now)),
                    self._topic_states.close,
                )
            )

        self._end = DrainRequest(
            self._deadline(None), action=end, last=True, stall_seconds=self.settings.capture_stall_seconds
        )
        delivered = self._worker.carry_out(self._end)
        # Before the push: otherwise a gateway would show a query's last micro-batch forever.
        query_metrics().forget(self._streams)
        if self.settings.metrics_pushgateway is not None:
            metrics_server.push(self.settings.metrics_pushgateway, self.context.app_name)
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
            unchecked=self._unchecked,
            dropped=self._inbox.dropped,
            failed=self._publisher.tally.failed,
        )

    @property
    def ending(self) -> bool:
        """True once `finish` was called."""
        return self._end is not None

    @property
    def ended_in_time(self) -> bool:
        """True if `finish` could process everything that had happened."""
        return self._end is not None and self._end.done.is_set() and self._end.taken_in

    def await_end(self) -> None:
        """Wait for a running `finish`.

        This method takes no lock: a signal handler may call it on the thread whose engine code the signal interrupted.
        """
        while (end := self._end) is not None and not end.done.is_set() and end.remaining():
            time.sleep(0.02)

    def status(self, *, enabled: bool) -> CaptureStatus:
        """Return the counters so far."""
        tally = self._publisher.tally
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


_IDLE_SECONDS: Final = 1.0
# Delay while something waits for more callbacks of Spark.
_WATCHFUL_SECONDS: Final = 0.05
_CARE_SECONDS: Final = 0.25
_MAX_ERROR_CHARS: Final = 500


@dataclass(slots=True)
class DrainRequest:
    """Request to the worker: process all signals so far, then run an action, then deliver.

    Attributes:
        deadline: monotonic time at which all waiting ends.
        last: True if the worker ends after this request.
        delivers: True to wait for the sink.
        stall_seconds: time without an acknowledgement by Kafka after which the last request stops waiting for a sink
            that keeps its events.
        done: set when the request has been carried out.
        taken_in: True if everything so far was processed in time.
        undelivered: number of events that the sink couldn't deliver in time; None before delivery.
        failed: number of errors during the request.
    """

    deadline: float
    action: Callable[[], None] | None = None
    last: bool = False
    delivers: bool = True
    stall_seconds: float = math.inf
    done: threading.Event = field(default_factory=threading.Event)
    taken_in: bool = False
    undelivered: int | None = None
    failed: int = 0

    def remaining(self) -> float:
        """Return the seconds left."""
        return max(0.0, self.deadline - time.monotonic())


@dataclass(slots=True)
class PublishTally:
    """Counters of the worker."""

    failed: int = 0
    published: int = 0
    publish_failed: int = 0
    last_error: str | None = None


class EventPublisher:
    """Publisher of events to the sink, with counters of accepted, refused and failed events.

    Args:
        watch: watch over emitted intervals, if the emission policy needs it.
    """

    def __init__(self, sink: EventSink, watch: OverrunWatch | None = None) -> None:
        self.tally = PublishTally()
        self._sink = sink
        self._watch = watch
        self._metrics = shared_metrics()
        self._logged: set[str] = set()

    def emit(self, event: LineageEvent) -> bool:
        """Publish an event; False if the sink refuses the event, and the refusal is counted."""
        interval = event.interval_event
        try:
            self._sink.publish(event)
        except Exception as error:
            self._metrics.refused.inc()
            if self._watch is not None and interval is not None:
                self._watch.watch(interval, refused=True)
            self.tally.publish_failed += 1
            self._note("publishing", error)
            return False
        self._metrics.published.inc()
        self.tally.published += 1
        if interval is not None and interval.provenance is Provenance.RECONCILED:
            self._metrics.reconciled.inc(len(interval.entries))
        elif interval is not None:
            self._metrics.observed.inc(len(interval.entries))
            if self._watch is not None:
                self._watch.watch(interval)
        return True

    def flush(self, timeout_seconds: float, *, stall_seconds: float | None = None) -> int:
        """Wait for delivery.

        Args:
            timeout_seconds: longest time to wait.
            stall_seconds: time without an acknowledgement by Kafka after which waiting for a sink that keeps its events
                ends; None: no limit.

        Returns:
            Number of undelivered events.
        """
        if stall_seconds is not None and isinstance(self._sink, KeepingSink):
            return self._sink.flush_while_moving(timeout_seconds, stall_seconds=stall_seconds)
        return self._sink.flush(timeout_seconds)

    def close(self) -> None:
        """Close after the last event."""
        if self._watch is not None:
            self._watch.end()
        self._sink.close()

    def failed(self, sentence: str) -> None:
        """Count an unreadable part of a callback whose other parts became events; log the first of each kind."""
        self.tally.failed += 1
        self._metrics.failed.inc()
        self.tally.last_error = sentence
        if sentence not in self._logged:
            self._logged.add(sentence)
            logger.warning("lineage capture: %s (further failures of this kind are only counted)", sentence)

    def guard(self, what: str, action: Callable[[], None]) -> None:
        """Run an action; count its error, and log the first of a kind."""
        try:
            action()
        except Exception as error:
            self.tally.failed += 1
            self._metrics.failed.inc()
            self._note(what, error)

    def _note(self, what: str, error: Exception) -> None:
        text = redact(f"{what}: {type(error).__name__}: {first_line(error)}", max_chars=_MAX_ERROR_CHARS)
        self.tally.last_error = text
        kind = f"{what} {type(error).__name__}"
        if kind not in self._logged:
            self._logged.add(kind)
            logger.warning("lineage capture: %s (further errors of this kind are only counted)", text)
            logger.debug("lineage capture: %s", what, exc_info=error)


class Worker:
    """Worker thread of one capture.

    Args:
        handler: builds events from signals.
        streams: the application's streaming queries.
    """

    def __init__(
        self,
        inbox: Inbox[Signal | DrainRequest],
        publisher: EventPublisher,
        bus: ListenerBus,
        handler: Dispatch,
        streams: StreamFlow,
    ) -> None:
        self._inbox = inbox
        self._publisher = publisher
        self._bus = bus
        self._handler = handler
        self._streams = streams
        self._cared_at = 0.0
        self._thread = threading.Thread(target=self._run, name="headwater-capture", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def carry_out(self, request: DrainRequest) -> bool:
        """Enqueue a request and wait for its completion. Not to be called by the worker's own thread.

        Returns:
            True if it is complete, and everything is delivered.
        """
        self._inbox.put_urgent(request)
        # The steps between the waits take time, too.
        finished = request.done.wait(request.remaining() + 5.0)
        return finished and not request.failed and (request.undelivered == 0 or not request.delivers)

    def _run(self) -> None:
        own_thread()
        while True:
            idle = min(_WATCHFUL_SECONDS if self._waits() else _IDLE_SECONDS, self._streams.overdue_in())
            item = self._inbox.take(idle)
            if isinstance(item, DrainRequest):
                self._publisher.guard("ending" if item.last else "flushing", partial(self._drain, item))
                item.done.set()
                if item.last:
                    return
            elif item is not None:
                self._handle(item)
            if item is None or not idle or time.monotonic() - self._cared_at > _CARE_SECONDS:
                self._publisher.guard("looking after streaming queries", self._care)

    def _waits(self) -> bool:
        streams = self._streams
        return streams.unannounced or bool(streams.pending) or streams.behind

    def _handle(self, signal: Signal) -> None:
        self._publisher.guard(type(signal).__name__, partial(self._handler.handle, signal))

    def _take_in(self) -> None:
        for item in self._inbox.take_waiting():
            if not isinstance(item, DrainRequest):
                self._handle(item)

    def _care(self) -> None:
        self._cared_at = time.monotonic()
        streams = self._streams
        steps = (streams.announce_planned, streams.backfill_next, streams.send_overdue, self._settle)
        run_all((self._handler.look_around, *steps))

    def _settle(self) -> None:
        streams = self._streams
        if waiting := streams.pending:
            # Spark posts the writes of a micro-batch to the listener bus before its progress. So once the bus is empty,
            # these writes are in the inbox, and once the inbox is empty, they have been handled.
            if self._bus.drained(_WATCHFUL_SECONDS):
                self._take_in()
                streams.settle(waiting, datetime.now(UTC))
            streams.settle_overdue(datetime.now(UTC))

    def _drain(self, request: DrainRequest) -> None:
        # Step 1. Drain the bus into the inbox.
        request.taken_in = self._bus.drained(request.remaining())
        if not request.taken_in:
            logger.info("lineage capture: Spark's listener bus was not empty in time")
        # Step 2. Handle the inbox.
        self._take_in()
        # An error in one step doesn't skip the others.
        failed_before, guarded = (
            self._publisher.tally.failed,
            partial(self._publisher.guard, "ending" if request.last else "flushing"),
        )
        # Step 3. Finish waiting work: no more callbacks will come for it.
        if request.delivers:
            guarded(lambda: self._handler.look_around(at_once=True))
        streams = self._streams
        guarded(streams.announce_planned)
        guarded(lambda: streams.settle(streams.pending, datetime.now(UTC)))
        while streams.behind and request.remaining():
            guarded(streams.backfill_next)
        guarded(lambda: streams.send_all(EmissionReason.STOP if request.last else EmissionReason.CHECKPOINT))
        # Step 4. Act as requested.
        if request.action is not None:
            guarded(request.action)
        # Step 5. Deliver.
        if request.delivers:
            guarded(partial(self._deliver, request))
        request.failed = self._publisher.tally.failed - failed_before
        if request.last:
            guarded(self._handler.close)
            guarded(self._publisher.close)

    def _deliver(self, request: DrainRequest) -> None:
        stall_seconds = request.stall_seconds if request.last else None
        request.undelivered = self._publisher.flush(request.remaining(), stall_seconds=stall_seconds)
