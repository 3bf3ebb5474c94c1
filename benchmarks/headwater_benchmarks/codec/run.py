"""Measures the codecs and makes the report."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from headwater.console import console
from headwater_benchmarks.codec.contestants import HEADWATER, Material, Question, codecs, contestant, groups, material
from headwater_benchmarks.figures import ratio, spread
from headwater_benchmarks.report import report
from headwater_benchmarks.rounds import Result, interleave
from headwater_benchmarks.workload.mixture import Mixture


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure.

    Attributes:
        events: how many, of all kinds together.
        rounds: how many count.
        seed: decides the events.
    """

    events: int
    rounds: int
    seed: int


def run(options: Options) -> dict[str, Any]:
    """Make events, encode and decode them, and report."""
    grouped = groups(list(Mixture(options.seed).take(options.events)))
    questions = [Question(group, direction) for group in grouped for direction in ("encode", "decode")]
    with console.progress(lines=True) as progress:
        known = codecs()
        works_on = [material(codec, grouped) for codec in progress.track(known, description="events")]
        contestants = [contestant(codec, each) for codec, each in zip(known, works_on, strict=True)]
        task = progress.add_task("rounds", total=(options.rounds + 1) * len(questions) * len(contestants))
        # The encoded and decoded events are never garbage: freeze them, so that no collection examines them.
        gc.collect()
        gc.freeze()
        try:
            # Nothing waits here, so processor time is what elapsed time would be on a quiet machine.
            results = interleave(
                contestants,
                questions,
                rounds=options.rounds,
                asked=lambda: progress.advance(task),
                clock=time.process_time,
            )
        finally:
            gc.unfreeze()
    return report(
        "codec",
        options=asdict(options),
        environment={"fastavro": version("fastavro"), "msgspec": version("msgspec")},
        measurements=[
            _measured(group, questions, results, works_on, {name: len(events) for name, events in grouped.items()})
            for group in grouped
        ],
        goals=[],
    )


def _measured(
    group: str,
    questions: Sequence[Question],
    results: Sequence[Result],
    works_on: Sequence[Material],
    counts: Mapping[str, int],
) -> dict[str, Any]:
    """One group: each codec's rates in both directions, compared with Headwater's, and its bytes per event."""
    contestants = []
    ours = next(result for result in results if result.name == HEADWATER)
    for result, each in zip(results, works_on, strict=True):
        entry: dict[str, Any] = {"name": result.name, "bytes_per_event": round(each.bytes_per_event(group), 1)}
        for place, question in enumerate(questions):
            if question.group == group:
                rates = [counts[group] / seconds[place] for seconds in result.rounds]
                rounded = {name: round(rate) for name, rate in asdict(spread(rates)).items()}
                entry[f"{question.direction}_events_per_second"] = rounded
                entry[f"{question.direction}_samples"] = [round(rate, 1) for rate in rates]
                if result is not ours:
                    # A ratio of rates is the inverse ratio of times: how many times as fast Headwater is.
                    found = ratio([b[place] / a[place] for a, b in zip(ours.rounds, result.rounds, strict=True)])
                    entry[f"{question.direction}_headwater_ratio"] = found["ratio"]
                    entry[f"{question.direction}_headwater_ratio_interval"] = found["interval"]
        contestants.append(entry)
    return {"kind": group, "events": counts[group], "contestants": contestants}
