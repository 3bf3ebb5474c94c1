"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

_HEADINGS = (
    *("micro-batches", "nodes", "relationships", "GB", "bytes each", "with logs"),
    *("trace p50 ms", "p95 ms"),
)


def view(document: Mapping[str, Any]) -> Group:
    """For people: graphs, the year's rates, goals."""
    graphs = _table("graph", *_HEADINGS)
    rates = _table("year up to micro-batch", "micro-batches/s", "consumer, µs", "Neo4j, µs")
    for each in document["measurements"]:
        figures: tuple[str, ...] = ("", "", "", "")
        if "trace" in each:
            times = each["trace"]
            figures = (
                f"{each['bytes_per_micro_batch']:,.1f}",
                f"{each['bytes_per_micro_batch_with_logs']:,.1f}",
                f"{times['p50_ms']['median']:,.1f}",
                f"{times['p95_ms']['median']:,.1f}",
            )
        counts = (f"{each[name]:,}" for name in ("micro_batches", "nodes", "relationships"))
        graphs.add_row(each["name"], *counts, f"{each['store_bytes'] / 1e9:,.2f}", *figures)
        for stretch in each.get("stretches", ()):
            names = ("micro_batches_per_second", "consumer_us", "neo4j_us")
            rates.add_row(f"{stretch['micro_batches']:,}", *(f"{stretch[name]:,.0f}" for name in names))
    goals = _table("goal", "measured", "wished for", "")
    for goal in document["goals"]:
        wished = f"{'≤' if goal['direction'] == 'at_most' else '≥'} {goal['goal']:,}"
        goals.add_row(goal["name"], f"{goal['value']:,.2f}", wished, "met" if goal["met"] else "not met")
    parts: list[RenderableType] = [graphs, "", rates] if rates.row_count else [graphs]
    return Group(*parts, "", goals)


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place and heading else "left")
    return table
