"""Offsets that micro-batches read and wrote.

A topic's offsets grow with every micro-batch of the query that writes it. A query that reads the topic ends each
micro-batch somewhere within the last written range, so its ranges overlap two written ranges each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater_benchmarks.estate.lines import Lines, Query, partitions
from headwater_benchmarks.estate.sizes import Sizes

Offsets = NDArray[np.int64]
"""A row for each micro-batch and one more, a column for each partition: the offset at which the micro-batch begins."""
_MEAN_ROWS = 100
"""Per partition and micro-batch."""


def written(sizes: Sizes, lines: Lines, topic: int) -> Offsets:
    """The first offset that each micro-batch wrote to a topic; the last row has the ends of the last micro-batch."""
    rng = np.random.default_rng([sizes.seed, 3, topic])
    many = partitions(topic)
    rows = rng.integers(_MEAN_ROWS // 2, _MEAN_ROWS * 3 // 2, (lines.batches, many))
    first = rng.integers(0, 1_000_000, (1, many))
    return np.concatenate([first, first + np.cumsum(rows, axis=0)])


def read(sizes: Sizes, lines: Lines, query: Query) -> Offsets:
    """The first offset that each micro-batch of a query read; the last row has the ends of the last micro-batch."""
    ends = written(sizes, lines, query.reads)
    rng = np.random.default_rng([sizes.seed, 4, query.number])
    late = (rng.random((lines.batches, 1)) * np.diff(ends, axis=0)).astype(np.int64)
    return np.concatenate([ends[:1], ends[1:] - late])
