"""Protocol of the destination of events. Package `headwater` passes in the publisher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from headwater_schemas.errors import LineageError
from headwater_schemas.events import LineageEvent


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """Event that isn't on the topic, with the reason.

    Attributes:
        reason: reason for people, without the event's content.
        for_good: True if the event itself is at fault (too large), so that sending it again fails, too.
    """

    event_id: str
    reason: str
    for_good: bool


Settled = Callable[[Sequence[Undeliverable]], None]
"""Callback for a document's events, called once when the outcomes of all are known, with the events that aren't on the
topic. All other events are on all in-sync replicas."""


class SinkFullError(LineageError):
    """The queue of events for Kafka is full; none of the document's events was accepted."""

    retryable = True


class IntakeSink(Protocol):
    """Destination of events for the events topic."""

    def send(self, events: Sequence[LineageEvent], settled: Settled) -> None:
        """Accept the events of one document, all or none. Never waits for Kafka.

        Args:
            events: at least one.
            settled: called from any thread, or within this call; it must neither wait nor send.

        Raises:
            EncodeError: an event breaks the contract; `settled` isn't called.
            SinkFullError: too many events are waiting; `settled` isn't called.
        """

    def problem(self) -> str | None:
        """Reason why events currently don't reach the topic; None if no reason is known."""
