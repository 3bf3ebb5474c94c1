"""Drift: what is declared and what was observed differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_consumers.analysis.checks.rule import Rule, of_dataset

_FIX = "Correct the declaration, or the job."


def _dataset(row: Mapping[str, Any]) -> str:
    verb = "read" if row["verb"] == "READS" else "write"
    if row["declared"]:
        return f"It is declared to {verb} {of_dataset(row)}, and was never observed to."
    return f"It was observed to {verb} {of_dataset(row)}, which isn't declared."


def _column(row: Mapping[str, Any]) -> str:
    parts = (("declared and never observed", row["missing"]), ("observed and not declared", row["more"]))
    listed = "; ".join(f"{what}: {', '.join(columns)}" for what, columns in parts if columns)
    return f"{of_dataset(row)}#{row['column']} is made from other columns than declared ({listed})."


DATASETS = Rule(
    "drift-of-datasets",
    "Jobs read and write what is declared, and nothing else.",
    _FIX,
    _dataset,
)

COLUMNS = Rule(
    "drift-of-columns",
    "Columns are made from those that are declared, and from no others.",
    _FIX,
    _column,
)
