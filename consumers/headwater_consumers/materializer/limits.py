"""Adaptive limits: the size of a batch, and the share of dead letters."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from headwater_consumers.materializer.errors import TooManyDeadLettersError

FUTURE_MAX_SECONDS = 86_400.0
"""Default maximum time by which an event's times may be ahead of its record's timestamp: a day."""


@dataclass(frozen=True, slots=True)
class BatchPolicy:
    """Bounds of a batch.

    Attributes:
        max_records: maximum number of records. In a larger batch, a job or dataset of many records is locked, read and
            written fewer times: one batch of 4,000 costs the database half as much as four batches of 1,000.
        max_bytes: maximum size of keys and values. Three batches are in memory: current, prepared and fetched. Objects
            take up to 40 bytes for each byte of a record.
        min_records: minimum size of a batch after halving.
        target_seconds: intended maximum time of a transaction. Its locks block other consumers, and stops and
            rebalances wait for it.
    """

    max_records: int = 4_000
    max_bytes: int = 2 * 1024 * 1024
    min_records: int = 1
    target_seconds: float = 2.0


class BatchLimit:
    """Maximum size of the next batch, adapted to the previous batches.

    - Halved after a batch for which the database lacked memory or time.
    - Reduced after a batch that took too long.
    - Increased by a tenth of the maximum after any other batch.
    """

    def __init__(self, policy: BatchPolicy) -> None:
        self._policy = policy
        self.records = policy.max_records
        self.bytes = policy.max_bytes

    def halve(self) -> None:
        """Halve the limit after a batch that was too large."""
        self.records = max(self._policy.min_records, self.records // 2)

    def fitted(self, records: int, seconds: float) -> None:
        """Adapt the limit to a batch that was written without a split, by its number of records and its duration."""
        if seconds > self._policy.target_seconds:
            # Number of records that would have met the target. At most halved, because the batch may have been slow for
            # another reason.
            in_time = int(records * self._policy.target_seconds / seconds)
            self.records = max(self._policy.min_records, min(self.records, max(in_time, self.records // 2)))
        else:
            self.records = min(self._policy.max_records, self.records + max(1, self._policy.max_records // 10))


@dataclass(frozen=True, slots=True)
class DeadLetterPolicy:
    """Limit of the share of dead letters. Above it the consumer pauses, because a common fault needs a person.

    Attributes:
        max_ratio: maximum share of dead letters in the last `window_records`; 1 never pauses.
        window_records: size of the window.
        min_letters: minimum number of dead letters in the window for a pause, so that a few broken records at the start
            don't pause the consumer.
    """

    max_ratio: float = 0.5
    window_records: int = 1_000
    min_letters: int = 100


class DeadLetterLimit:
    """The share of dead letters among the last records, counted batch by batch."""

    def __init__(self, policy: DeadLetterPolicy) -> None:
        self._policy = policy
        self._batches: deque[tuple[int, int]] = deque()

    def check(self, records: int, letters: int) -> None:
        """Check the limit for a batch of `records` records with `letters` dead letters, without recording the batch.

        Raises:
            TooManyDeadLettersError: the batch would exceed the limit.
        """
        seen = records + sum(all_ for all_, _ in self._batches)
        dead = letters + sum(bad for _, bad in self._batches)
        if letters and dead >= self._policy.min_letters and dead > self._policy.max_ratio * seen:
            raise TooManyDeadLettersError(
                f"{dead} of the last {seen} records are dead letters, more than the {self._policy.max_ratio:.0%} that "
                "HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO allows. Paused: the records of this batch are neither "
                "dead-lettered nor committed. Stop their producer; or, to dead-letter them, set the ratio to 1 and "
                "restart."
            )

    def record(self, records: int, letters: int) -> None:
        """Record a batch. The oldest batches leave the window once it is full without them."""
        self._batches.append((records, letters))
        total = sum(all_ for all_, _ in self._batches)
        while total - self._batches[0][0] >= self._policy.window_records:
            total -= self._batches.popleft()[0]
