"""Log lines on lasting faults: at once, once a minute, and when they are over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class RetryCause(StrEnum):
    """Cause of a retry: the closed label of the retry metrics."""

    GRAPH = "GRAPH"
    RACE = "RACE"
    BROKER = "BROKER"
    SCHEMAS = "SCHEMAS"
    DEAD_LETTERS = "DEAD_LETTERS"
    TOO_MANY_DEAD_LETTERS = "TOO_MANY_DEAD_LETTERS"

    @property
    def label(self) -> str:
        """Name of the cause for people, as the subject of a sentence."""
        return _LABELS[self]


_LABELS = {
    RetryCause.GRAPH: "Neo4j",
    RetryCause.RACE: "Writing beside another consumer",
    RetryCause.BROKER: "Kafka",
    RetryCause.SCHEMAS: "The look-up of schemas",
    RetryCause.DEAD_LETTERS: "The dead-letter topic",
    RetryCause.TOO_MANY_DEAD_LETTERS: "The share of dead letters",
}


EVERY_SECONDS = 60.0
"""Interval at which a lasting fault is logged again."""


@dataclass(slots=True)
class _Trouble:
    """One fault. `reported`: True if its beginning was logged, so that its end has to be logged, too."""

    since: float
    reported: bool


class TroubleCause(Protocol):
    """Cause of a fault. Must be hashable; there are only few different causes."""

    @property
    def label(self) -> str:
        """Name of the cause for people, as the subject of a sentence."""


class Notices:
    """Log of faults, with few lines for each cause. A fault that comes and goes is also logged once a minute at most.

    Args:
        clock: monotonic seconds.
        info: function that logs the end of a fault; default: `warn`.
    """

    def __init__(
        self,
        warn: Callable[[str], None],
        clock: Callable[[], float],
        info: Callable[[str], None] | None = None,
    ) -> None:
        self._warn = warn
        self._info = info or warn
        self._clock = clock
        self._troubles: dict[TroubleCause, _Trouble] = {}
        self._last_reported: dict[TroubleCause, float] = {}

    def trouble(self, cause: TroubleCause, message: str) -> None:
        """Report that a fault began or lasts. It is logged unless it was logged within `EVERY_SECONDS`."""
        now = self._clock()
        new = cause not in self._troubles
        fault = self._troubles.setdefault(cause, _Trouble(since=now, reported=False))
        if cause in self._last_reported and now - self._last_reported[cause] < EVERY_SECONDS:
            return
        self._last_reported[cause] = now
        if new or not fault.reported:
            self._warn(f"{message} Retrying; nothing is lost.")
        else:
            self._warn(f"{message} Still retrying after {_duration(now - fault.since)}.")
        fault.reported = True

    def over(self, *causes: TroubleCause) -> None:
        """Report that these faults are over, if they had occurred."""
        for cause in causes:
            fault = self._troubles.pop(cause, None)
            if fault is not None and fault.reported:
                self._info(f"{cause.label} is well again after {_duration(self._clock() - fault.since)}.")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
