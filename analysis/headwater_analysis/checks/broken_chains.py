"""Gaps and overlaps between micro-batches.

A dataset with several names counts as one: it is compared under the name that answers show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_analysis import micro_batches
from headwater_analysis.identity import several_names
from headwater_analysis.reader import Transaction
from headwater_graph.facts.nodes import IntervalFacts


@dataclass(frozen=True, slots=True)
class BrokenJoint:
    """A micro-batch whose inputs don't begin where the inputs of the micro-batch before it ended.

    Attributes:
        since: start of the micro-batch, where known.
        gaps: number of partitions in which the micro-batch skipped offsets.
        overlaps: number of partitions in which the micro-batch read offsets again.
    """

    interval: IntervalFacts
    since: datetime | None
    gaps: int
    overlaps: int


def joints_at(tx: Transaction, batches: Iterable[tuple[str, int]]) -> list[BrokenJoint]:
    """Return the broken joints at these micro-batches, each compared with the known micro-batch before it.

    Args:
        batches: key of the query and batch id of each micro-batch.
    """
    intervals = micro_batches.at_batches(tx, sorted(batches))
    found = []
    for interval, before in zip(intervals, micro_batches.befores(tx, intervals, every=False), strict=True):
        joint: Mapping[str, Any] = micro_batches.joint(before, interval) or {}
        gaps, overlaps = (len(joint.get(f"{fault}_partitions", ())) for fault in ("gap", "overlap"))
        if gaps or overlaps:
            found.append(BrokenJoint(interval, micro_batches.processing_time(interval), gaps, overlaps))
    return found


def suspected_beside(tx: Transaction) -> set[tuple[str, int]]:
    """Micro-batches (key of the query, batch id) that may have gaps or overlaps that the graph doesn't store.

    The graph compares each name and each incarnation of a topic separately, so it misses faults between two names or
    incarnations.
    """
    wanted = {(row["query"], batch) for row in tx.rows("checks/rewinds") for batch in row["batches"]}
    several = several_names(tx)
    for row in tx.rows("checks/respelled", datasets=sorted(several)) if several else ():
        if len({several[key][0] for key in row["datasets"]}) < len(row["datasets"]):
            # The query has read a dataset under several names. Each run of the query may have begun to use another
            # name, so the first micro-batch of each run is compared.
            known = {batch for batches in row["broken"] for batch in batches}
            wanted |= {(row["query"], batch) for batch in row["begins"] if batch not in known}
    return wanted
