"""Sizes of the generated estate."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

GENERATOR = 4
"""Raise it when the same sizes and seed make another graph, so that kept stores aren't used any more."""

FEEDS_PER_DATASET = 3
"""Mean out-degree."""

DATASETS_PER_DOMAIN = 20_000
"""Datasets that feed each other. A dataset that reaches many reaches over half of them, 10,000 to 11,000."""

BATCHES_PER_QUERY = 6_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """Size of the estate. Relationships follow: four for each column, two for each version of a streamed table.

    Attributes:
        datasets: datasets, including those of streaming pipelines.
        columns: columns of all datasets together.
        intervals: micro-batches of all streaming queries together, rounded to whole pipelines.
        seed: decides everything that is random.
    """

    datasets: int
    columns: int
    intervals: int
    seed: int

    @property
    def digest(self) -> str:
        """A short digest, the same for equal estates; the name of the kept store."""
        text = f"{GENERATOR} {sorted(asdict(self).items())}"
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


FULL = {"datasets": 100_000, "columns": 1_000_000, "intervals": 180_000}
"""The sizes that the goals are for. Micro-batches are written one transaction after the other, in a minute or two."""

QUICK = {"datasets": 5_000, "columns": 50_000, "intervals": 20_000}
"""The default, for a quick look: generated in half a minute."""
