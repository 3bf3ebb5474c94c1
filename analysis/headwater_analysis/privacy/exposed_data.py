"""Answers about privacy."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.lineage.hops import Transformation
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.privacy.operations import Exposure, Operation
from headwater_analysis.privacy.spread import Ending
from headwater_schemas.events import Sensitivity


@dataclass(frozen=True, slots=True)
class SensitiveSource:
    """A column whose values are followed.

    Attributes:
        asset: the column.
        sensitivity: sensitivity declared for the column or its dataset, or given in the question.
    """

    asset: Asset
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True)
class PrivacyHop:
    """One step of a sensitive value.

    Attributes:
        asset: column or dataset at the end of the hop.
        job: job that makes the step.
        operation: operation of the job on the value.
        transformation: the edge of column lineage.
        possible: whether the value is only possibly passed on: the step is a black box.
        former: whether the job no longer makes this step; data that it wrote before may still be there.
    """

    asset: Asset
    job: Asset
    operation: Operation
    transformation: Transformation
    possible: bool
    former: bool


@dataclass(frozen=True, slots=True)
class Approved:
    """A reviewed approval.

    Attributes:
        covers: greatest sensitivity of source values that the review allows.
        sensitivity: sensitivity of the column, by the review.
        by: person or team that approved it.
        reason: reason for the approval.
        until: last day of the approval; None: no end.
        holds: whether the approval is still valid and covers the values that reach the column.
    """

    covers: Sensitivity
    sensitivity: Sensitivity
    by: str
    reason: str
    until: str | None
    holds: bool


@dataclass(frozen=True, slots=True)
class PrivacyItem:
    """A column, or a whole dataset, that sensitive values reach.

    Attributes:
        asset: the column or dataset.
        source: column from which the shown path leads here.
        sensitivity: sensitivity of the values here.
        exposure: form in which a reader gets the values.
        influence: DIRECT if the values go into the column; INDIRECT if they only decide something on the path.
        hops: number of hops from the source.
        path: hops from the source, in order.
        declared: declared sensitivity of the column, else of its dataset; None: not declared.
        classified: whether it has a classification, in the organisation's own words.
        lower: whether it receives values more sensitive than its declared sensitivity, or has no declared sensitivity.
        ending: reason why the spread ends here; None: it continues.
        smallest_group: declared minimum number of rows that go into each of its values.
        approval: declared approval.
        possible: whether a hop on the path is only possible.
        former: whether a hop on the path is no longer current.
        gone: whether the dataset was dropped, or the column left its schema.
    """

    asset: Asset
    source: Asset
    sensitivity: Sensitivity
    exposure: Exposure
    influence: Influence
    hops: int
    path: tuple[PrivacyHop, ...]
    declared: Sensitivity | None
    classified: bool
    lower: bool
    ending: Ending | None
    smallest_group: int | None
    approval: Approved | None
    possible: bool
    former: bool
    gone: bool


@dataclass(frozen=True, slots=True)
class PrivacyExit:
    """A dataset with readable sensitive values that no captured job takes further.

    Attributes:
        dataset: the dataset.
        jobs: jobs that read it and have no known output: what they do with the values isn't captured.
        columns: number of its readable sensitive columns.
    """

    dataset: Asset
    jobs: tuple[Asset, ...]
    columns: int


@dataclass(frozen=True, slots=True)
class DroppedBy:
    """A job that reads a dataset with sensitive columns and passes none of them on to an output.

    Attributes:
        read, written: dataset that it reads, and output without these columns.
        job: the job.
    """

    read: Asset
    written: Asset
    job: Asset


@dataclass(frozen=True, slots=True)
class UnknownUse:
    """A job that may pass sensitive values on: its column lineage is missing or incomplete. It isn't followed.

    Attributes:
        read, written: dataset that it reads, and dataset that it writes.
        job: the job.
    """

    read: Asset
    written: Asset
    job: Asset


@dataclass(frozen=True, slots=True)
class Privacy:
    """Spread of sensitive columns.

    Attributes:
        sources: columns that are followed; at most 100.
        sources_total: number of columns that are followed.
        threshold: minimum number of rows in a group so that a statistic over it ends the spread.
        items: columns and datasets of this page. Order: those from which the spread continues before the others,
            DIRECT before INDIRECT, then by sensitivity and exposure (the worst first), hops and key.
        total: number of items on all pages.
        readable: number of readable items, on all pages.
        protected: number of items with a hash, mask, token or cipher, or something computed from one.
        indirect: number of items that the values only influence.
        ended: number of items that end the spread.
        lower: number of items that are classified lower than their sources, or not at all.
        consumers: consumers of readable columns, including the sources.
        protected_consumers: consumers of protected columns that read no readable column.
        exits: datasets from which readable values leave the captured lineage; at most 100.
        exits_total: number of all these datasets.
        drops: jobs that leave the sensitive columns out; at most 100.
        drops_total: number of all these jobs.
        unknown: jobs that may pass the columns on; at most 100. If there are any, unlisted datasets may have the
            values, too.
        unknown_total: number of all these jobs.
        max_hops: hops to the farthest item.
        truncated: whether there is more beyond the depth.
        notes: further remarks, as sentences.
        next_cursor: cursor of the next page; None on the last page.
    """

    sources: tuple[SensitiveSource, ...]
    sources_total: int
    threshold: int
    items: tuple[PrivacyItem, ...]
    total: int
    readable: int
    protected: int
    indirect: int
    ended: int
    lower: int
    consumers: tuple[ReadingConsumer, ...]
    protected_consumers: tuple[ReadingConsumer, ...]
    exits: tuple[PrivacyExit, ...]
    exits_total: int
    drops: tuple[DroppedBy, ...]
    drops_total: int
    unknown: tuple[UnknownUse, ...]
    unknown_total: int
    max_hops: int
    truncated: bool
    notes: tuple[str, ...]
    next_cursor: str | None
