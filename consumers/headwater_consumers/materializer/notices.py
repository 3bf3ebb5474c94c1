"""What the materializer says while trouble lasts: at once, then once a minute, and once when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_consumers.materializer.errors import RetryCause

EVERY_SECONDS = 60.0


@dataclass(slots=True)
class _Trouble:
    """One episode. `told`: whether its beginning was said, so that its end is."""

    since: float
    told: bool


class Notices:
    """One line for each kind of trouble at a time. Trouble that comes and goes is told of once a minute, too.

    Args:
        say: takes a line.
        clock: monotonic seconds.
        every_seconds: how often lasting trouble is told of again.
    """

    def __init__(
        self, say: Callable[[str], None], clock: Callable[[], float], every_seconds: float = EVERY_SECONDS
    ) -> None:
        self._say = say
        self._clock = clock
        self._every = every_seconds
        self._troubles: dict[RetryCause, _Trouble] = {}
        self._said: dict[RetryCause, float] = {}

    def trouble(self, cause: RetryCause, message: str) -> None:
        """It is (still) there. Said when it wasn't lately."""
        now = self._clock()
        new = cause not in self._troubles
        known = self._troubles.setdefault(cause, _Trouble(since=now, told=False))
        if cause in self._said and now - self._said[cause] < self._every:
            return
        self._said[cause] = now
        if new or not known.told:
            self._say(f"{message} Trying on; nothing is lost meanwhile.")
        else:
            self._say(f"{message} Still trying after {_duration(now - known.since)}.")
        known.told = True

    def over(self, *causes: RetryCause) -> None:
        """They aren't there, or not any more."""
        for cause in causes:
            known = self._troubles.pop(cause, None)
            if known is not None and known.told:
                self._say(f"{cause.label} is well again after {_duration(self._clock() - known.since)}.")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
