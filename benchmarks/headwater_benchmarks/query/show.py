"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group

from headwater_benchmarks.figures import shown_interval
from headwater_benchmarks.tables import goals_table, table


def view(document: Mapping[str, Any]) -> Group:
    """For people: each question's contestants side by side, then the goals."""
    found = table(
        "question",
        "asked of",
        "found",
        "p50 ms",
        "(least to most)",
        "p95 ms",
        "(least to most)",
        "CPU ms",
        "headwater takes ×",
        "95 % interval",
        "too long",
        left=2,
    )
    for measurement in document["measurements"]:
        for number, entry in enumerate(measurement["contestants"]):
            number_found = "" if entry["found"]["median"] < 0 else f"{entry['found']['median']:,}"
            found.add_row(
                "" if number else measurement["question"],
                entry["name"],
                number_found,
                *_figure(entry["p50_ms"]),
                *_figure(entry["p95_ms"]),
                f"{entry['processor_ms']:,.0f}",
                *_ratio(entry),
                str(entry["too_long"] or ""),
            )
    return Group(found, "", goals_table(document))


def _ratio(entry: Mapping[str, Any]) -> tuple[str, str]:
    if "headwater_ratio" not in entry:
        return "", ""
    return f"{entry['headwater_ratio']['median']:,.2f}", shown_interval(entry["headwater_ratio_interval"])


def _figure(spread: Mapping[str, float]) -> tuple[str, str]:
    return f"{spread['median']:,.1f}", f"{spread['minimum']:,.1f} – {spread['maximum']:,.1f}"
