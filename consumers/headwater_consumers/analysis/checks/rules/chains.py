"""Streaming queries: their micro-batches follow on each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_consumers.analysis.checks.rule import Rule, query_text


def _message(row: Mapping[str, Any]) -> str:
    faults = (
        ("micro-batches missing", row["missing"]),
        ("partitions with a gap", row["gaps"]),
        ("partitions read twice", row["overlaps"]),
    )
    listed = ", ".join(f"{count:,} {what}" for what, count in faults if count)
    return f"Query {query_text(row)} is broken in {row['places']:,} places: {listed}."


BROKEN = Rule(
    "broken-chains",
    "The micro-batches of each streaming query leave no gap, and read nothing twice.",
    "`headwater runs intervals JOB` shows where; `headwater reconcile CHECKPOINT` recovers what a crash lost.",
    _message,
)
