"""Gaps: micro-batches that Spark committed and has purged from the checkpoint, without an emitted interval.

The lineage of a micro-batch that was never emitted is lost. Another process may have emitted it earlier: capture sees
this only in that process's file (`interval_events.LastEmittedStore`); `headwater reconcile CHECKPOINT --dry-run` asks
the graph.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from headwater_producers.spark.common.metrics import CaptureMetrics, EarlierEmission, shared_metrics
from headwater_schemas.ranges import batches_text

logger = logging.getLogger(__name__)

GAPS_FACET: Final = "headwater_gaps"
"""Run facet of a streaming run with gaps: `{"gaps": [{"first": 7, "last": 9, "emitted": "never"}]}`."""

# Maximum number of gaps kept for `status`, of all queries: otherwise a query that always has gaps would fill the
# memory.
_REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Gap:
    """Gap of consecutive micro-batches.

    Attributes:
        emitted: NEVER: their lineage is lost. UNKNOWN: an earlier start of the query may have emitted them.
    """

    query_id: str
    name: str | None
    first: int
    last: int
    emitted: EarlierEmission
    noticed_at: datetime

    def __str__(self) -> str:
        """Describe the gap in a sentence."""
        query = f"query {self.name or self.query_id}"
        batches = f"micro-{batches_text(self.first, self.last)}"
        if self.emitted is EarlierEmission.NEVER:
            return f"{query}: lineage gap: {batches} never emitted, and purged from the checkpoint"
        return (
            f"{query}: possible lineage gap: {batches} purged from the checkpoint, and no note says whether an earlier "
            "start emitted them. Ask the graph: headwater reconcile CHECKPOINT --dry-run"
        )


class Gaps:
    """Gaps of an application's capture. Written by the worker, read by any thread."""

    def __init__(self, metrics: CaptureMetrics | None = None) -> None:
        self._metrics = metrics or shared_metrics()
        self._found: deque[Gap] = deque(maxlen=_REMEMBERED)

    def add(self, gap: Gap) -> None:
        """Log, count and remember a gap."""
        logger.warning("lineage capture: %s", gap)
        self._metrics.gaps[gap.emitted].inc(gap.last + 1 - gap.first)
        self._found.append(gap)

    @property
    def found(self) -> tuple[Gap, ...]:
        """Latest gaps, in order of discovery."""
        return tuple(self._found)


def gaps_facet(gaps: Iterable[Gap], producer: str) -> str:
    """Return the facet of gaps, as JSON."""
    rows = [{"first": gap.first, "last": gap.last, "emitted": gap.emitted.value} for gap in gaps]
    return json.dumps({"_producer": producer, "gaps": rows})


def spans(batches: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last of each run of consecutive ids: 9, 3, 4 ⇒ (3, 4), (9, 9)."""
    ids = sorted(set(batches))
    breaks = [index for index, (one, other) in enumerate(pairwise(ids), start=1) if other != one + 1]
    return [(ids[start], ids[end - 1]) for start, end in pairwise([0, *breaks, len(ids)])] if ids else []
