"""EventSink: where captured events go. The Kafka publisher is one; a test's recorder is another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from headwater_schemas.events import LineageEvent


class EventSink(Protocol):
    """Takes events in order. Called from capture's one worker thread only."""

    def publish(self, event: LineageEvent) -> None:
        """Takes an event for delivery; doesn't wait for it."""

    def flush(self, timeout_seconds: float) -> int:
        """Waits until everything taken is delivered, or the time is over.

        Returns:
            How many events are not delivered: still waiting, or failed.
        """

    def close(self) -> None:
        """Frees what the sink holds. Nothing is published afterwards."""
