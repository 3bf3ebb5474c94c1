"""The estate as it is drawn from its seed, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_benchmarks.estate import columns, feeds, lines, names
from headwater_benchmarks.estate.sizes import Sizes


@dataclass(frozen=True, slots=True)
class Estate:
    """All that was drawn, and where each label's ids begin.

    Attributes:
        sizes: as asked.
        lines: the streaming pipelines.
        feeds: edges between datasets, and jobs.
        columns: columns and their edges.
        datasets: names, by index.
        jobs: names, by index.
    """

    sizes: Sizes
    lines: lines.Lines
    feeds: feeds.Feeds
    columns: columns.Columns
    datasets: list[names.Dataset]
    jobs: list[names.Job]

    @property
    def first_column(self) -> int:
        """Id of the first column. Datasets begin at 0."""
        return self.sizes.datasets

    @property
    def first_job(self) -> int:
        """Id of the first job."""
        return self.first_column + int(self.columns.firsts[-1])

    @property
    def first_plan(self) -> int:
        """Id of the first plan; there is one for each job."""
        return self.first_job + len(self.jobs)

    @property
    def first_run(self) -> int:
        """Id of the first run; there is one for each job."""
        return self.first_plan + len(self.jobs)


def draw(sizes: Sizes) -> Estate:
    """Draw everything but offsets, which are drawn query by query as micro-batches are written."""
    pipelines = lines.lines_of(sizes)
    edges = feeds.feeds_of(sizes, pipelines)
    return Estate(
        sizes,
        pipelines,
        edges,
        columns.columns_of(sizes, edges),
        names.datasets_of(sizes, pipelines),
        names.jobs_of(edges, pipelines),
    )
