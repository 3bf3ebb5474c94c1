"""Waits between attempts: a policy, and the state of one operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackoffPolicy:
    """Exponential back-off with a cap, and jitter over the upper half so that consumers don't retry in step.

    Attributes:
        first_seconds: the first wait, before jitter; long enough for a concurrent transaction to end.
        cap_seconds: maximum wait, so that a recovery is noticed soon.
    """

    first_seconds: float = 0.1
    cap_seconds: float = 10.0

    def wait_seconds(self, attempt: int, random: Callable[[], float]) -> float:
        """Return the wait after failed attempt number `attempt`, from 1; `random` returns a number in [0, 1)."""
        # The cap applies long before 2^30; this bound keeps the integer small during an outage of days.
        whole = min(self.cap_seconds, self.first_seconds * 2.0 ** min(attempt - 1, 30))
        return whole * (0.5 + random() / 2)


class Backoff:
    """State of the attempts at one operation. Times are the injected clock's, monotonic seconds."""

    def __init__(self, policy: BackoffPolicy, clock: Callable[[], float], random: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._random = random
        self.attempts = 0
        self._due = 0.0

    def failed(self) -> None:
        """Note a failed attempt."""
        self.attempts += 1
        self._due = self._clock() + self._policy.wait_seconds(self.attempts, self._random)

    def succeeded(self) -> None:
        """Start over: the next failure begins a new fault."""
        self.attempts = 0
        self._due = 0.0

    @property
    def due(self) -> bool:
        """True if the next attempt may be made."""
        return self.attempts == 0 or self._clock() >= self._due

    @property
    def remaining_seconds(self) -> float:
        """Seconds until the next attempt; 0 if it is due."""
        return 0.0 if self.due else self._due - self._clock()


class Deadline:
    """Point in time at which waits end."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._at = clock() + seconds

    @property
    def remaining_seconds(self) -> float:
        """Seconds until the deadline; 0 once it has passed."""
        return max(0.0, self._at - self._clock())

    @property
    def passed(self) -> bool:
        """True if no time is left."""
        return self.remaining_seconds == 0.0
