"""Where events go. `headwater` wires the publisher in; this package knows only what is promised here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from headwater_schemas.errors import LineageError
from headwater_schemas.events import LineageEvent


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """Why an event isn't on the topic.

    Attributes:
        event_id: of the event.
        reason: for people, with nothing of the event's content.
        for_good: the event itself is at fault (too large): to send it again ends the same.
    """

    event_id: str
    reason: str
    for_good: bool


Settled = Callable[[Sequence[Undeliverable]], None]
"""Called once for a document's events, when what becomes of each is known: with those of them that aren't on the topic.
The others are on all of its in-sync replicas."""


class SinkFullError(LineageError):
    """So many events wait for Kafka that no more are taken; none of these was."""

    retryable = True


class EventSink(Protocol):
    """Takes events for the events topic."""

    def send(self, events: Sequence[LineageEvent], settled: Settled) -> None:
        """Take the events of one document, all of them or none. Never waits for Kafka.

        Args:
            events: at least one.
            settled: called from any thread, or within this call; it must neither wait nor send.

        Raises:
            EncodeError: one of them breaks the contract; `settled` isn't called.
            SinkFullError: too many wait already; `settled` isn't called.
        """

    def problem(self) -> str | None:
        """Why nothing arrives at the topic; None where nothing is known to be wrong."""
