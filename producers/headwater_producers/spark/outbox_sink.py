"""OutboxSink: an outbox as an EventSink."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from headwater_producers.publisher import record_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_producers.outbox import Outbox, OutboxFigures
    from headwater_schemas.events import LineageEvent

logger = logging.getLogger(__name__)


class OutboxSink:
    """Puts events into an outbox, which relays them to Kafka: now, or at the next start."""

    def __init__(self, outbox: Outbox, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._outbox = outbox
        self._clock = clock

    def publish(self, event: LineageEvent) -> None:
        """Takes an event; waits neither for the disk nor for Kafka.

        Raises:
            OutboxError, ContractError: it wasn't taken.
        """
        self._outbox.put(record_of(event))

    def flush(self, timeout_seconds: float) -> int:
        """Waits for delivery. What isn't delivered stays in the outbox."""
        return self._logged(self._outbox.await_relayed(timeout_seconds))

    def flush_while_moving(self, timeout_seconds: float, *, stall_seconds: float) -> int:
        """The same, for as long as Kafka acknowledges something; see `KeepingSink`."""
        deadline = self._clock() + timeout_seconds
        acknowledged = -1
        while True:
            moved, acknowledged = acknowledged, self._outbox.figures().relayed
            left = max(0.0, deadline - self._clock())
            if moved == acknowledged or not left:
                return self._logged(self._outbox.await_relayed(0))
            if not self._outbox.await_relayed(min(stall_seconds, left)):
                return 0

    def _logged(self, waiting: int) -> int:
        if waiting:
            logger.warning(
                "lineage capture: %d events are not delivered yet: %s. They are in the outbox %s; the next run that "
                "sends to the same topic delivers them",
                waiting,
                self._outbox.problem or "timed out",
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
