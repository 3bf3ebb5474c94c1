"""The report as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping


def view(document: Mapping[str, Any]) -> Table:
    """For people: each kind's codecs one below the other."""
    table = Table(box=None, pad_edge=False)
    for heading in ("events", "codec"):
        table.add_column(heading)
    for heading in ("bytes/event", "encode, events/s", "(least to most)", "decode, events/s", "(least to most)"):
        table.add_column(heading, justify="right")
    for measurement in document["measurements"]:
        for number, entry in enumerate(measurement["contestants"]):
            table.add_row(
                "" if number else f"{measurement['events']:,} {measurement['kind']}",
                entry["name"],
                f"{entry['bytes_per_event']:,.0f}",
                *_figure(entry["encode_events_per_second"]),
                *_figure(entry["decode_events_per_second"]),
            )
    return table


def _figure(spread: Mapping[str, float]) -> tuple[str, str]:
    return f"{spread['median']:,}", f"{spread['minimum']:,} – {spread['maximum']:,}"
