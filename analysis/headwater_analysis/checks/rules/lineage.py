"""Column lineage: it is known, and complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_analysis.checks.rule import CheckRule


def _message(row: Mapping[str, Any]) -> str:
    if not row["known"]:
        return "It writes, and no column lineage of it is known."
    return f"Its latest column lineage is incomplete: {row['reason'] or 'no reason is reported'}."


INCOMPLETE = CheckRule(
    "lineage-incomplete",
    "The latest column lineage of each job that writes is complete.",
    "Declare the column lineage of what capture can't read (docs/columns.md has the reasons).",
    _message,
)
