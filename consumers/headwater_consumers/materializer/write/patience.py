"""Patience: how long Neo4j may take for a transaction, more after each that ran out of time.

A database that has just started plans every statement anew, and ends a transaction in the middle of that as in the
middle of anything else; the next attempt would begin where this one did. On a machine that is busy enough, none would
ever come through.
"""

from __future__ import annotations

_LONGEST = 8.0
"""Times what is configured: a consumer that stands still holds locks for so long."""


class Patience:
    """The limit of the next transaction.

    Args:
        seconds: what is configured; None: no limit of ours.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._times = 1.0

    @property
    def seconds(self) -> float | None:
        """Of the next transaction."""
        return None if self._seconds is None else self._seconds * self._times

    def committed(self) -> None:
        """What is configured is enough."""
        self._times = 1.0

    def ran_out(self) -> None:
        """It wasn't: twice as long next time, up to eight times what is configured."""
        self._times = min(_LONGEST, 2 * self._times)
