"""Report of a benchmark: one JSON document, which ends with its goals. It reports; it does not judge."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from headwater.errors import InputError
from headwater_benchmarks.figures import Spread, figures, percentile, ratio
from headwater_benchmarks.rounds import Result


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure that is wished for.

    Attributes:
        name: of the figure, its unit last: `trace, one hop, p95 ms`.
        value: measured; None if it couldn't be.
        goal: wished for.
        direction: which way it is met.
    """

    name: str
    value: float | None
    goal: float
    direction: Literal["at_least", "at_most"] = "at_most"

    @property
    def met(self) -> bool:
        """True when the value meets the goal."""
        if self.value is None:
            return False
        return self.value <= self.goal if self.direction == "at_most" else self.value >= self.goal

    def document(self) -> dict[str, Any]:
        """For the report."""
        return {**asdict(self), "met": self.met}


def measured(result: Result, ours: Result | None = None) -> dict[str, Any]:
    """Report of one contestant: milliseconds; processor time is the mean of an answer.

    Args:
        result: of the contestant.
        ours: Headwater's, whose medians are shown as a multiple of this one's; None for Headwater itself.
    """
    found = figures(result.rounds)
    compared = {}
    if ours is not None:
        pairs = zip(ours.rounds, result.rounds, strict=True)
        against = ratio([percentile(one, 0.5) / percentile(other, 0.5) for one, other in pairs])
        compared = {"headwater_ratio": against["ratio"], "headwater_ratio_interval": against["interval"]}
    return {
        "name": result.name,
        "p50_ms": _milliseconds(found.p50),
        "p95_ms": _milliseconds(found.p95),
        "processor_ms": round(result.processor_seconds * 1_000 / (found.rounds * found.questions), 1),
        "rounds": found.rounds,
        "questions": found.questions,
        "too_long": result.too_long,
        "found": {
            "median": statistics.median_low(result.found),
            "minimum": min(result.found),
            "maximum": max(result.found),
        },
        **compared,
        "samples_ms": [[round(seconds * 1_000, 3) for seconds in each] for each in result.rounds],
    }


def report(
    benchmark: str,
    *,
    options: Mapping[str, Any],
    environment: Mapping[str, Any],
    measurements: Sequence[Mapping[str, Any]],
    goals: Sequence[Goal],
    now: datetime | None = None,
) -> dict[str, Any]:
    """The document."""
    return {
        "benchmark": benchmark,
        "at": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "headwater": version("headwater"),
        "options": dict(options),
        "environment": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            **environment,
        },
        "measurements": list(measurements),
        "goals": [goal.document() for goal in goals],
    }


def save(document: Mapping[str, Any], output: Path) -> None:
    """Write the document.

    Raises:
        InputError: it can't be written there.
    """
    try:
        output.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} can't be written: {error.strerror}.") from error


def _milliseconds(spread: Spread) -> dict[str, float]:
    return {name: round(value * 1_000, 2) for name, value in asdict(spread).items()}
