"""Measurements and goals of the report, from the turns of each round; the report as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group

from headwater_benchmarks.report import Goal, goals_table, percentile, ratio, shown, spread, table

if TYPE_CHECKING:
    from rich.console import RenderableType

PACK = 50
"""Number of micro-batches in each event of the contestant `packs`."""
CONSUMER, PACKS, FLOOR, NAIVE, SINK = "headwater", f"packs of {PACK}", "floor", "naive", "sink"
LATENCIES = ("latency", "latency at 100 events/s")
_RATIO_GOALS = {FLOOR: 0.90, NAIVE: 20.0, SINK: 3.5}
_LATENCY_GOALS_MS = {"half the rate": 300.0, "100 events/s": 150.0}
_PACKS_GOAL, _MEMORY_GOAL_MB, _PROCESSOR_GOAL_US = 15_000.0, 250.0, 140.0
_UNCOUNTED_SHARE = 0.2


def measurements(turns: Mapping[str, Sequence[Mapping[str, Any]]], events: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the figures of each contestant over the rounds.

    Args:
        turns: for each contestant, a report per round: time and processor time, and for the consumer further figures.
        events: for each contestant, number of distinct written events; for packs, number of micro-batches.
    """
    rates = {name: [events[name] / turn["seconds"] for turn in each] for name, each in turns.items()}
    found = []
    for name, each in turns.items():
        entry: dict[str, Any] = {
            "name": name,
            "seconds": spread([turn["seconds"] for turn in each], 2),
            "events_per_second": spread(rates[name], 1),
            "processor_us_per_event": {
                side: spread([turn[f"{side}_seconds"] / events[name] * 1e6 for turn in each], 1)
                for side in ("client", "neo4j")
            },
            "samples": {word: [turn[word] for turn in each] for word in ("seconds", "client_seconds", "neo4j_seconds")},
        }
        if name in {CONSUMER, PACKS}:
            entry |= _consumer(each)
        else:
            entry |= {"events": events[name]}
            entry |= ratio(
                "headwater_ratio", [ours / theirs for ours, theirs in zip(rates[CONSUMER], rates[name], strict=True)]
            )
        found.append(entry)
    return found


def _consumer(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    last = rounds[-1]
    return {
        "records_per_second": spread([each["applied"] / each["seconds"] for each in rounds], 1),
        "relationships_per_second": spread([each["relationships"] / each["seconds"] for each in rounds], 1),
        **{name: last[name] for name in ("relationships", "nodes", "transactions")},
        "records": last["applied"],
        "retries": sum(each["retries"] for each in rounds),
        "peak_rss_mb": spread([each["peak_rss_mb"] for each in rounds], 1),
        "stages": {
            stage: {
                "times": round(last["stages"][stage]["times"]),
                "seconds": spread([each["stages"][stage]["seconds"] for each in rounds], 2),
                "share": spread([each["stages"][stage]["seconds"] / each["seconds"] for each in rounds], 3),
            }
            for stage in last["stages"]
        },
    }


def latency(rate: float, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures of the milliseconds from producing an event to the commit of its transaction.

    The first fifth of the time doesn't count, because the consumer has just started then.

    Args:
        rate: sent events per second.
        measured: the report of the consumer's process, with `latencies`.
    """
    samples = sorted(measured["latencies"])
    first, last = samples[0][0], samples[-1][0]
    counted = [milliseconds for at, milliseconds in samples if at >= first + (last - first) * _UNCOUNTED_SHARE]
    return {
        "events_per_second": round(rate, 1),
        "events": len(counted),
        "all_p50_ms": round(percentile(counted, 0.5), 1),
        "all_p99_ms": round(percentile(counted, 0.99), 1),
        "transactions": measured["transactions"],
        "peak_rss_mb": round(measured["peak_rss_mb"], 1),
        "samples_ms": [[round(at - first), round(milliseconds, 1)] for at, milliseconds in samples],
    }


def goals(measured: Sequence[Mapping[str, Any]], latencies: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """Goals of ingestion, with the measured values.

    Args:
        measured: `measurements`.
        latencies: `latency` at half the rate and at the slow rate, if measured.
    """
    by_name = {each["name"]: each for each in measured}
    consumer, packs = by_name[CONSUMER], by_name[PACKS]
    peaks = [each["peak_rss_mb"]["maximum"] for each in (consumer, packs)]
    peaks += [each["peak_rss_mb"] for each in latencies]
    return [
        *(
            Goal(
                f"{CONSUMER} / {name}, events per second", by_name[name]["headwater_ratio"]["median"], goal, "at_least"
            )
            for name, goal in _RATIO_GOALS.items()
            if name in by_name
        ),
        *(
            Goal(f"event to graph at {name}, p99 ms", each["all_p99_ms"], goal)
            for each, (name, goal) in zip(latencies, _LATENCY_GOALS_MS.items(), strict=False)
        ),
        Goal(f"micro-batches per second in {PACKS}", packs["events_per_second"]["median"], _PACKS_GOAL, "at_least"),
        Goal(
            "processor time of the consumer for an event, µs",
            consumer["processor_us_per_event"]["client"]["median"],
            _PROCESSOR_GOAL_US,
        ),
        Goal("peak RSS of the consumer, MB", max(peaks), _MEMORY_GOAL_MB),
    ]


def ingest_tables(document: Mapping[str, Any]) -> Group:
    """Report for people: contestants, stages, latency, goals; medians with minimum and maximum."""
    by_name = {each["name"]: each for each in document["measurements"]}
    contestants = table("", "events/s", "headwater is × as fast", "95 % interval", "CPU µs/event", "in Neo4j", "")
    parts: list[RenderableType] = [contestants]
    for name in (CONSUMER, PACKS, FLOOR, NAIVE, SINK):
        if name not in by_name:
            continue
        each = by_name[name]
        more = ""
        if "stages" in each:
            more = f"{each['relationships_per_second']['median']:,.0f} relationships/s, "
            more += f"{each['peak_rss_mb']['maximum']:,.0f} MB"
            stages = table(f"stage, {name}", "times", "seconds", "share of the time")
            for stage, took in each["stages"].items():
                stages.add_row(stage, f"{took['times']:,}", shown(took["seconds"], 2), f"{took['share']['median']:.0%}")
            parts += ["", stages]
        contestants.add_row(
            name,
            shown(each["events_per_second"], 0),
            shown(each.get("headwater_ratio"), 2),
            shown(each.get("headwater_ratio_interval"), 2),
            *(shown(each["processor_us_per_event"][side]["median"], 0) for side in ("client", "neo4j")),
            more,
        )
    parts += [
        f"\nEvent to graph at {late['events_per_second']:,.0f} events/s: p50 {late['all_p50_ms']:,.0f} ms, "
        f"p99 {late['all_p99_ms']:,.0f} ms, of {late['events']:,} events."
        for late in (by_name[name] for name in LATENCIES if name in by_name)
    ]
    return Group(*parts, "", goals_table(document))
