"""Measured seconds, summed up."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

ROUNDS = 5
"""The fewest rounds that a figure may be the median of."""


RESAMPLES = 4_000
"""Resamples of the bootstrap: with so many, the interval's ends move by less than what is printed of them."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval, from `low` to `high`."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over all rounds: the median, with the least and the greatest beside it."""

    median: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds that one contestant took.

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
    """Aggregate the seconds of each question, given by round."""
    return Figures(
        p50=spread([percentile(each, 0.5) for each in rounds]),
        p95=spread([percentile(each, 0.95) for each in rounds]),
        rounds=len(rounds),
        questions=len(rounds[0]),
    )


def bootstrap(values: Sequence[float], *, confidence: float = CONFIDENCE, seed: int = 0) -> Interval:
    """Interval of the median over rounds, by the percentile bootstrap: as many rounds, drawn with return, many times.

    A ratio's values are each of one round, in which both sides were measured one after the other, so that what slows
    both down is in neither. Of five rounds it is about as wide as they are: that is how much five rounds say.

    Args:
        values: one for each round.
        confidence: share of the medians that the interval holds.
        seed: of the draws; one seed, one interval.
    """
    dice = random.Random(seed)  # noqa: S311  no secret
    medians = [statistics.median(dice.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    return Interval(percentile(medians, (1 - confidence) / 2), percentile(medians, (1 + confidence) / 2))


def ratio(values: Sequence[float], digits: int = 3) -> dict[str, dict[str, float]]:
    """A ratio for a report: `ratio` is its spread over rounds, `interval` the bootstrap's."""
    return {
        "ratio": {name: round(value, digits) for name, value in asdict(spread(values)).items()},
        "interval": {name: round(value, digits) for name, value in asdict(bootstrap(values)).items()},
    }


def shown_interval(interval: Mapping[str, float], digits: int = 2) -> str:
    """`1.02 to 1.07`, for tables."""
    return f"{interval['low']:,.{digits}f} to {interval['high']:,.{digits}f}"
