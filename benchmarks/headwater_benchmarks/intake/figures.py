"""What was measured ⇒ the report's figures and goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from headwater_benchmarks.figures import percentile, ratio, spread
from headwater_benchmarks.intake.ways import Turn
from headwater_benchmarks.report import Goal

ONE, BATCHES, OWN = "one by one", "in batches", "headwater's own events"
KAFKA, RENTGEN = "from a kafka topic", "data-rentgen"
SERVER = "server"
_ONE_MS, _BATCH_MS, _TIMES_AS_FAST = 1.0, 0.3, 5.0


def measured(name: str, turns: Sequence[Turn], beside: Mapping[str, Sequence[Turn]]) -> dict[str, Any]:
    """One way to the graph: rates in events a second, processor time in milliseconds an event.

    Args:
        name: of the way.
        turns: one for each round.
        beside: other ways' turns; their ratios are how many times as fast this way is, round by round.
    """
    rates = [turn.events / turn.seconds for turn in turns]
    found: dict[str, Any] = {
        "name": name,
        "events": turns[0].events,
        "events_per_second": _rounded(rates, 1),
        "processor_ms_per_event": {
            process: _rounded([turn.processor[process] * 1_000 / turn.events for turn in turns], 3)
            for process in turns[0].processor
        },
        "samples": [round(rate, 1) for rate in rates],
    }
    accepted = [turn.events / turn.accepted_seconds for turn in turns if turn.accepted_seconds]
    if accepted:
        found["accepted_per_second"] = _rounded(accepted, 1)
    for other, others in beside.items():
        pairs = list(zip(turns, others, strict=True))
        found[f"times_{other}"] = ratio([theirs.seconds / ours.seconds for ours, theirs in pairs])
    return found


def compared(ours: Sequence[Turn], theirs: Sequence[Turn]) -> dict[str, Any]:
    """What the peer takes as a multiple of what Headwater takes, round by round."""

    def times(of: Callable[[Turn], float]) -> dict[str, Any]:
        return ratio([of(peer) / of(own) for own, peer in zip(ours, theirs, strict=True)])

    return {
        "seconds": times(lambda turn: turn.seconds),
        "processor": times(lambda turn: sum(turn.processor.values())) if _all_seen(ours, theirs) else None,
    }


def _all_seen(ours: Sequence[Turn], theirs: Sequence[Turn]) -> bool:
    return all(set(one.processor) == set(other.processor) for one, other in zip(ours, theirs, strict=True))


def latency(name: str, rate: float, turn: Turn) -> dict[str, Any]:
    """From POST to graph at a steady rate, in milliseconds."""
    return {
        "name": f"latency, {name}",
        "events": turn.events,
        "events_per_second": round(rate, 1),
        "p50_ms": round(percentile(turn.latencies_ms, 0.5), 1),
        "p99_ms": round(percentile(turn.latencies_ms, 0.99), 1),
    }


def goals(measurements: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """What is wished for."""
    by_name = {each["name"]: each for each in measurements}

    def server_ms(name: str) -> float:
        value: float = by_name[name]["processor_ms_per_event"][SERVER]["median"]
        return value

    beside = by_name[RENTGEN].get("times_headwater")
    return [
        Goal("processor time of the server, one by one, ms an event", server_ms(ONE), _ONE_MS),
        Goal("processor time of the server, in batches, ms an event", server_ms(BATCHES), _BATCH_MS),
        Goal(
            "events/s from a topic of OpenLineage events, times Data.Rentgen's",
            None if beside is None else beside["seconds"]["ratio"]["median"],
            _TIMES_AS_FAST,
            "at_least",
        ),
    ]


def _rounded(values: Sequence[float], digits: int) -> dict[str, float]:
    return {name: round(value, digits) for name, value in asdict(spread(values)).items()}
