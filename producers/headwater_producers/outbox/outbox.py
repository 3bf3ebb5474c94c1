"""Outbox: wires backlog, writer and relay.

put ─▶ memory ─ writer ─▶ file, synced ─ relay ─▶ publisher ─▶ Kafka, acknowledged ─▶ removed
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from headwater_producers.outbox.adoption import Adoption
from headwater_producers.outbox.backlog import Backlog
from headwater_producers.outbox.limits import OutboxLimits
from headwater_producers.outbox.metrics import OutboxMetrics, shared_metrics
from headwater_producers.outbox.relay import Relay
from headwater_producers.outbox.store import Store
from headwater_producers.outbox.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from headwater_producers.publisher import Publisher, Record


@dataclass(frozen=True, slots=True)
class OutboxFigures:
    """What an outbox has done so far.

    Attributes:
        folder: where it is.
        events: held, with those of dead outboxes that it took over.
        bytes: their size.
        unwritten: of the events, those that are in memory only.
        relayed: acknowledged by Kafka, and removed.
        dropped: refused or given up.
        disk_problem: why the disk doesn't take what is unwritten.
    """

    folder: str
    events: int
    bytes: int
    unwritten: int
    relayed: int
    dropped: int
    disk_problem: str | None


class Outbox:
    """Events on disk until Kafka has them. Safe to use from many threads; not across a fork.

    Args:
        folder: made if it is missing, for its owner alone. Everything in it goes where this publisher sends it: one
            folder for each Kafka cluster and topic.
        publisher: the outbox's own, from here on; it is closed with it.
        limits: how much it may hold.
        metrics: by default the process's.

    Raises:
        OutboxUnusableError: there can't be an outbox.
    """

    def __init__(
        self,
        folder: Path,
        publisher: Publisher,
        limits: OutboxLimits | None = None,
        *,
        metrics: OutboxMetrics | None = None,
    ) -> None:
        self._folder = folder
        self._publisher = publisher
        self._backlog = Backlog(Store.create_below(folder), limits or OutboxLimits(), metrics or shared_metrics())
        self._writer = Writer(self._backlog)
        self._relay = Relay(self._backlog, publisher, Adoption(folder, self._backlog))
        self._writer.start()
        self._relay.start()

    def put(self, record: Record) -> None:
        """Takes an event. Waits neither for the disk nor for Kafka.

        Raises:
            OutboxFullError: there is no room for it.
            OutboxClosedError: after `close`.
        """
        self._backlog.put(record)

    def await_durable(self, timeout_seconds: float) -> int:
        """Waits until all that was taken so far would survive this process and the machine's power.

        Returns:
            How many events wouldn't: the disk hasn't taken them yet, and neither has Kafka. Dropped ones don't count.
        """
        return self._backlog.await_durable(timeout_seconds)

    def await_relayed(self, timeout_seconds: float) -> int:
        """Waits until Kafka has acknowledged all that was taken so far, what dead outboxes left not included.

        Returns:
            How many events it hasn't: they stay, and are relayed on.
        """
        return self._backlog.await_relayed(timeout_seconds)

    @property
    def problem(self) -> str | None:
        """Why events don't reach Kafka, where that is known."""
        return self._publisher.problem

    @property
    def lost(self) -> int:
        """How many of its own events it took and gave up: too large for Kafka, or the oldest when it was full."""
        return self._backlog.lost

    def figures(self) -> OutboxFigures:
        """The counts so far."""
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

    def close(self) -> None:
        """Writes what is unwritten, lets go of the files; what Kafka hasn't got is for the next outbox. Idempotent."""
        with self._backlog.changed:
            if self._backlog.closed:
                return
            self._backlog.closed = True
        self._relay.stop()
        self._writer.stop()
        self._publisher.close(timeout_seconds=0)
        self._backlog.close()
        # Nothing is left behind where Kafka has all: not the folder either, if this was the last to use it.
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
