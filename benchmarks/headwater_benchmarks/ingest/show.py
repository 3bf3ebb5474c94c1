"""The report as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table

from headwater_benchmarks.figures import shown_interval
from headwater_benchmarks.ingest.figures import CONSUMER, FLOOR, LATENCIES, NAIVE, PACKS, SEGMENTS, SINK

if TYPE_CHECKING:
    from rich.console import RenderableType


def view(document: Mapping[str, Any]) -> Group:
    """For people: contestants, stages, latency, goals; medians with the least and the greatest."""
    by_name = {each["name"]: each for each in document["measurements"]}
    parts: list[RenderableType] = [_contestants(by_name)]
    for name in (CONSUMER, PACKS):
        parts += ["", _stages(name, by_name[name])]
    for late in (by_name[name] for name in LATENCIES if name in by_name):
        parts += [
            (
                f"\nEvent to graph at {late['events_per_second']:,.0f} events/s: p50 {late['all_p50_ms']:,.0f} ms, "
                f"p99 {late['all_p99_ms']:,.0f} ms, of {late['events']:,} events."
            )
        ]
    parts += [f"\n{name}: {_same(each)}" for name, each in by_name.items() if name.startswith("graph of")]
    return Group(*parts, "", _goals(document))


def _contestants(by_name: Mapping[str, Mapping[str, Any]]) -> Table:
    table = _table("", "events/s", "(least to most)", "headwater is × as fast", "95 % interval", "CPU µs/event", "")
    for name in (CONSUMER, PACKS, FLOOR, SEGMENTS, NAIVE, SINK):
        if name not in by_name:
            continue
        each = by_name[name]
        ratio = each.get("headwater_ratio")
        more = f"{each['shape']}, {each['rows']:,} rows" if name in {FLOOR, SEGMENTS} else ""
        if name in {CONSUMER, PACKS}:
            more = f"{each['relationships_per_second']['median']:,.0f} relationships/s, "
            more += f"{each['peak_rss_mb']['maximum']:,.0f} MB"
        rate, ratios = _figure(each["events_per_second"], 0), ("", "")
        if ratio:
            ratios = f"{ratio['median']:,.2f}", shown_interval(each["headwater_ratio_interval"])
        table.add_row(name, *rate, *ratios, _processor(each["processor_us_per_event"]), more)
    return table


def _processor(each: Mapping[str, Any]) -> str:
    server = "" if each["neo4j"] is None else f" + {each['neo4j']['median']:,.0f} in Neo4j"
    return f"{each['client']['median']:,.0f}{server}"


def _stages(name: str, consumer: Mapping[str, Any]) -> Table:
    table = _table(f"stage, {name}", "times", "seconds", "share of the time", "while a batch was written")
    for stage, each in consumer["stages"].items():
        hidden = f"{each['hidden']['median']:.0%}" if each["hidden"] else ""
        share = f"{each['share']['median']:.0%}"
        table.add_row(stage, f"{each['times']:,}", f"{each['seconds']['median']:,.2f}", share, hidden)
    return table


def _same(each: Mapping[str, Any]) -> str:
    if each["same"]:
        return f"{each['equal']:,} nodes and relationships as they should be"
    return f"{each['missing']:,} missing, {each['extra']:,} too many, {each['changed']:,} changed"


def _goals(document: Mapping[str, Any]) -> Table:
    table = _table("goal", "measured", "wished for", "")
    for goal in document["goals"]:
        wished = f"{'≤' if goal['direction'] == 'at_most' else '≥'} {goal['goal']:,}"
        table.add_row(goal["name"], f"{goal['value']:,.2f}", wished, "met" if goal["met"] else "not met")
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place and heading else "left")
    return table


def _figure(spread: Mapping[str, float], digits: int) -> tuple[str, str]:
    middle, least, most = (spread[name] for name in ("median", "minimum", "maximum"))
    return f"{middle:,.{digits}f}", f"{least:,.{digits}f} – {most:,.{digits}f}"
