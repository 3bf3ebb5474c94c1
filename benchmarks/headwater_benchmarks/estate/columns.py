"""Columns, and which derives from which: drawn in one go, kept as arrays of indexes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater_benchmarks.estate.feeds import Feeds
from headwater_benchmarks.estate.names import COLUMN_NAMES
from headwater_benchmarks.estate.sizes import Sizes

Ints = NDArray[np.int64]

_EXPONENT = 1.5
_SECOND_SOURCE = 0.25
_INFLUENCES_PER_JOB = 1.5

DIRECT_KINDS = (("COPY", "IDENTITY"), ("RENAME", "IDENTITY"), ("CAST", "TRANSFORMATION"), ("DERIVE", "TRANSFORMATION"))
INDIRECT_KINDS = (("CONDITIONAL", "CONDITIONAL"),)
INFLUENCE_KINDS = (("FILTER_DEPENDENCY", "FILTER"), ("JOIN_DEPENDENCY", "JOIN"), ("SORT_DEPENDENCY", "SORT"))


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns and their edges.

    Attributes:
        firsts: of each dataset, its first column; one more at the end.
        sources, targets: of DERIVES, columns.
        derives_jobs: of DERIVES, the job.
        direct: of DERIVES, whether it is.
        influencers, influenced: of INFLUENCES, a column and a dataset.
        influences_jobs: of INFLUENCES, the job.
    """

    firsts: Ints
    sources: Ints
    targets: Ints
    derives_jobs: Ints
    direct: NDArray[np.bool_]
    influencers: Ints
    influenced: Ints
    influences_jobs: Ints

    def name(self, dataset: int, column: int) -> str:
        """Field path of a dataset's column, counted from 0."""
        return COLUMN_NAMES[(dataset * 7 + column) % len(COLUMN_NAMES)]


def columns_of(sizes: Sizes, feeds: Feeds) -> Columns:
    """Draw them: each column of what a job writes derives from one or two columns of what it reads."""
    rng = np.random.default_rng([sizes.seed, 2])
    firsts = _firsts(rng, sizes)
    # Jobs with their inputs: edges by job, and where each job's begin.
    by_job = np.argsort(feeds.jobs, kind="stable")
    inputs, begins = feeds.sources[by_job], np.searchsorted(feeds.jobs[by_job], np.arange(len(feeds.job_targets) + 1))
    counts = np.diff(firsts)[feeds.job_targets]
    jobs = np.repeat(np.arange(len(feeds.job_targets)), counts)
    targets = np.concatenate([[0], np.cumsum(counts)])
    columns = firsts[feeds.job_targets][jobs] + np.arange(len(jobs)) - targets[jobs]
    twice = np.flatnonzero(rng.random(len(jobs)) < _SECOND_SOURCE)
    jobs, columns = np.concatenate([jobs, jobs[twice]]), np.concatenate([columns, columns[twice]])
    sources = _drawn(rng, jobs, inputs, begins, firsts)
    _, kept = np.unique(np.stack([jobs, sources, columns]), axis=1, return_index=True)
    per_job = rng.poisson(_INFLUENCES_PER_JOB, len(feeds.job_targets))
    influences = np.repeat(np.arange(len(feeds.job_targets)), per_job)
    influencers = _drawn(rng, influences, inputs, begins, firsts)
    _, one = np.unique(np.stack([influences, influencers]), axis=1, return_index=True)
    return Columns(
        firsts,
        sources[kept],
        columns[kept],
        jobs[kept],
        rng.random(len(kept)) >= 0.1,
        influencers[one],
        feeds.job_targets[influences[one]],
        influences[one],
    )


def _firsts(rng: np.random.Generator, sizes: Sizes) -> Ints:
    """Widths by a power law, at least one column and at most as many as there are names; together as asked."""
    drawn = np.minimum(rng.pareto(_EXPONENT, sizes.datasets) + 0.3, 20)
    scale = (sizes.columns - sizes.datasets) / drawn.sum()
    widths = 1 + np.minimum((drawn * scale).astype(np.int64), len(COLUMN_NAMES) - 1)
    short = sizes.columns - int(widths.sum())
    widths[rng.permutation(sizes.datasets)[: max(short, 0) % sizes.datasets]] += 1
    return np.concatenate([[0], np.cumsum(widths)])


def _drawn(rng: np.random.Generator, jobs: Ints, inputs: Ints, begins: Ints, firsts: Ints) -> Ints:
    """For each job a column of one of its inputs."""
    many = begins[jobs + 1] - begins[jobs]
    datasets = inputs[begins[jobs] + (rng.random(len(jobs)) * many).astype(np.int64)]
    widths = firsts[datasets + 1] - firsts[datasets]
    return firsts[datasets] + (rng.random(len(jobs)) * widths).astype(np.int64)
