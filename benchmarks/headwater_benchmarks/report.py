"""Figures over rounds, goals, a benchmark's JSON document, and its tables."""

from __future__ import annotations

import json
import math
import os
import platform
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from headwater.errors import InputError
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version

ROUNDS = 5
"""Minimum number of rounds for a figure, which is the median over rounds."""
_RESAMPLES = 4_000
"""Number of bootstrap resamples: with more, the interval's printed ends don't change."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, and the value that it should reach.

    Attributes:
        name: name of the figure, with the unit last: `trace, one hop, p95 ms`.
        value: measured value; None if it couldn't be measured.
        direction: whether larger or smaller values meet the goal.
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


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value such that at least `share` of the values are at most this value; never interpolated."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def spread(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """Median over rounds, with the smallest and the greatest value."""
    found = {"median": statistics.median(values), "minimum": min(values), "maximum": max(values)}
    return {name: round(value, digits) for name, value in found.items()}


def interval(values: Sequence[float]) -> dict[str, float]:
    """95 % interval of the median over rounds, by the percentile bootstrap; deterministic.

    Each value of a ratio comes from one round, in which both sides were measured one after the other. So a slowdown of
    the machine affects both sides, and cancels out.
    """
    dice = random.Random(0)  # noqa: S311  no secret
    medians = [statistics.median(dice.choices(values, k=len(values))) for _ in range(_RESAMPLES)]
    return {"low": round(percentile(medians, 0.025), 3), "high": round(percentile(medians, 0.975), 3)}


def ratio(name: str, values: Sequence[float]) -> dict[str, dict[str, float]]:
    """Entries of a report for a ratio: its spread over rounds as `<name>`, and its interval as `<name>_interval`."""
    return {name: spread(values), f"{name}_interval": interval(values)}


def report(
    benchmark: str,
    *,
    options: Mapping[str, Any],
    measurements: Sequence[Mapping[str, Any]],
    goals: Sequence[Goal],
    environment: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Document of the measurements, the machine and the goals."""
    return {
        "benchmark": benchmark,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "headwater": version("headwater"),
        "options": dict(options),
        "environment": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            "java": java_runtime().version,
            "kafka": locked_version("kafka", "kafka_2.13"),
            "neo4j": locked_version("neo4j", "neo4j"),
            **(environment or {}),
        },
        "measurements": list(measurements),
        "goals": [{**asdict(goal), "met": goal.met} for goal in goals],
    }


def save(document: Mapping[str, Any], output: Path) -> None:
    """Write the document.

    Raises:
        InputError: the file can't be written.
    """
    try:
        output.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} can't be written: {error.strerror}.") from error


def table(*headings: str, left: int = 1) -> Table:
    """Table without lines. The first `left` columns and columns without a heading are for text, others for numbers."""
    out = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        out.add_column(heading, justify="left" if number < left or not heading else "right")
    return out


def shown(value: Mapping[str, float] | float | None, digits: int = 1) -> str:
    """Format a figure for a table: a number, a spread, an interval, or nothing."""
    if value is None:
        return ""
    if not isinstance(value, Mapping):
        return f"{value:,.{digits}f}"
    if "low" in value:
        return f"{value['low']:,.{digits}f} to {value['high']:,.{digits}f}"
    middle, least, most = (f"{value[name]:,.{digits}f}" for name in ("median", "minimum", "maximum"))
    return f"{middle} ({least} – {most})"


def goals_table(document: Mapping[str, Any]) -> Table:
    """Table of a report's goals with the measured values."""
    goals = table("goal", "measured", "wished for", "")
    for goal in document["goals"]:
        wished = f"{'≤' if goal['direction'] == 'at_most' else '≥'} {goal['goal']:,}"
        value = "not measured" if goal["value"] is None else f"{round(goal['value'], 3):,}"
        goals.add_row(goal["name"], value, wished, "met" if goal["met"] else "not met")
    return goals
