"""The report as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from headwater_benchmarks.figures import shown_interval


def view(document: Mapping[str, Any]) -> Table:
    """A table with a row for each kind and codec."""
    table = Table(box=None, pad_edge=False)
    for heading in ("events", "codec"):
        table.add_column(heading)
    table.add_column("bytes/event", justify="right")
    for direction in ("encode", "decode"):
        for heading in (f"{direction}, events/s", "(least to most)", "headwater is × as fast", "95 % interval"):
            table.add_column(heading, justify="right")
    for measurement in document["measurements"]:
        for number, entry in enumerate(measurement["contestants"]):
            table.add_row(
                "" if number else f"{measurement['events']:,} {measurement['kind']}",
                entry["name"],
                f"{entry['bytes_per_event']:,.0f}",
                *(cell for direction in ("encode", "decode") for cell in _figures(entry, direction)),
            )
    return table


def _figures(entry: Mapping[str, Any], direction: str) -> tuple[str, ...]:
    ratio = entry.get(f"{direction}_headwater_ratio")
    compared = ("", "")
    if ratio:
        compared = f"{ratio['median']:,.2f}", shown_interval(entry[f"{direction}_headwater_ratio_interval"])
    return *_figure(entry[f"{direction}_events_per_second"]), *compared


def _figure(spread: Mapping[str, float]) -> tuple[str, str]:
    return f"{spread['median']:,}", f"{spread['minimum']:,} – {spread['maximum']:,}"
