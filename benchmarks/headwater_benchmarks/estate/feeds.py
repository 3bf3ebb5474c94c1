"""Draws the FEEDS edges between datasets.

The datasets of a domain have an order. Most edges point forward in it, some backward, so that there are cycles. In and
out degrees follow a power law, drawn from a Pareto distribution. The tables of streaming pipelines feed the first
datasets of domains. Domains don't feed each other, so a domain's size limits how many datasets a question reaches.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater_benchmarks.estate.lines import Lines
from headwater_benchmarks.estate.sizes import DATASETS_PER_DOMAIN, FEEDS_PER_DATASET, Sizes

Ints = NDArray[np.int64]

_EXPONENT = 1.3
_MOST_OF_ONE = 400
_REACH_FORWARD = 1 / 6
"""Longest forward distance of an edge, as a share of the domain."""
_BACKWARD = 0.04
"""Share of the edges that point backward."""
_SECOND_JOB = 0.1
"""Share of the datasets that two jobs write."""


@dataclass(frozen=True, slots=True)
class Feeds:
    """The edges between datasets, and the jobs that make them.

    Attributes:
        sources, targets: indexes of datasets, by ascending target.
        jobs: for each edge, the index of its job.
        job_targets: for each job, the dataset that it writes. Jobs of streaming queries come first, in their order.
    """

    sources: Ints
    targets: Ints
    jobs: Ints
    job_targets: Ints


def feeds_of(sizes: Sizes, lines: Lines) -> Feeds:
    """Draw the edges."""
    rng = np.random.default_rng([sizes.seed, 1])
    batch = sizes.datasets - lines.datasets
    domains = max(1, round(batch / DATASETS_PER_DOMAIN))
    bounds = np.linspace(lines.datasets, sizes.datasets, domains + 1).astype(np.int64)
    pairs = [_domain(rng, int(low), int(high)) for low, high in itertools.pairwise(bounds)]
    pairs.append(_landings(rng, lines, bounds))
    edges = np.unique(np.concatenate(pairs), axis=0)
    sources, targets = edges[:, 0], edges[:, 1]
    order = np.lexsort((sources, targets))
    sources, targets = sources[order], targets[order]
    numbers, job_targets = _jobs(rng, targets, first=len(lines.queries))
    streaming = np.array([(query.reads, query.writes) for query in lines.queries], dtype=np.int64)
    return Feeds(
        np.concatenate([streaming[:, 0], sources]),
        np.concatenate([streaming[:, 1], targets]),
        np.concatenate([np.arange(len(streaming)), numbers]),
        np.concatenate([streaming[:, 1], job_targets]),
    )


def _domain(rng: np.random.Generator, low: int, high: int) -> Ints:
    """Edges among the datasets from `low` up to and without `high`."""
    size = high - low
    wanted = size * FEEDS_PER_DATASET
    gives = np.minimum(rng.pareto(_EXPONENT, size) + 0.1, _MOST_OF_ONE)
    attracts = np.minimum(rng.pareto(_EXPONENT, size) + 0.1, _MOST_OF_ONE)
    edges = np.empty((0, 2), dtype=np.int64)
    while len(edges) < wanted:
        sources = rng.choice(size, wanted, p=gives / gives.sum())
        ahead = np.minimum(sources + 1 + int(size * _REACH_FORWARD), size)
        total = np.concatenate([[0.0], np.cumsum(attracts)])
        drawn = total[sources + 1] + rng.random(wanted) * (total[ahead] - total[sources + 1])
        targets = np.minimum(np.searchsorted(total, drawn, side="right") - 1, size - 1)
        back = rng.random(wanted) < _BACKWARD
        pairs = np.stack([np.where(back, targets, sources), np.where(back, sources, targets)], axis=1)
        edges = np.unique(np.concatenate([edges, pairs[pairs[:, 0] != pairs[:, 1]]]), axis=0)
    return rng.permutation(edges)[:wanted] + low


def _landings(rng: np.random.Generator, lines: Lines, bounds: Ints) -> Ints:
    """Two edges from each table of the streaming pipelines to datasets in the first hundredth of a domain."""
    tables = np.array(sorted({query.writes for query in lines.queries if query.to_table}), dtype=np.int64).repeat(2)
    domains = rng.integers(0, len(bounds) - 1, len(tables))
    firsts, sizes = bounds[domains], np.diff(bounds)[domains]
    return np.stack([tables, firsts + (rng.random(len(tables)) * sizes / 100).astype(np.int64)], axis=1)


def _jobs(rng: np.random.Generator, targets: Ints, *, first: int) -> tuple[Ints, Ints]:
    """For each edge its job, numbered from `first`; and for each job the dataset that it writes."""
    size = int(targets.max()) + 1
    second = (rng.random(size) < _SECOND_JOB)[targets] & (rng.random(len(targets)) < 0.5)
    made, numbers = np.unique(targets * 2 + second, return_inverse=True)
    return numbers.reshape(-1) + first, made // 2
