"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table


def view(document: Mapping[str, Any]) -> Table:
    """For people: what each rule found, and how long it took."""
    table = Table(box=None, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    for heading in ("found", "first s", "median s", "(least to most)", "too long"):
        table.add_column(heading, justify="right")
    for each in document["measurements"]:
        spread = each["seconds"]
        table.add_row(
            each["rule"],
            "" if each["found"] is None else f"{each['found']:,}",
            "" if each["first_seconds"] is None else f"{each['first_seconds']:.2f}",
            "" if spread is None else f"{spread['median']:.2f}",
            "" if spread is None else f"{spread['minimum']:.2f} – {spread['maximum']:.2f}",
            str(each["too_long"] or ""),
        )
    return table
