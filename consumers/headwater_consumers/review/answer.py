"""The answer of a review."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.declared import ReadingConsumer
from headwater_consumers.analysis.impact import ImpactedJob, ImpactItem, Severity, SeverityTotal
from headwater_consumers.review.compare import Difference


@dataclass(frozen=True, slots=True)
class ReviewedDifference:
    """A difference, and what it does.

    Attributes:
        difference: what differs.
        text: that in one sentence, without a full stop.
        severity: the worst of its items, and of what `reasons` name.
        reasons: sentences on what decides the severity besides the items.
        items: assets that are hit, the worst first; at most 10.
        total: how many there are.
        totals: by severity, the worst first.
        jobs: on the way, those that fail first; at most 10.
        jobs_total: how many there are.
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
    """The answer.

    Attributes:
        dataset: whose schema changes.
        old, new: where each schema comes from: a file, or `the graph`.
        severity: the verdict: the worst of all differences; NONE where nothing differs, or nobody is affected.
        differences: the worst first, then as `compare` has them.
        totals: differences by severity, the worst first.
        columns: how many columns the new schema has.
        jobs_total: jobs that are hit by any difference.
        datasets_total: datasets that are hit by any.
        consumers: declared consumers of what differs or is hit: whom to notify.
        writers: jobs that write the dataset: they have to follow.
        unseen: jobs downstream whose column lineage is missing or incomplete, by name: the verdict may miss what they
            do with a column. At most 20.
        unseen_total: how many there are.
        notes: what the verdict rests on, and leaves open.
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
