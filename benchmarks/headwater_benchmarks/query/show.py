"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table

from headwater_benchmarks.figures import shown_interval


def view(document: Mapping[str, Any]) -> Group:
    """For people: each question's contestants side by side, then the goals."""
    table = Table(box=None, pad_edge=False)
    for heading in ("question", "asked of"):
        table.add_column(heading)
    for heading in (
        "found",
        "p50 ms",
        "(least to most)",
        "p95 ms",
        "(least to most)",
        "CPU ms",
        "headwater takes ×",
        "95 % interval",
        "too long",
    ):
        table.add_column(heading, justify="right")
    for measurement in document["measurements"]:
        for number, entry in enumerate(measurement["contestants"]):
            found = "" if entry["found"]["median"] < 0 else f"{entry['found']['median']:,}"
            table.add_row(
                "" if number else measurement["question"],
                entry["name"],
                found,
                *_figure(entry["p50_ms"]),
                *_figure(entry["p95_ms"]),
                f"{entry['processor_ms']:,.0f}",
                *_ratio(entry),
                str(entry["too_long"] or ""),
            )
    goals = Table(box=None, pad_edge=False)
    for heading, justify in (("goal", "left"), ("measured", "right"), ("wished for", "right"), ("", "left")):
        goals.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for goal in document["goals"]:
        wished = f"{'≤' if goal['direction'] == 'at_most' else '≥'} {goal['goal']:,}"
        goals.add_row(goal["name"], f"{goal['value']:,.1f}", wished, "met" if goal["met"] else "not met")
    return Group(table, "", goals)


def _ratio(entry: Mapping[str, Any]) -> tuple[str, str]:
    if "headwater_ratio" not in entry:
        return "", ""
    return f"{entry['headwater_ratio']['median']:,.2f}", shown_interval(entry["headwater_ratio_interval"])


def _figure(spread: Mapping[str, float]) -> tuple[str, str]:
    return f"{spread['median']:,.1f}", f"{spread['minimum']:,.1f} – {spread['maximum']:,.1f}"
