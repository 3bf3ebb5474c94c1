"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group

from headwater_benchmarks.figures import shown_interval
from headwater_benchmarks.tables import goals_table, table

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
    found = table("", *(measurement["name"] for measurement in document["measurements"]))
    for label, key in _FIGURES:
        found.add_row(label, *(_figure(measurement[key]) for measurement in document["measurements"]))
    for process in ("jvm", "python"):
        peaks = (_figure(measurement["peak_rss_mb"][process]) for measurement in document["measurements"])
        found.add_row(f"peak RSS of {process}, MB", *peaks)
    return Group(found, "", goals_table(document))


def _figure(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict) and "low" in value:
        return shown_interval(value, 3)
    if isinstance(value, dict):
        return f"{value['median']:,} ({value['minimum']:,} – {value['maximum']:,})"
    return f"{value:,}"
