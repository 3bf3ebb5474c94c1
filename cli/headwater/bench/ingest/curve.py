"""The rate while the graph grows: one consumer, one topic, one database, from nothing to millions of relationships."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

POINTS = 20


def points(progress: Sequence[Sequence[float]], *, share: float, count: int = POINTS) -> list[dict[str, Any]]:
    """Rates over stretches of equally many new relationships.

    Args:
        progress: after each transaction: seconds, records applied and relationships created since the start.
        share: of records that are distinct events.
        count: how many stretches; fewer where there aren't enough transactions.

    Returns:
        For each: relationships at its end, and distinct events and relationships per second within it.
    """
    out: list[dict[str, Any]] = []
    before = (0.0, 0.0, 0.0)
    step = progress[-1][2] / count
    for seconds, records, made in progress:
        if made < step * (len(out) + 1) or seconds <= before[0]:
            continue
        took = seconds - before[0]
        out.append(
            {
                "relationships": int(made),
                "events_per_second": round((records - before[1]) * share / took, 1),
                "relationships_per_second": round((made - before[2]) / took, 1),
            }
        )
        before = (seconds, records, made)
    return out


def growth(curve: Sequence[dict[str, Any]]) -> float:
    """The mean rate of the last tenth of the points over that of the first tenth."""
    tenth = max(len(curve) // 10, 1)
    first, last = (
        statistics.mean(float(point["events_per_second"]) for point in part) for part in (curve[:tenth], curve[-tenth:])
    )
    return round(last / first, 3)
