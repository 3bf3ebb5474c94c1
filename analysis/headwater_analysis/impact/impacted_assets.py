"""Answers of impact questions."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.impact.change import ChangeType, ImpactChange
from headwater_analysis.impact.policy import Severity
from headwater_analysis.impact.policy_inputs import Cause, SeverityInputs
from headwater_analysis.lineage.hops import Transformation
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.trace import Part


@dataclass(frozen=True, slots=True)
class ImpactOwner:
    """Owner of an asset.

    Attributes:
        name: name of the owner: `team:flights`.
        type: type of ownership, where known.
        of: owned asset: the hit asset, its dataset, or the job that writes it.
    """

    name: str
    type: str | None
    of: Asset


@dataclass(frozen=True, slots=True)
class ImpactHop:
    """Hop on the path to an impacted asset.

    Attributes:
        asset: asset at the end of the hop.
        job: job that writes the asset.
        cause: reason why the asset is hit.
        transformation: for columns, the job's transformation; None between datasets.
        possible: between datasets, whether the derivation is only possible: the job's producer doesn't record which
            inputs went into which output.
    """

    asset: Asset
    job: Asset
    cause: Cause
    transformation: Transformation | None
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Explanation of an asset's severity.

    Attributes:
        by_rule: severity by the policy's rule.
        rule: number of the rule in the policy, from 1.
        raised_by: number of the policy's `[[raise]]` that changed the severity, from 1; None: the rule's severity
            holds.
        because: conditions of the `[[raise]]` that the asset meets, in words.
        inputs: all facts of the asset that a policy can have conditions on, even if they didn't change the severity.
        text: `raised from WARNING to BLOCKING: deadline 06:00 UTC`; empty if the rule's severity holds.
    """

    by_rule: Severity
    rule: int
    raised_by: int | None
    because: tuple[str, ...]
    inputs: SeverityInputs
    text: str


@dataclass(frozen=True, slots=True)
class ImpactItem:
    """An asset that is hit: a column, or a dataset with all its columns.

    Attributes:
        asset: the asset.
        severity: severity of the hit.
        influence: DIRECT if every step passes on values; INDIRECT if some step only decides values or rows.
        cause: reason of the hit, by the last hop.
        hops: number of hops from the start.
        path: hops from the change to the asset, in order.
        reason: reason as a sentence.
        action: advice to the asset's owner.
        owners: owners of the asset; if it has none, owners of the job that writes it.
        propagates: whether, by the policy, the change spreads from this asset to others.
        criticality: criticality of the dataset, where known.
        parts: for a change of a part of the data, the known parts of this dataset that are derived from that part; at
            most 10.
        gone: whether the column has left its dataset's schema, or the dataset was dropped.
        possible: whether some hop of the path is only possible.
        decision: explanation of the severity, with every input.
    """

    asset: Asset
    severity: Severity
    influence: Influence
    cause: Cause
    hops: int
    path: tuple[ImpactHop, ...]
    reason: str
    action: str
    owners: tuple[ImpactOwner, ...]
    propagates: bool
    decision: Decision
    criticality: str | None = None
    gone: bool = False
    parts: tuple[Part, ...] = ()
    possible: bool = False


@dataclass(frozen=True, slots=True)
class ImpactedJob:
    """A job on the path of a change.

    Attributes:
        job: the job.
        severity: worst severity that its outputs get.
        fails: whether the job fails after the change, unless its code is changed, too.
        hops: hops from the start to its output.
        reason: effect of the change on the job, as a sentence.
        owners: owners of the job.
        criticality: criticality of the job, where known.
    """

    job: Asset
    severity: Severity
    fails: bool
    hops: int
    reason: str
    owners: tuple[ImpactOwner, ...]
    criticality: str | None = None


@dataclass(frozen=True, slots=True)
class ImpactedConsumer:
    """A declared consumer of the changed asset itself.

    Attributes:
        name: name of the consumer.
        type: DASHBOARD, REPORT … where declared.
        criticality: criticality, where declared.
        severity: severity for the consumer, by the policy.
        reason: sentence on how the consumer reads the changed asset.
    """

    name: str
    type: str | None
    criticality: str | None
    severity: Severity
    reason: str


@dataclass(frozen=True, slots=True)
class SeverityTotal:
    """Number of assets with one severity."""

    severity: Severity
    total: int


@dataclass(frozen=True, slots=True)
class Impact:
    """Page of the answer to an impact question.

    Attributes:
        change: change of the question.
        type: type of the change, given or inferred.
        start: asset that changes.
        severity: the worst of items and consumers. If nobody is known to be affected: UNKNOWN if `unknown` isn't empty,
            else NONE for a schema change and INFO for any other change.
        unknown: gaps in the lineage, as clauses after `not known is`: further assets or consumers may be affected.
        items: items of this page, by severity (worst first), influence (DIRECT first), hops and key.
        totals: number of items by severity, across all pages; the worst first.
        total: number of items on all pages.
        direct: number of DIRECT items.
        indirect: number of INDIRECT items.
        columns: number of columns among the items.
        datasets: number of datasets that are hit, as a whole or in a column.
        jobs: jobs on the paths, at most 100: first jobs that fail, then by severity (worst first).
        jobs_total: number of jobs on the paths.
        hit_consumers: declared consumers of the changed asset itself, the worst first. They aren't items.
        consumers: declared consumers to notify, the most critical first, then by notice and name: consumers of the
            changed and the hit assets, across all pages.
        max_hops: hops to the farthest item.
        truncated: whether there is more beyond the depth of the question.
        notes: sentences on the answer's assumptions and open points.
        next_cursor: cursor of the next page; None on the last page.
        summary: the answer in Markdown, to paste into a ticket: this page's items and all totals.
    """

    change: ImpactChange
    type: ChangeType
    start: Asset
    severity: Severity
    items: tuple[ImpactItem, ...]
    totals: tuple[SeverityTotal, ...]
    total: int
    direct: int
    indirect: int
    columns: int
    datasets: int
    jobs: tuple[ImpactedJob, ...]
    jobs_total: int
    consumers: tuple[ReadingConsumer, ...]
    max_hops: int
    truncated: bool
    notes: tuple[str, ...]
    next_cursor: str | None
    summary: str
    hit_consumers: tuple[ImpactedConsumer, ...] = ()
    unknown: tuple[str, ...] = ()
