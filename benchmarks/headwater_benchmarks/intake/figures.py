"""Figures and goals of the report, from the measured turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from headwater_benchmarks.figures import ratio, spread
from headwater_benchmarks.intake.turns import Turn
from headwater_benchmarks.report import Goal

HTTP, KAFKA, RENTGEN = "over http", "from a kafka topic", "data-rentgen"
_ONE_MS, _BATCH_MS, _TIMES_AS_FAST = 1.0, 0.3, 5.0


def measured(name: str, turns: Sequence[Turn]) -> dict[str, Any]:
    """One way: rates in events a second, processor time in milliseconds an event; a turn for each round."""
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
    return found


def compared(ours: Sequence[Turn], theirs: Sequence[Turn]) -> dict[str, Any]:
    """Ratio of the peer's cost to Headwater's, round by round."""

    def times(of: Callable[[Turn], float]) -> dict[str, Any]:
        return ratio([of(peer) / of(own) for own, peer in zip(ours, theirs, strict=True)])

    seen = all(set(one.processor) == set(other.processor) for one, other in zip(ours, theirs, strict=True))
    return {
        "seconds": times(lambda turn: turn.seconds),
        "processor": times(lambda turn: sum(turn.processor.values())) if seen else None,
    }


def goals(measurements: Sequence[Mapping[str, Any]], *, batch: int) -> list[Goal]:
    """The goals, with what was measured.

    Args:
        measurements: of each way.
        batch: documents in a request over HTTP.
    """
    by_name = {each["name"]: each for each in measurements}
    how, wished = ("one by one", _ONE_MS) if batch == 1 else ("in batches", _BATCH_MS)
    server_ms = by_name[HTTP]["processor_ms_per_event"]["server"]["median"]
    beside = by_name[RENTGEN].get("times_headwater")
    return [
        Goal(f"processor time of the server, {how}, ms an event", server_ms, wished),
        Goal(
            "events/s from a topic of OpenLineage events, times Data.Rentgen's",
            None if beside is None else beside["seconds"]["ratio"]["median"],
            _TIMES_AS_FAST,
            "at_least",
        ),
    ]


def _rounded(values: Sequence[float], digits: int) -> dict[str, float]:
    return {name: round(value, digits) for name, value in asdict(spread(values)).items()}
