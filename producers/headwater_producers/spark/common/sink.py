"""EventSink: destination of captured events, such as the Kafka publisher, an outbox, or a test's recorder."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from headwater_producers.outbox import OutboxFigures
from headwater_schemas.events import LineageEvent


class EventSink(Protocol):
    """Receiver of events in order. Called from capture's one worker thread only."""

    def publish(self, event: LineageEvent) -> None:
        """Accept an event for delivery, without waiting for it."""

    def flush(self, timeout_seconds: float) -> int:
        """Wait until all events so far are delivered, or the time is over; log the reason of a delay or failure.

        Returns:
            Number of undelivered events: still waiting, or failed.
        """

    def close(self) -> None:
        """Free the sink's resources. Nothing is published afterwards."""


@runtime_checkable
class KeepingSink(EventSink, Protocol):
    """Sink that keeps undelivered events for a later process, so that the end of a script needn't wait for Kafka."""

    def flush_while_moving(self, timeout_seconds: float, *, stall_seconds: float) -> int:
        """Wait like `flush`, but give up as soon as Kafka has acknowledged nothing for `stall_seconds`."""


@runtime_checkable
class SizedSink(EventSink, Protocol):
    """Sink with a limit of the size of an event."""

    def max_event_bytes(self, timeout_seconds: float) -> int:
        """Return the maximum uncompressed size of an event. A topic's lower limit counts once it is known."""


@runtime_checkable
class DurableSink(EventSink, Protocol):
    """Sink that knows which events would survive the process. In other sinks only delivered events are durable.

    The sink's properties and methods may be used from any thread, even after `close`.
    """

    @property
    def lost(self) -> int:
        """Number of events that were accepted and will never be delivered."""

    @property
    def outbox(self) -> OutboxFigures | None:
        """Snapshot of the sink's outbox; None without an outbox."""

    def await_durable(self, timeout_seconds: float) -> int:
        """Wait until all events so far would survive the process: on disk, or acknowledged by Kafka.

        Returns:
            Number of events that wouldn't survive. Lost events don't count.
        """
