"""EventSink: where captured events go. The Kafka publisher is one, an outbox another; a test's recorder is a third."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from headwater_producers.outbox import OutboxFigures
from headwater_schemas.events import LineageEvent


class EventSink(Protocol):
    """Takes events in order. Called from capture's one worker thread only."""

    def publish(self, event: LineageEvent) -> None:
        """Takes an event for delivery; doesn't wait for it."""

    def flush(self, timeout_seconds: float) -> int:
        """Waits until everything taken is delivered, or the time is over; logs why something isn't.

        Returns:
            How many events are not delivered: still waiting, or failed.
        """

    def close(self) -> None:
        """Frees what the sink holds. Nothing is published afterwards."""


@runtime_checkable
class KeepingSink(EventSink, Protocol):
    """A sink that keeps what it couldn't deliver for a later process. So the end of a script needn't wait for Kafka."""

    def flush_while_moving(self, timeout_seconds: float, *, stall_seconds: float) -> int:
        """Like `flush`, but gives up as soon as Kafka has acknowledged nothing for `stall_seconds`."""


@runtime_checkable
class SizedSink(EventSink, Protocol):
    """A sink that knows how large an event may be."""

    def max_event_bytes(self, timeout_seconds: float) -> int:
        """The largest event, uncompressed, as far as it is known within the time; it may become less later."""


@runtime_checkable
class DurableSink(EventSink, Protocol):
    """A sink that knows what would survive the process. One without this is durable as far as `flush` delivers.

    What it adds to an EventSink may be asked from any thread, after `close` too.
    """

    @property
    def lost(self) -> int:
        """Number of events that were accepted and will never be delivered."""

    @property
    def outbox(self) -> OutboxFigures | None:
        """Snapshot of the sink's outbox; None: it has none."""

    def await_durable(self, timeout_seconds: float) -> int:
        """Waits until everything taken so far would survive the process: on disk, or acknowledged by Kafka.

        Returns:
            How many events wouldn't. Those that are lost don't count.
        """
