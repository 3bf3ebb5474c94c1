"""A clock that only moves when told to."""

from __future__ import annotations


class FakeClock:
    """Seconds from 1,000, so that nobody mistakes 0 for 'never'."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds
