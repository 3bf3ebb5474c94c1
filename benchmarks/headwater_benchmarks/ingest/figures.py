"""Measurements and goals of the report, from the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from headwater_benchmarks.figures import percentile, ratio, spread
from headwater_benchmarks.ingest.floor.write import Trial
from headwater_benchmarks.ingest.options import PACK
from headwater_benchmarks.ingest.rounds import Found
from headwater_benchmarks.ingest.topic import TopicContents
from headwater_benchmarks.ingest.turn import Turn
from headwater_benchmarks.report import Goal

CONSUMER, FLOOR, SEGMENTS, NAIVE, SINK = "headwater", "floor", "floor of segments", "naive", "sink"
PACKS = f"packs of {PACK}"
LATENCIES = ("latency", "latency at 100 events/s")
FLOOR_GOAL, NAIVE_GOAL, SINK_GOAL, PACKS_GOAL = 0.90, 20.0, 3.5, 15_000.0
LATENCY_GOALS_MS, MEMORY_GOAL_MB, PROCESSOR_GOAL_US = (300.0, 150.0), 250.0, 140.0
_WINDOWS = 5
_UNCOUNTED_SHARE = 0.2


def measurements(
    found: Found, contents: TopicContents, packs: TopicContents, trials: Sequence[Trial]
) -> list[dict[str, Any]]:
    """Each contestant's figures over the rounds; events are distinct ones, of packs their micro-batches.

    Args:
        found: the results of the rounds.
        contents: what was on the topic.
        packs: the same of the topic of packs.
        trials: the trials of the floor's shapes, the fastest first; empty without a floor.
    """
    out = [
        _consumer(CONSUMER, found.consumer, contents.distinct),
        _consumer(PACKS, found.packs, packs.distinct * PACK),
    ]
    rates = {CONSUMER: _rates(contents.distinct, _turns(found.consumer))}
    if trials:
        shape = {"shape": trials[0].shape.name, "rows": trials[0].rows}
        tried = [{"shape": t.shape.name, "rows": t.rows, "seconds": round(t.seconds, 3)} for t in trials]
        for name, turns_ in ((FLOOR, found.floor), (SEGMENTS, found.segments)):
            rates[name] = _rates(contents.distinct, turns_)
            more = {"tried": tried} if name == FLOOR else {}
            out.append(_other(name, turns_, rates, contents.distinct, **shape, **more))
    for name, each in ((NAIVE, found.naive), (SINK, found.sink)):
        if each:
            # All, unless `--by-hand` is given.
            rates[name] = _rates(contents.values_distinct, each)
            out.append(_other(name, each, rates, contents.values_distinct, events=contents.values_distinct))
    return out


def _turns(reports: Sequence[Mapping[str, Any]]) -> list[Turn]:
    return [Turn(each["seconds"], each["processor_seconds"], each["server_seconds"]) for each in reports]


def _rates(events: int, turns: Sequence[Turn]) -> list[float]:
    return [events / turn.seconds for turn in turns]


def _processor(turns: Sequence[Turn], events: int) -> dict[str, Any]:
    """Processor time for each event, of the client's process and of Neo4j's."""
    server = [turn.server / events * 1e6 for turn in turns if turn.server is not None]
    return {
        "processor_us_per_event": {
            "client": _rounded([turn.client / events * 1e6 for turn in turns], 1),
            "neo4j": _rounded(server, 1) if server else None,
        }
    }


def _other(
    name: str, turns: Sequence[Turn], rates: Mapping[str, Sequence[float]], counted: int, **more: Any
) -> dict[str, Any]:
    ratios = [ours / theirs for ours, theirs in zip(rates[CONSUMER], rates[name], strict=True)]
    found = ratio(ratios)
    return {
        "name": name,
        "seconds": _rounded([turn.seconds for turn in turns], 2),
        "events_per_second": _rounded(rates[name], 1),
        "headwater_ratio": found["ratio"],
        "headwater_ratio_interval": found["interval"],
        **_processor(turns, counted),
        **more,
        "samples": {**_samples(turns), "headwater_ratio": ratios},
    }


def _samples(turns: Sequence[Turn]) -> dict[str, list[Any]]:
    """Samples of the turns, in the order of the rounds."""
    return {
        "seconds": [turn.seconds for turn in turns],
        "client_seconds": [turn.client for turn in turns],
        "neo4j_seconds": [turn.server for turn in turns],
    }


def _consumer(name: str, rounds: Sequence[Mapping[str, Any]], counted: int) -> dict[str, Any]:
    turns = _turns(rounds)
    return {
        "name": name,
        "seconds": _rounded([turn.seconds for turn in turns], 2),
        "events_per_second": _rounded(_rates(counted, turns), 1),
        "records_per_second": _rounded([each["applied"] / each["seconds"] for each in rounds], 1),
        "relationships_per_second": _rounded([each["relationships"] / each["seconds"] for each in rounds], 1),
        "relationships": rounds[-1]["relationships"],
        "nodes": rounds[-1]["nodes"],
        "records": rounds[-1]["applied"],
        "transactions": rounds[-1]["transactions"],
        "retries": sum(each["retries"] for each in rounds),
        "peak_rss_mb": _rounded([each["peak_rss_mb"] for each in rounds], 1),
        "stages": _stages(rounds),
        **_processor(turns, counted),
        "samples": _samples(turns),
    }


def _stages(rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Each stage's share of the time from the first record to the last commit, and how much of it a write hid."""
    out: dict[str, Any] = {}
    for stage in rounds[-1]["stages"]:
        both = [(each["stages"][stage], each["seconds"]) for each in rounds if stage in each["stages"]]
        hidden = [of["hidden"] / of["seconds"] for of, _ in both if of["hidden"] is not None and of["seconds"]]
        out[stage] = {
            "times": both[-1][0]["times"],
            "seconds": _rounded([of["seconds"] for of, _ in both], 2),
            "share": _rounded([of["seconds"] / whole for of, whole in both], 3),
            "hidden": _rounded(hidden, 3) if hidden else None,
        }
    return out


def latency(rate: float, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Milliseconds from producing an event to the commit that includes it, over five parts of equal length.

    The first fifth of the time doesn't count: the consumer has just started.

    Args:
        rate: events per second that were sent.
        measured: the report of the consumer's process, with `latencies`.
    """
    samples = sorted(measured["latencies"])
    first, last = samples[0][0], samples[-1][0]
    counted = first + (last - first) * _UNCOUNTED_SHARE
    width = max((last - counted) / _WINDOWS, 1)
    windows: list[list[float]] = [[] for _ in range(_WINDOWS)]
    for at, milliseconds in samples:
        if at >= counted:
            windows[min(int((at - counted) / width), _WINDOWS - 1)].append(milliseconds)
    kept = [each for each in windows if each]
    every = [milliseconds for each in kept for milliseconds in each]
    return {
        "events_per_second": round(rate, 1),
        "events": len(every),
        "p50_ms": _rounded([percentile(each, 0.5) for each in kept], 1),
        "p99_ms": _rounded([percentile(each, 0.99) for each in kept], 1),
        "all_p50_ms": round(percentile(every, 0.5), 1),
        "all_p99_ms": round(percentile(every, 0.99), 1),
        "transactions": measured["transactions"],
        "peak_rss_mb": round(measured["peak_rss_mb"], 1),
        "samples_ms": [[round(at - first), round(milliseconds, 1)] for at, milliseconds in samples],
    }


def goals(measured: Sequence[Mapping[str, Any]], latencies: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """Goals of ingestion, with the measured values.

    Args:
        measured: `measurements`.
        latencies: `latency` at half the rate and at the slow one, if they were measured.
    """
    by_name = {each["name"]: each for each in measured}
    wished = [
        Goal(f"{CONSUMER} / {name}, events per second", by_name[name]["headwater_ratio"]["median"], goal, "at_least")
        for name, goal in ((FLOOR, FLOOR_GOAL), (NAIVE, NAIVE_GOAL), (SINK, SINK_GOAL))
        if name in by_name
    ]
    for name, each, goal in zip(("half the rate", "100 events/s"), latencies, LATENCY_GOALS_MS, strict=False):
        wished.append(Goal(f"event to graph at {name}, p99 ms", each["all_p99_ms"], goal))
    packs = by_name[PACKS]["events_per_second"]["median"]
    wished.append(Goal(f"micro-batches per second in {PACKS}", packs, PACKS_GOAL, "at_least"))
    client = by_name[CONSUMER]["processor_us_per_event"]["client"]["median"]
    wished.append(Goal("processor time of the consumer for an event, µs", client, PROCESSOR_GOAL_US))
    peaks = [by_name[name]["peak_rss_mb"]["maximum"] for name in (CONSUMER, PACKS)]
    peaks += [each["peak_rss_mb"] for each in latencies]
    wished.append(Goal("peak RSS of the consumer, MB", max(peaks), MEMORY_GOAL_MB))
    return wished


def _rounded(values: Sequence[float], digits: int) -> dict[str, float]:
    return {name: round(value, digits) for name, value in asdict(spread(values)).items()}
