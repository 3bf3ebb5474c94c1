"""Processor time and memory of processes, and measurements in which contestants take turns."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psutil

from headwater_benchmarks.report import percentile, ratio, spread

T = TypeVar("T")


def peak_mb(pid: int) -> float | None:
    """Peak resident memory of another process so far, in MiB; None if the system doesn't store it (Linux does)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), None)


def own_peak_mb() -> float:
    """Peak resident memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


def processor_seconds(pid: int) -> float:
    """Processor seconds of another process so far, in steps of 10 ms."""
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def in_turns(contestants: Sequence[T], rounds: int, *, warm_up: int = 0) -> Iterator[tuple[int, T]]:
    """Yield the number of the round and a contestant: each contestant once a round, in rotating order.

    The rounds of the warm-up have numbers below 0, and don't count.
    """
    for number in range(-warm_up, rounds):
        for offset in range(len(contestants)):
            yield number, contestants[(number + offset) % len(contestants)]


def ask_in_turns(
    answers: Mapping[str, Callable[[Any], int]],
    questions: Sequence[Any],
    *,
    rounds: int,
    warm_up: int,
    pid: int,
    asked: Callable[[], object] = lambda: None,
) -> list[dict[str, Any]]:
    """Ask all contestants a question before the next question, in several rounds; return a report per contestant.

    So other load and the state of caches are the same for all contestants.

    Args:
        answers: for each contestant, Headwater first: function that answers a question and returns the number of
            results.
        questions: questions of each round, in order.
        rounds: number of counted rounds.
        warm_up: number of earlier, unmeasured rounds: a new JVM takes ten times as long.
        pid: process of the database, whose processor time is added to the processor time of this process.
        asked: called after each answer.
    """
    names = list(answers)
    seconds: dict[str, list[list[float]]] = {name: [[] for _ in range(rounds)] for name in answers}
    found: dict[str, list[int]] = {name: [0] * len(questions) for name in answers}
    processor = dict.fromkeys(answers, 0.0)
    for number in range(-warm_up, rounds):
        for at, question in enumerate(questions):
            for turn in range(len(answers)):
                name = names[(turn + at + number) % len(names)]
                used, begun = time.process_time() + processor_seconds(pid), time.perf_counter()
                found[name][at] = answers[name](question)
                if number >= 0:
                    seconds[name][number].append(time.perf_counter() - begun)
                    processor[name] += time.process_time() + processor_seconds(pid) - used
                asked()
    return [
        _answered(name, seconds[name], found[name], processor[name], seconds[names[0]] if name != names[0] else None)
        for name in names
    ]


def _answered(
    name: str,
    rounds: Sequence[Sequence[float]],
    found: Sequence[int],
    processor: float,
    ours: Sequence[Sequence[float]] | None,
) -> dict[str, Any]:
    """Report of one contestant in milliseconds; for each round, the ratio is Headwater's median ÷ this contestant's."""
    compared: dict[str, Any] = {}
    if ours is not None:
        pairs = zip(ours, rounds, strict=True)
        compared = ratio("headwater_ratio", [percentile(one, 0.5) / percentile(other, 0.5) for one, other in pairs])
    return {
        "name": name,
        "p50_ms": spread([percentile(each, 0.5) * 1_000 for each in rounds], 2),
        "p95_ms": spread([percentile(each, 0.95) * 1_000 for each in rounds], 2),
        "processor_ms": round(processor * 1_000 / sum(map(len, rounds)), 1),
        "rounds": len(rounds),
        "questions": len(rounds[0]),
        "found": {"median": statistics.median_low(found), "minimum": min(found), "maximum": max(found)},
        **compared,
        "samples_ms": [[round(each * 1_000, 3) for each in seconds] for seconds in rounds],
    }
