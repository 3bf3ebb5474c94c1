"""The report as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table


def view(document: Mapping[str, Any]) -> Table:
    """A row for the backlog, and one for the events that came after it."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "events", "events/s", "CPU µs/event", "deadlocks", "other retries"):
        table.add_column(heading, justify="left" if heading in ("", "CPU µs/event") else "right")
    for each in document["measurements"]:
        retries = dict(each["retries"])
        deadlocks = retries.pop("DEADLOCK")
        used = each.get("processor_us_per_event")
        table.add_row(
            each["name"],
            f"{each['events']:,}",
            f"{each['events_per_second']:,.0f}",
            "" if used is None else f"{used['consumers']:,.0f} + {used['neo4j'] or 0:,.0f} in Neo4j",
            f"{deadlocks:,}",
            f"{sum(retries.values()):,}",
        )
    return table
