"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table

from headwater_benchmarks.figures import shown_interval

_FIGURES = (
    ("trigger p50, ms", "trigger_p50_ms"),
    ("× without", "trigger_p50_ratio"),
    ("95 % interval", "trigger_p50_ratio_interval"),
    ("trigger p90, ms", "trigger_p90_ms"),
    ("× without", "trigger_p90_ratio"),
    ("95 % interval", "trigger_p90_ratio_interval"),
    ("CPU ms per micro-batch", "processor_ms_per_micro_batch"),
    ("µs of it in Python", "python_us_per_micro_batch"),
    ("µs of it in the JVM", "jvm_us_per_micro_batch"),
    ("round trips between them", "round_trips_per_micro_batch"),
    ("events per micro-batch", "events_per_micro_batch"),
    ("bytes per micro-batch", "bytes_per_micro_batch"),
    ("batch write, s", "write_seconds"),
    ("× without", "write_ratio"),
    ("95 % interval", "write_ratio_interval"),
    ("CPU s per write", "processor_seconds_per_write"),
    ("large plan, s", "large_plan_seconds"),
)


def view(document: Mapping[str, Any]) -> Group:
    """A column for each contestant with medians, smallest and greatest values; below, the goals."""
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for measurement in document["measurements"]:
        table.add_column(measurement["name"], justify="right")
    for label, key in _FIGURES:
        table.add_row(label, *(_figure(measurement[key]) for measurement in document["measurements"]))
    for process in ("jvm", "python"):
        peaks = (_figure(measurement["peak_rss_mb"][process]) for measurement in document["measurements"])
        table.add_row(f"peak RSS of {process}, MB", *peaks)
    goals = Table(box=None, pad_edge=False)
    for heading in ("goal", "measured", "wished for", ""):
        goals.add_column(heading, justify="left" if heading in {"goal", ""} else "right")
    for goal in document["goals"]:
        goals.add_row(goal["name"], f"{goal['value']:,}", f"≤ {goal['goal']:,}", "met" if goal["met"] else "not met")
    return Group(table, "", goals)


def _figure(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict) and "low" in value:
        return shown_interval(value, 3)
    if isinstance(value, dict):
        return f"{value['median']:,} ({value['minimum']:,} – {value['maximum']:,})"
    return f"{value:,}"
