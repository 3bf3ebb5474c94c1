"""Delivery reports of published events."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_producers.publisher.errors import DeliveryError
from headwater_producers.publisher.metrics import FailureKind


@dataclass(frozen=True, slots=True)
class FailedEvent:
    """Event that will not be delivered.

    Attributes:
        reason: text for people, with librdkafka's name of the error. The text never contains the event's content: at
            most its kind, its size, and the name of its dataset or job.
        kind: coarse class of the failure.
    """

    event_id: str
    reason: str
    kind: FailureKind = FailureKind.OTHER


@dataclass(frozen=True, slots=True)
class FlushReport:
    """Delivery outcomes since the report before this one; each outcome is in exactly one report.

    Attributes:
        acknowledged: number of events that all in-sync replicas have.
        failed: events that won't be delivered.
        outstanding: number of events still being delivered. Their delivery continues after the report.
        problem: reason for the delay, e.g. an unreachable broker or refused credentials; None if unknown.
        failures_not_listed: number of further failures; `failed` lists at most the first 10,000.
    """

    acknowledged: int
    failed: tuple[FailedEvent, ...]
    outstanding: int
    problem: str | None = None
    failures_not_listed: int = 0

    @property
    def delivered(self) -> bool:
        """True if nothing failed and nothing is still being delivered."""
        return not self.failed and not self.outstanding and not self.failures_not_listed

    def require_delivered(self) -> None:
        """Turn anything but complete delivery into an exception.

        Raises:
            DeliveryError: some events failed or are still outstanding; with their number, and the first reason.
        """
        if self.delivered:
            return
        parts = []
        if self.failed:
            count = len(self.failed) + self.failures_not_listed
            parts.append(f"{count} events failed, the first ({self.failed[0].event_id}): {self.failed[0].reason}")
        if self.outstanding:
            parts.append(f"{self.outstanding} events are still on their way: {self.problem or 'the time was over'}")
        raise DeliveryError("; ".join(parts))
