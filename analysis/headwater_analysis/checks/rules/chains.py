"""Streaming queries: their micro-batches follow on each other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from headwater_analysis import micro_batches
from headwater_analysis.checks.rule import CheckRule, query_text
from headwater_analysis.identity import several_names
from headwater_analysis.reader import Transaction


def _message(row: Mapping[str, Any]) -> str:
    faults = (
        ("micro-batches missing", row["missing"]),
        ("partitions with a gap", row["gaps"]),
        ("partitions read twice", row["overlaps"]),
    )
    listed = ", ".join(f"{count:,} {what}" for what, count in faults if count)
    return f"Query {query_text(row)} is broken in {row['places']:,} places: {listed}."


def _beside(tx: Transaction, _today: date, _names: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """Faults that the graph doesn't have, since it compares each name and each incarnation of a topic by itself."""
    wanted = {(row["query"], batch) for row in tx.rows("checks/rewinds") for batch in row["batches"]}
    several = several_names(tx)
    for row in tx.rows("checks/respelled", datasets=sorted(several)) if several else ():
        if len({several[key][0] for key in row["datasets"]}) < len(row["datasets"]):
            # A query has another name for what it reads from one of its starts on.
            known = {batch for batches in row["broken"] for batch in batches}
            wanted |= {(row["query"], batch) for batch in row["begins"] if batch not in known}
    intervals = micro_batches.at_batches(tx, sorted(wanted))
    out = []
    for interval, before in zip(intervals, micro_batches.befores(tx, intervals, every=False), strict=True):
        joint: Mapping[str, Any] = micro_batches.joint(before, interval) or {}
        gaps, overlaps = (len(joint.get(f"{fault}_partitions", ())) for fault in ("gap", "overlap"))
        if gaps or overlaps:
            since = micro_batches.processing_time(interval)
            out.append({"query": interval.query, "since": since, "gaps": gaps, "overlaps": overlaps})
    return {"beside": out}


BROKEN = CheckRule(
    "broken-chains",
    "The micro-batches of each streaming query leave no gap, and read nothing twice.",
    "`headwater runs intervals JOB` shows where; `headwater reconcile CHECKPOINT` recovers what a crash lost.",
    _message,
    _beside,
)
