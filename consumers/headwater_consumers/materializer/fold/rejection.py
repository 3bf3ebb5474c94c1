"""What a rejection is, and how the checks of the bodies speak."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_consumers.materializer.reasons import DeadLetterReason


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an event can't become part of the graph, for good.

    Attributes:
        reason: of the closed list.
        field: path of the field at fault, e.g. `interval_event.entries[2].batch_id`.
        detail: what is wrong with it; no value that came from a payload but numbers.
    """

    reason: DeadLetterReason
    field: str
    detail: str

    @property
    def message(self) -> str:
        """Field and detail in one line."""
        return f"{self.field}: {self.detail}"


class Rejected(Exception):  # noqa: N818 - never leaves this package; it carries a verdict, not an error
    """Ends the checks of one event."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.message)
        self.rejection = rejection


def need(condition: object, field: str, detail: str) -> None:
    """Reject as INVALID_EVENT unless `condition` holds."""
    if not condition:
        raise Rejected(Rejection(DeadLetterReason.INVALID_EVENT, field, detail))


def unstorable(field: str, detail: str) -> Rejected:
    """The end of checks for a value that the graph can't hold."""
    return Rejected(Rejection(DeadLetterReason.UNSTORABLE_VALUE, field, detail))
