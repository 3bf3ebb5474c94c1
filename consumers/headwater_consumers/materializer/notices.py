"""Notices: log lines while trouble lasts, at once, then once a minute, and once when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_consumers.materializer.errors import RetryCause

EVERY_SECONDS = 60.0


@dataclass(slots=True)
class _Trouble:
    """One episode. `reported`: whether its beginning was logged, so that its end is."""

    since: float
    reported: bool


class Notices:
    """One line for each kind of trouble at a time. Trouble that comes and goes is reported once a minute, too.

    Args:
        warn: logs a line.
        clock: monotonic seconds.
        every_seconds: how often lasting trouble is reported again.
        info: logs a line when trouble is over; default: `warn`.
    """

    def __init__(
        self,
        warn: Callable[[str], None],
        clock: Callable[[], float],
        every_seconds: float = EVERY_SECONDS,
        info: Callable[[str], None] | None = None,
    ) -> None:
        self._warn = warn
        self._info = info or warn
        self._clock = clock
        self._every = every_seconds
        self._troubles: dict[RetryCause, _Trouble] = {}
        self._last_reported: dict[RetryCause, float] = {}

    def trouble(self, cause: RetryCause, message: str) -> None:
        """It is (still) there. Logged unless it was within `every_seconds`."""
        now = self._clock()
        new = cause not in self._troubles
        known = self._troubles.setdefault(cause, _Trouble(since=now, reported=False))
        if cause in self._last_reported and now - self._last_reported[cause] < self._every:
            return
        self._last_reported[cause] = now
        if new or not known.reported:
            self._warn(f"{message} Trying on; nothing is lost meanwhile.")
        else:
            self._warn(f"{message} Still trying after {_duration(now - known.since)}.")
        known.reported = True

    def over(self, *causes: RetryCause) -> None:
        """They aren't there, or not any more."""
        for cause in causes:
            known = self._troubles.pop(cause, None)
            if known is not None and known.reported:
                self._info(f"{cause.label} is well again after {_duration(self._clock() - known.since)}.")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
