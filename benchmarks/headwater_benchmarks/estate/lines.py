"""Streaming pipelines, all of one shape.

    T0 ─q0─▶ T1 ─q1─▶ T2 ─q3─▶ T4 ─q5─▶ T6 ─q7─▶ table 8
              │                           └─q8─▶ table 9
              └─q2─▶ T3 ─q4─▶ T5 ─q6─▶ T7 ─q9─▶ table 10

So a trace of a record of T0 has five hops and reaches three tables through ten queries.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater_benchmarks.estate.sizes import BATCHES_PER_QUERY, Sizes

QUERIES = ((0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (6, 9), (7, 10))
"""For each query of a pipeline, the numbers of the dataset that it reads and of the dataset that it writes."""

DATASETS = 11
TOPICS = 8
"""So many of a pipeline's datasets, the first ones, are topics; the others are tables."""

_PARTITIONS = (8, 16, 24, 32, 48, 64)
_LEAST_BATCHES = 20


@dataclass(frozen=True, slots=True)
class Query:
    """A streaming query.

    Attributes:
        number: from 0, over all pipelines.
        reads: index of the topic it reads.
        writes: index of the topic or table it writes.
        to_table: whether that is a table.
    """

    number: int
    reads: int
    writes: int
    to_table: bool


@dataclass(frozen=True, slots=True)
class Lines:
    """All pipelines; their datasets are the first of the estate.

    Attributes:
        lines: number of pipelines.
        batches: micro-batches of each query.
        queries: in order of their numbers.
    """

    lines: int
    batches: int
    queries: tuple[Query, ...]

    @property
    def datasets(self) -> int:
        """Number of datasets of all lines."""
        return self.lines * DATASETS

    @property
    def intervals(self) -> int:
        """Number of micro-batches."""
        return self.batches * len(self.queries)

    def is_topic(self, dataset: int) -> bool:
        """True when the dataset is a topic."""
        return dataset < self.datasets and dataset % DATASETS < TOPICS


def partitions(topic: int) -> int:
    """Partitions of a topic: 8 to 64."""
    return _PARTITIONS[(topic // DATASETS + topic % DATASETS) % len(_PARTITIONS)]


def lines_of(sizes: Sizes) -> Lines:
    """The pipelines of an estate: its intervals divided by those of a pipeline, at least one."""
    lines = max(1, round(sizes.intervals / (BATCHES_PER_QUERY * len(QUERIES))))
    batches = max(_LEAST_BATCHES, round(sizes.intervals / (lines * len(QUERIES))))
    queries = tuple(
        Query(line * len(QUERIES) + number, line * DATASETS + reads, line * DATASETS + writes, writes >= TOPICS)
        for line in range(lines)
        for number, (reads, writes) in enumerate(QUERIES)
    )
    return Lines(lines, batches, queries)
