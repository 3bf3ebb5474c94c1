"""Where events go. `headwater` wires the publisher in; this package knows only what is promised here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from headwater_schemas.errors import LineageError
from headwater_schemas.events import LineageEvent


@dataclass(frozen=True, slots=True)
class Undeliverable:
    """Why an event isn't on the topic.

    Attributes:
        reason: for people, with nothing of the event's content.
        for_good: the event itself is at fault (too large): to send it again ends the same.
    """

    reason: str
    for_good: bool


Settled = Callable[[Undeliverable | None], None]
"""Called once for an event: None once all in-sync replicas of the topic have it."""


class SinkFullError(LineageError):
    """So many events wait for Kafka that no more are taken; this one was not."""

    retryable = True


class EventSink(Protocol):
    """Takes events for the events topic."""

    def send(self, event: LineageEvent, settled: Settled) -> None:
        """Take an event. Never waits for Kafka.

        Args:
            event: of the contract.
            settled: called from any thread, or within this call; it must neither wait nor send.

        Raises:
            EncodeError: the event breaks the contract; `settled` isn't called.
            SinkFullError: too many wait already; `settled` isn't called.
        """

    def problem(self) -> str | None:
        """Why nothing arrives at the topic; None where nothing is known to be wrong."""
