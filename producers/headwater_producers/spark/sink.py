"""EventSink: where captured events go. The Kafka publisher is one; a test's recorder is another."""

from __future__ import annotations

from typing import Protocol

from headwater_schemas.events import LineageEvent


class EventSink(Protocol):
    """Takes events in order. Called from capture's one worker thread only."""

    def publish(self, event: LineageEvent) -> None:
        """Takes an event for delivery; doesn't wait for it."""

    def flush(self, timeout_seconds: float) -> object:
        """Waits until everything taken is delivered, or the time is over. Raises if an event can't be delivered."""

    def close(self) -> None:
        """Frees what the sink holds. Nothing is published afterwards."""
