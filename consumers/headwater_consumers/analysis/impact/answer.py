"""Answers of impacts."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.declared import ReadingConsumer
from headwater_consumers.analysis.impact.change import ChangeType, ImpactChange
from headwater_consumers.analysis.impact.inputs import SeverityInputs
from headwater_consumers.analysis.impact.policy import Severity
from headwater_consumers.analysis.impact.steps import Cause
from headwater_consumers.analysis.lineage.answer import Transformation
from headwater_consumers.analysis.lineage.question import Influence
from headwater_consumers.analysis.trace import Part


@dataclass(frozen=True, slots=True)
class Owner:
    """Who answers for an asset.

    Attributes:
        name: `team:flights`.
        type: of ownership, where known.
        of: whose owner: the asset itself or its dataset, or the job that writes it.
    """

    name: str
    type: str | None
    of: Asset


@dataclass(frozen=True, slots=True)
class ImpactHop:
    """One step on the way to an impacted asset.

    Attributes:
        asset: where it leads.
        job: who makes it.
        cause: why it is hit.
        transformation: of columns, what the job does; None between datasets.
        possible: between datasets, whether the job only possibly makes the one from the other: its producer doesn't
            record which inputs went into which output.
    """

    asset: Asset
    job: Asset
    cause: Cause
    transformation: Transformation | None
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """How the severity of an asset was decided.

    Attributes:
        by_rule: the severity by the policy's rule.
        rule: number of the rule in the policy, from 1.
        raised_by: number of the policy's `[[raise]]` that changed it, from 1; None: the rule's severity holds.
        because: what that asks for and the asset has, in words.
        inputs: all that is known of the asset and that a policy can ask for, whether it changed anything or not.
        text: `raised from WARNING to BLOCKING: deadline 06:00 UTC`; empty where the rule's severity holds.
    """

    by_rule: Severity
    rule: int
    raised_by: int | None
    because: tuple[str, ...]
    inputs: SeverityInputs
    text: str


@dataclass(frozen=True, slots=True)
class ImpactItem:
    """An asset that is hit: a column, or a dataset whose every column is.

    Attributes:
        asset: which.
        severity: how badly.
        influence: DIRECT where values go from the start into it all the way, INDIRECT where some step only decides.
        cause: why it is hit, by the last hop.
        hops: from the start.
        path: those hops, the first one first.
        reason: why, as a sentence.
        action: what its owner should do.
        owners: its own; where it has none, those of the job that writes it.
        propagates: whether the policy goes on from there.
        criticality: of the dataset, where known.
        parts: of a change of a part of the data, which parts of the dataset it went into, as
            far as that is known; at most 10.
        gone: a column that is in its dataset's schema no more, or a dataset that was dropped.
        possible: whether some hop of the path is only possible.
        decision: how the severity was decided, with every input.
    """

    asset: Asset
    severity: Severity
    influence: Influence
    cause: Cause
    hops: int
    path: tuple[ImpactHop, ...]
    reason: str
    action: str
    owners: tuple[Owner, ...]
    propagates: bool
    decision: Decision
    criticality: str | None = None
    gone: bool = False
    parts: tuple[Part, ...] = ()
    possible: bool = False


@dataclass(frozen=True, slots=True)
class ImpactedJob:
    """A job on the way.

    Attributes:
        job: which.
        severity: the worst that it passes on.
        fails: whether it can't run as it is once the change is there.
        hops: from the start to what it writes.
        reason: what it has to do with the change, as a sentence.
        owners: its owners.
        criticality: where known.
    """

    job: Asset
    severity: Severity
    fails: bool
    hops: int
    reason: str
    owners: tuple[Owner, ...]
    criticality: str | None = None


@dataclass(frozen=True, slots=True)
class ImpactedConsumer:
    """A declared consumer of what changes itself.

    Attributes:
        name: of the consumer.
        type: DASHBOARD, REPORT … where declared.
        criticality: where declared.
        severity: what the change is to it, by the policy.
        reason: how it reads what changes, as a sentence.
    """

    name: str
    type: str | None
    criticality: str | None
    severity: Severity
    reason: str


@dataclass(frozen=True, slots=True)
class SeverityTotal:
    """How many assets are hit that badly."""

    severity: Severity
    total: int


@dataclass(frozen=True, slots=True)
class Impact:
    """The answer, one page of it.

    Attributes:
        change: as asked.
        type: what sort of change it is, given or concluded.
        start: the asset that changes.
        severity: the worst, of items and consumers; UNKNOWN where nobody is known to be affected and `unknown` has
            something; else NONE of a schema change that hits nothing, INFO of any other.
        unknown: what isn't known, as sentences: who may be affected beside what is listed.
        items: this page, the worst first, then the DIRECT before the INDIRECT, then by hops, then by key.
        totals: by severity, of all pages; the worst first.
        total: how many items all pages have.
        direct: how many of them are DIRECT.
        indirect: how many are INDIRECT.
        columns: how many are columns.
        datasets: how many datasets are hit, as a whole or in a column.
        jobs: jobs on the way, those that fail first, then the worst; at most 100.
        jobs_total: how many there are.
        hit_consumers: declared consumers of what changes itself, the worst first. They aren't items.
        consumers: declared consumers of what changes or is hit, of all pages, by name: whom to notify.
        max_hops: hops to the farthest item.
        truncated: whether there is more beyond the depth asked for.
        notes: what else to know: what the answer rests on, what it leaves open.
        next_cursor: leads to the next page; None on the last.
        summary: the answer in Markdown, to paste into a ticket; of this page's items and all totals.
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
