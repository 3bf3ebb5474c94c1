"""OutboxSink: an outbox as an EventSink."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater_producers.publisher import record_of

if TYPE_CHECKING:
    from headwater_producers.outbox import Outbox, OutboxFigures
    from headwater_schemas.events import LineageEvent

logger = logging.getLogger(__name__)


class OutboxSink:
    """Puts events into an outbox, which relays them to Kafka: now, or at the next start."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def publish(self, event: LineageEvent) -> None:
        """Takes an event; waits neither for the disk nor for Kafka.

        Raises:
            OutboxError, ContractError: it wasn't taken.
        """
        self._outbox.put(record_of(event))

    def flush(self, timeout_seconds: float) -> int:
        """Waits for delivery. What isn't delivered stays in the outbox."""
        waiting = self._outbox.await_relayed(timeout_seconds)
        if waiting:
            logger.warning(
                "lineage capture: %d events are not delivered yet: %s. They are in the outbox %s",
                waiting,
                self._outbox.problem or "the time was over",
                self._outbox.figures().folder,
            )
        return waiting

    def close(self) -> None:
        """Leaves to the next start what isn't delivered."""
        self._outbox.close()

    @property
    def lost(self) -> int:
        """How many events were given up after they were taken."""
        return self._outbox.lost

    @property
    def outbox(self) -> OutboxFigures:
        """What it holds, and has done."""
        return self._outbox.figures()

    def await_durable(self, timeout_seconds: float) -> int:
        """Waits until all is on disk; see `DurableSink`."""
        return self._outbox.await_durable(timeout_seconds)
