"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group

from headwater_benchmarks.figures import shown_interval
from headwater_benchmarks.intake.figures import RENTGEN
from headwater_benchmarks.tables import goals_table, table

if TYPE_CHECKING:
    from rich.table import Table


def view(document: Mapping[str, Any]) -> Group:
    """For people: ways, the peer, goals; medians with the least and the greatest."""
    by_name = {each["name"]: each for each in document["measurements"]}
    return Group(_ways(document), f"\n{_peer(by_name[RENTGEN])}", "", goals_table(document))


def _ways(document: Mapping[str, Any]) -> Table:
    found = table("", "events/s", "(least to most)", "accepted/s", "processor ms/event")
    for each in document["measurements"]:
        if "samples" not in each:
            continue
        rate, accepted = each["events_per_second"], each.get("accepted_per_second")
        found.add_row(
            each["name"],
            f"{rate['median']:,.0f}",
            f"{rate['minimum']:,.0f} – {rate['maximum']:,.0f}",
            "" if accepted is None else f"{accepted['median']:,.0f}",
            ", ".join(f"{name} {found['median']:.2f}" for name, found in each["processor_ms_per_event"].items()),
        )
    return found


def _peer(found: Mapping[str, Any]) -> str:
    if "absent" in found:
        return f"Data.Rentgen wasn't measured: {found['absent']}."
    seconds, processor = found["times_headwater"]["seconds"], found["times_headwater"]["processor"]
    text = (
        f"Data.Rentgen {found['version']} takes {seconds['ratio']['median']:.2f} × as long as Headwater from a topic "
    )
    text += f"({shown_interval(seconds['interval'])})"
    return text + (f", and {processor['ratio']['median']:.2f} × its processor time" if processor else "") + "."
