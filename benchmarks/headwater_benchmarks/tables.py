"""Reports as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table


def table(*headings: str, left: int = 1) -> Table:
    """A table without rules; its first columns, and those without a heading, are of text, the others of numbers."""
    made = Table(box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        made.add_column(heading, justify="left" if place < left or not heading else "right")
    return made


def goals_table(document: Mapping[str, Any]) -> Table:
    """A report's goals: what was measured, and what is wished for."""
    goals = table("goal", "measured", "wished for", "")
    for goal in document["goals"]:
        wished = f"{'≤' if goal['direction'] == 'at_most' else '≥'} {goal['goal']:,}"
        value = "not measured" if goal["value"] is None else f"{round(goal['value'], 3):,}"
        goals.add_row(goal["name"], value, wished, "met" if goal["met"] else "not met")
    return goals
