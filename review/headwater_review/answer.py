"""Answer of a review."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.impact import ImpactedJob, ImpactItem, Severity, SeverityTotal
from headwater_review.compare import Difference


@dataclass(frozen=True, slots=True)
class ReviewedDifference:
    """A difference and its impact.

    Attributes:
        difference: the difference.
        text: the difference in one sentence, without a full stop.
        severity: worst severity of the items and `reasons`.
        reasons: sentences on what decides the severity besides the items.
        items: assets that are hit, the worst first; at most 10.
        total: number of assets that are hit.
        totals: number of these assets by severity, the worst first.
        jobs: jobs on the way, those that fail first; at most 10.
        jobs_total: number of these jobs.
        consumers: names of declared consumers of the column itself.
    """

    difference: Difference
    text: str
    severity: Severity
    reasons: tuple[str, ...]
    items: tuple[ImpactItem, ...]
    total: int
    totals: tuple[SeverityTotal, ...]
    jobs: tuple[ImpactedJob, ...]
    jobs_total: int
    consumers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """Answer of a review.

    Attributes:
        dataset: dataset whose schema changes.
        old, new: origin of each schema: a file, or `the graph`.
        severity: the verdict: the worst of all differences; NONE where nothing differs, or nobody is affected.
        differences: the worst first, then in the order of `compare`.
        totals: number of differences by severity, the worst first.
        columns: number of columns in the new schema.
        jobs_total: number of jobs that any difference hits.
        datasets_total: number of datasets that any difference hits.
        consumers: declared consumers to notify: those of columns that differ and of assets that are hit.
        writers: jobs that write the dataset, and have to follow the change.
        unseen: names of jobs downstream whose column lineage is missing or incomplete: the verdict may miss what they
            do with a column. At most 20.
        unseen_total: number of these jobs.
        notes: sentences on what the verdict rests on, and leaves open.
    """

    dataset: Asset
    old: str
    new: str
    severity: Severity
    differences: tuple[ReviewedDifference, ...]
    totals: tuple[SeverityTotal, ...]
    columns: int
    jobs_total: int
    datasets_total: int
    consumers: tuple[ReadingConsumer, ...]
    writers: tuple[Asset, ...]
    unseen: tuple[str, ...]
    unseen_total: int
    notes: tuple[str, ...]
