"""Measured seconds, summed up."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 5
"""The fewest rounds that a figure may be the median of."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over all rounds: the median, with the least and the greatest beside it."""

    median: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What one contestant took, in seconds.

    Attributes:
        p50: each round's median over its questions, over all rounds.
        p95: each round's 95th percentile.
        rounds: how many.
        questions: asked in each round.
    """

    p50: Spread
    p95: Spread
    rounds: int
    questions: int


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that at least `share` of the values don't exceed: one that was measured, never one in between."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def spread(values: Sequence[float]) -> Spread:
    """Over rounds."""
    return Spread(statistics.median(values), min(values), max(values))


def figures(rounds: Sequence[Sequence[float]]) -> Figures:
    """Of each round, the seconds of each question."""
    return Figures(
        p50=spread([percentile(each, 0.5) for each in rounds]),
        p95=spread([percentile(each, 0.95) for each in rounds]),
        rounds=len(rounds),
        questions=len(rounds[0]),
    )
