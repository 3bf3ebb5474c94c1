"""Outbox: wiring of backlog, writer and relay, and the sink in front of them.

put ─▶ memory ─ writer ─▶ file, synced ─ relay ─▶ publisher ─▶ Kafka, acknowledged ─▶ removed
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from headwater_producers.outbox.adoption import Adoption
from headwater_producers.outbox.backlog import Backlog, OutboxLimits
from headwater_producers.outbox.metrics import OutboxMetrics, shared_metrics
from headwater_producers.outbox.relay import Relay
from headwater_producers.outbox.store import Store
from headwater_producers.outbox.writer import BacklogWriter
from headwater_producers.publisher import Publisher
from headwater_schemas.events import LineageEvent
from headwater_schemas.record import Record, record_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OutboxFigures:
    """Snapshot of an outbox's state and counters.

    Attributes:
        events: number of held events, including events taken over from dead outboxes.
        unwritten: number of these events that are in memory only.
        relayed: number of events that Kafka has acknowledged, and that were removed.
        dropped: number of events that were refused or given up.
        disk_problem: reason why events can't be written to disk; None while writing works.
    """

    folder: str
    events: int
    bytes: int
    unwritten: int
    relayed: int
    dropped: int
    disk_problem: str | None


class Outbox:
    """Outbox: keeps events on local disk until Kafka has acknowledged them, even over restarts; an `EventSink`.

    Safe to use from many threads; not across a fork.

    Args:
        folder: folder of the files; created if missing, with access only for its owner. All events in the folder go
            to this publisher's topic, so each topic of each Kafka cluster has its own folder.
        publisher: publisher that only this outbox uses; `close` closes it.
        metrics: metrics to update; None: the process's metrics.

    Raises:
        OutboxUnusableError: the outbox can't be created in the folder.
    """

    def __init__(
        self,
        folder: Path,
        publisher: Publisher,
        limits: OutboxLimits | None = None,
        *,
        metrics: OutboxMetrics | None = None,
    ) -> None:
        self._clock: Callable[[], float] = time.monotonic
        self._folder = folder
        self._publisher = publisher
        self._backlog = Backlog(Store.create_below(folder), limits or OutboxLimits(), metrics or shared_metrics())
        self._writer = BacklogWriter(self._backlog)
        self._relay = Relay(self._backlog, publisher, Adoption(folder, self._backlog))
        self._writer.start()
        self._relay.start()

    def put(self, record: Record) -> None:
        """Take an event. Waits neither for the disk nor for Kafka.

        Raises:
            OutboxFullError: there is no room for the event.
            OutboxClosedError: after `close`.
        """
        self._backlog.put(record)

    def publish(self, event: LineageEvent) -> None:
        """Accept an event; waits neither for the disk nor for Kafka.

        Raises:
            OutboxError, ContractError: the event wasn't accepted.
        """
        self.put(record_of(event))

    def flush(self, timeout_seconds: float) -> int:
        """Wait for delivery. Undelivered events stay in the outbox."""
        return self._logged(self.await_relayed(timeout_seconds))

    def flush_while_moving(self, timeout_seconds: float, *, stall_seconds: float) -> int:
        """Wait like `flush`, for as long as Kafka keeps acknowledging events; see `KeepingSink`."""
        deadline = self._clock() + timeout_seconds
        acknowledged = -1
        while True:
            moved, acknowledged = acknowledged, self.figures().relayed
            left = max(0.0, deadline - self._clock())
            if moved == acknowledged or not left:
                return self._logged(self.await_relayed(0))
            if not self.await_relayed(min(stall_seconds, left)):
                return 0

    def _logged(self, waiting: int) -> int:
        figures = self.figures()
        unwritten = min(waiting, figures.unwritten) if figures.disk_problem is not None else 0
        if unwritten:
            logger.error(
                "lineage capture: %d events are neither in Kafka nor in the outbox %s: %s. They are lost if that "
                "doesn't change before this process ends",
                unwritten,
                figures.folder,
                figures.disk_problem,
            )
        if kept := waiting - unwritten:
            logger.warning(
                "lineage capture: %d events are not delivered yet: %s. They are in the outbox %s; the next run that "
                "sends to the same topic delivers them",
                kept,
                self.problem or "timed out",
                figures.folder,
            )
        return waiting

    def await_durable(self, timeout_seconds: float) -> int:
        """Wait until all events so far would survive this process and a power failure.

        Returns:
            Number of events that are neither on disk nor in Kafka. Dropped events don't count.
        """
        return self._backlog.await_durable(timeout_seconds)

    def await_relayed(self, timeout_seconds: float) -> int:
        """Wait until Kafka has acknowledged all events so far, except events of dead outboxes.

        Returns:
            Number of unacknowledged events: they stay, and are still relayed.
        """
        return self._backlog.await_relayed(timeout_seconds)

    @property
    def problem(self) -> str | None:
        """Reason why events don't reach Kafka; None while no problem is known."""
        return self._publisher.problem

    def max_event_bytes(self, timeout_seconds: float) -> int:
        """Return the maximum size of an event in Kafka; see `Publisher.max_event_bytes`."""
        return self._publisher.max_event_bytes(timeout_seconds)

    @property
    def lost(self) -> int:
        """Number of this outbox's own events that were accepted and then dropped.

        Dropped are events too large for Kafka, and the oldest events of a full outbox.
        """
        return self._backlog.lost

    def figures(self) -> OutboxFigures:
        """Return a snapshot of the state and counters."""
        backlog = self._backlog
        return OutboxFigures(
            folder=str(self._folder),
            events=backlog.events,
            bytes=backlog.bytes,
            unwritten=backlog.unwritten_count,
            relayed=backlog.relayed,
            dropped=backlog.dropped,
            disk_problem=backlog.disk_problem,
        )

    @property
    def outbox(self) -> OutboxFigures:
        """Snapshot of the state and counters; see `DurableSink`."""
        return self.figures()

    def close(self) -> None:
        """Write the unwritten events and close the files. The next outbox sends the remaining events. Idempotent."""
        with self._backlog.lock:
            if self._backlog.closed:
                return
            self._backlog.closed = True
        self._relay.stop()
        self._writer.stop()
        if lost := self._backlog.unwritten_count:
            logger.error(
                "lineage capture: %d events are lost: neither Kafka nor the disk took them (%s)",
                lost,
                self._backlog.disk_problem,
            )
        self._publisher.close(timeout_seconds=0)
        self._backlog.close()
        # If Kafka has all events, the files are removed; the last user also removes the folder.
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
