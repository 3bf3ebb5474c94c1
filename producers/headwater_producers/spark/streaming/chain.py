"""Chain: how far a query has been told, over all its runs in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_schemas.events import EmissionReason

if TYPE_CHECKING:
    from headwater_schemas.events import IntervalEntry


@dataclass(slots=True)
class Chain:
    """What this process has told of one query, over all its runs.

    Attributes:
        first, last: micro-batches, with all between them; None before any.
        plan_digest, quality: of the last one.
    """

    first: int | None = None
    last: int | None = None
    plan_digest: str | None = None
    quality: frozenset[tuple[str, bool]] = frozenset()

    def add(self, batch_id: int) -> range:
        """A micro-batch is told; returns those right before it that weren't."""
        if self.first is None or self.last is None:
            self.first = self.last = batch_id
            return range(0)
        missed = range(self.last + 1, batch_id)
        self.last = max(self.last, batch_id)
        return missed

    def change(self, entry: IntervalEntry) -> EmissionReason | None:
        """What a micro-batch changes against the one that was told before it; from now on it is the last one."""
        quality = frozenset((result.assertion, result.passed) for result in entry.quality)
        before = (self.plan_digest, self.quality) if self.last is not None else (entry.plan_digest, quality)
        self.plan_digest, self.quality = entry.plan_digest, quality
        if before[0] != entry.plan_digest:
            return EmissionReason.VERSION_CHANGE
        return EmissionReason.QUALITY_CHANGE if before[1] != quality else None

    def has(self, batch_id: int) -> bool:
        """Whether it was told."""
        return self.first is not None and self.last is not None and self.first <= batch_id <= self.last
