"""Drift: what is declared and what was observed differ."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from headwater_analysis.assets import dataset_asset
from headwater_analysis.checks.rule import CheckRule, named, of_dataset
from headwater_analysis.declared.types import agree
from headwater_analysis.reader import Transaction

_MOST_NAMED = 3
_FIX = "Correct the declaration, or the job."


def _dataset(row: Mapping[str, Any]) -> str:
    dataset = of_dataset(row)
    if row["output"] is not None:
        output = of_dataset(row, "output")
        if row["declared"]:
            return f"{output} is declared to be made from {dataset}, and was never observed to."
        return f"{output} was observed to be made from {dataset}, which isn't declared."
    verb = "read" if row["verb"] == "READS" else "write"
    if row["declared"]:
        return f"It is declared to {verb} {dataset}, and was never observed to."
    return f"It was observed to {verb} {dataset}, which isn't declared."


def _column(row: Mapping[str, Any]) -> str:
    names = {each["key"]: named(dataset_asset(each)) for each in row["datasets"]}

    def listed(field: str) -> str:
        shown = [
            names[each["dataset"]] + ("" if each["path"] is None else f"#{each['path']}")
            for each in row[field][:_MOST_NAMED]
        ]
        more = len(row[field]) - len(shown)
        return ", ".join(sorted(shown)) + (f" and {more:,} more" if more else "")

    parts = (("declared and never observed", "missing"), ("observed and not declared", "more"))
    columns = "; ".join(f"{what}: {listed(field)}" for what, field in parts if row[field])
    return f"{of_dataset(row)}#{row['column']} is made from other columns than declared ({columns})."


def _differing(tx: Transaction, _: date, names: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """Declared types, each with the observed types of its columns that contradict it."""
    found = {}
    for row in tx.rows("checks/declared_types", names=names):
        if others := [each for each in row["observed"] if not agree(row["declared"], each)]:
            found[row["declared"]] = others
    return {"differing": found}


def _schema(row: Mapping[str, Any]) -> str:
    declared = f"Its column {row['column']} is declared by {', '.join(row['sets'])}"
    if row["type"] is not None:
        return f"{declared} as {row['type']}, and is {row['observed']}."
    return f"{declared}, and {'left its schema' if row['gone'] else 'its schema has none of that name'}."


DATASETS = CheckRule(
    "drift-of-datasets",
    "Jobs read and write what is declared, and nothing else.",
    _FIX,
    _dataset,
)

COLUMNS = CheckRule(
    "drift-of-columns",
    "Columns are made from those that are declared, and from no others.",
    _FIX,
    _column,
)

SCHEMAS = CheckRule(
    "drift-of-schemas",
    "The schema of a dataset has the columns that are declared of it, with their types.",
    "Correct the declaration, or the dataset.",
    _schema,
    _differing,
)
