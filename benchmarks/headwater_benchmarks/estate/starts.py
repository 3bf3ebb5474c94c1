"""Starting points of questions, drawn by seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headwater_benchmarks.estate import batches
from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.feeds import Feeds
from headwater_benchmarks.estate.lines import QUERIES, partitions

if TYPE_CHECKING:
    from numpy.typing import NDArray


_TRIED = 400
_NEAR_MOST = 0.9
_LEFT_OUT = 10
"""Micro-batches at either end of a query: a record there may not have reached the later queries."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the first topic of a pipeline."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Starts:
    """Starting points of questions.

    Attributes:
        far: keys of datasets that reach, over all hops, at least nine tenths of what any does.
        any: keys of datasets that feed another.
        records: records that passed through whole pipelines.
    """

    far: tuple[str, ...]
    any: tuple[str, ...]
    records: tuple[Record, ...]


def draw_starts(estate: Estate, many: int) -> Starts:
    """So many of each."""
    rng = np.random.default_rng([estate.sizes.seed, 5])
    first = estate.lines.datasets
    feeding = np.unique(estate.feeds.sources[estate.feeds.sources >= first])
    drawn = rng.permutation(feeding)
    graph = _Graph(estate.feeds, estate.sizes.datasets)
    reached = {int(start): graph.reached(int(start)) for start in drawn[: max(_TRIED, many)]}
    least = max(reached.values()) * _NEAR_MOST
    far = [start for start, count in reached.items() if count >= least]
    return Starts(
        far=tuple(estate.datasets[start].key for start in far[:many]),
        any=tuple(estate.datasets[int(start)].key for start in drawn[::-1][:many]),
        records=tuple(_record(estate, rng) for _ in range(many)),
    )


class _Graph:
    """Feeds between datasets, for a breadth-first count."""

    def __init__(self, feeds: Feeds, size: int) -> None:
        order = np.argsort(feeds.sources, kind="stable")
        self._targets = feeds.targets[order]
        self._begins = np.searchsorted(feeds.sources[order], np.arange(size + 1))
        self._size = size

    def reached(self, start: int) -> int:
        """Count the datasets reached, the start left out."""
        seen = np.zeros(self._size, dtype=bool)
        seen[start] = True
        frontier: NDArray[np.int64] = np.array([start])
        while len(frontier):
            edges = [np.arange(self._begins[node], self._begins[node + 1]) for node in frontier]
            found = np.unique(self._targets[np.concatenate(edges)])
            frontier = found[~seen[found]]
            seen[frontier] = True
        return int(seen.sum()) - 1


def _record(estate: Estate, rng: np.random.Generator) -> Record:
    query = estate.lines.queries[int(rng.integers(estate.lines.lines)) * len(QUERIES)]
    offsets = batches.read(estate.sizes, estate.lines, query)
    batch = int(rng.integers(_LEFT_OUT, estate.lines.batches - _LEFT_OUT))
    partition = int(rng.integers(partitions(query.reads)))
    offset = int(rng.integers(offsets[batch, partition], offsets[batch + 1, partition]))
    return Record(estate.datasets[query.reads].key, partition, offset)
