"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group

from headwater_benchmarks.tables import goals_table, table


def view(document: Mapping[str, Any]) -> Group:
    """For people: the graph, the rates, the goals."""
    [measured] = document["measurements"]
    trace = measured["trace"]
    graph = table("micro-batches", "nodes", "relationships", "GB", "bytes each", "with logs", "trace p50 ms", "p95 ms")
    graph.add_row(
        *(f"{measured[name]:,}" for name in ("micro_batches", "nodes", "relationships")),
        f"{measured['store_bytes'] / 1e9:,.2f}",
        *(f"{measured[name]:,.1f}" for name in ("bytes_per_micro_batch", "bytes_per_micro_batch_with_logs")),
        *(f"{trace[name]['median']:,.1f}" for name in ("p50_ms", "p95_ms")),
    )
    rates = table("up to micro-batch", "micro-batches/s", "consumer, µs", "Neo4j, µs")
    for stretch in measured["stretches"]:
        names = ("micro_batches_per_second", "consumer_us", "neo4j_us")
        rates.add_row(f"{stretch['micro_batches']:,}", *(f"{stretch[name]:,.0f}" for name in names))
    return Group(graph, "", rates, "", goals_table(document))
