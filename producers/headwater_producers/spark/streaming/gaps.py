"""Gaps: micro-batches that were committed, that nobody is known to have told, and that no checkpoint has any more.

One that was never told is lost for good. Whether it was told earlier, by another process, only that process's note can
say here (see `notes`), and the graph elsewhere: `headwater reconcile CHECKPOINT --dry-run` asks it.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from headwater_producers.spark.metrics import CaptureMetrics, Told, shared_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)

GAPS_FACET: Final = "headwater_gaps"
"""The run facet of a streaming run that has met gaps: `{"gaps": [{"first": 7, "last": 9, "told": "never"}]}`."""

# Remembered for `status`, of all queries: a query that is never well would fill the memory.
_REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Gap:
    """Consecutive micro-batches.

    Attributes:
        query_id: Spark's id of their query.
        name: the query's name.
        first, last: batch ids.
        told: NEVER: they are lost. UNKNOWN: nothing here says whether an earlier start told of them.
        noticed_at: when that was found out.
    """

    query_id: str
    name: str | None
    first: int
    last: int
    told: Told
    noticed_at: datetime

    def __str__(self) -> str:
        """In a sentence."""
        query = f"query {self.name or self.query_id}"
        several = self.last > self.first
        batches = f"micro-batches {self.first} to {self.last}" if several else f"micro-batch {self.first}"
        if self.told is Told.NEVER:
            return f"{query}: a gap: nobody has told of {batches}, and the checkpoint doesn't have them any more"
        return (
            f"{query}: perhaps a gap: the checkpoint doesn't have {batches} any more, and nothing here says whether an "
            "earlier start has told of them (headwater reconcile CHECKPOINT --dry-run asks the graph)"
        )


class Gaps:
    """All gaps that an application's capture has met. Written by the worker, read by any thread.

    Args:
        metrics: which count them too.
    """

    def __init__(self, metrics: CaptureMetrics | None = None) -> None:
        self._metrics = metrics or shared_metrics()
        self._found: deque[Gap] = deque(maxlen=_REMEMBERED)

    def add(self, gap: Gap) -> None:
        """One more: logged, counted, remembered."""
        logger.warning("lineage capture: %s", gap)
        self._metrics.gaps[gap.told].inc(gap.last + 1 - gap.first)
        self._found.append(gap)

    @property
    def found(self) -> tuple[Gap, ...]:
        """The latest, in the order in which they were met."""
        return tuple(self._found)


def facet_of(gaps: Iterable[Gap], producer: str) -> str:
    """The facet's JSON."""
    told = [{"first": gap.first, "last": gap.last, "told": gap.told.value} for gap in gaps]
    return json.dumps({"_producer": producer, "gaps": told})


def spans(batches: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive ids: 9, 3, 4 ⇒ (3, 4), (9, 9)."""
    ids = sorted(set(batches))
    breaks = [index for index, (one, other) in enumerate(pairwise(ids), start=1) if other != one + 1]
    return [(ids[start], ids[end - 1]) for start, end in pairwise([0, *breaks, len(ids)])] if ids else []
