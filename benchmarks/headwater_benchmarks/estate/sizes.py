"""How much of everything."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

GENERATOR = 2
"""Rises whenever the same sizes and seed would make another graph, so that stores made before aren't used."""

FEEDS_PER_DATASET = 3
"""Mean out-degree."""

DATASETS_PER_DOMAIN = 20_000
"""Datasets that feed each other; over half of them, 10,000 to 11,000, are reached from one that reaches many at all."""

BATCHES_PER_QUERY = 2_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the estate has; relationships follow from it, about five for each interval and four for each column.

    Attributes:
        datasets: those of streaming pipelines included.
        columns: of all datasets together.
        intervals: micro-batches of all streaming queries together; rounded to whole pipelines.
        seed: of everything that is drawn.
    """

    datasets: int
    columns: int
    intervals: int
    seed: int

    @property
    def digest(self) -> str:
        """Short and the same for equal estates: names the store."""
        text = f"{GENERATOR} {sorted(asdict(self).items())}"
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


FULL = {"datasets": 100_000, "columns": 1_000_000, "intervals": 1_000_000}
"""The sizes that the goals are about."""

QUICK = {"datasets": 5_000, "columns": 50_000, "intervals": 20_000}
"""The default: made in half a minute, for a look."""
