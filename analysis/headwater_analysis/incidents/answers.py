"""Answers about incidents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.blast.tainted import Blast, Tainted
from headwater_analysis.incidents.fault_effects import FaultEffect
from headwater_analysis.paging import Page
from headwater_analysis.texts import TEXT
from headwater_analysis.trace.traced_parts import OffsetSpan, Part
from headwater_graph.incidents import IncidentStatus
from headwater_schemas.events import (
    Certainty,
    IncidentAction,
    IncidentClock,
    IncidentResolution,
    IncidentSeverity,
    IncidentType,
    NotificationChange,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPart:
    """One part of a scope: a dataset, job, run, query or consumer, and fields that narrow it.

    A record is in the part if it fulfils all fields that are set.

    Attributes:
        dataset: name of a dataset.
        job: name of a job; all runs of the job are meant.
        run: id of a run.
        query: id of a streaming query.
        consumer: name of a declared consumer.
        column: of the dataset: field path of a column.
        partition: of the dataset: partitions as a `key=value/…` path.
        offsets: of the dataset, a topic: offset ranges.
        files: of the dataset: paths.
        version: of the dataset: a version, as a run reports it.
        code_version: of the job: only runs of this version of its code.
        from_batch, to_batch: of the query: first and last micro-batch, both inclusive.
        since, until: time span; `since` is inclusive, `until` exclusive.
        clock: clock of the time span: EVENT or PROCESSING.
        since_last_good: whether the part is everything since the last good run.
    """

    dataset: str | None = None
    job: str | None = None
    run: str | None = None
    query: str | None = None
    consumer: str | None = None
    column: str | None = None
    partition: str | None = None
    offsets: tuple[OffsetSpan, ...] = ()
    files: Annotated[tuple[str, ...], TEXT] = ()
    version: str | None = None
    code_version: str | None = None
    from_batch: int | None = None
    to_batch: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    clock: IncidentClock | None = None
    since_last_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopePart(GivenPart):
    """One part of a scope.

    Attributes:
        text: the part in one line.
    """

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPart:
    """A part of a scope, and the bad data that the graph knows of it.

    Attributes:
        part: the part.
        parts: bad parts of datasets.
        hops: numbers of the runs and micro-batches that wrote bad data themselves, among the hops of the reach.
        certainty: certainty that this is all of it: UPPER_BOUND says that it may be less, UNKNOWN that it may be more.
        why: the facts behind it, as sentences.
    """

    part: ScopePart
    parts: tuple[Part, ...]
    hops: tuple[int, ...]
    certainty: Certainty
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """A streaming query whose state took bad records in, and may still write of them.

    Attributes:
        query_id, query_name: id and name of the query.
        job: its job.
        until: it writes nothing more of them once its watermark passes this event time; None: not known.
        watermark: its watermark after the last known micro-batch; None: it had none.
        is_over: whether the watermark has passed `until`.
        text: the same in a sentence.
    """

    query_id: str
    query_name: str | None
    job: Asset | None
    until: datetime | None
    watermark: datetime | None
    is_over: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedColumn:
    """A column of a dataset with bad data that the fault reached.

    Attributes:
        dataset: the dataset.
        column: field path.
        effect: effect of the fault on it; of several the strongest.
        certainty: certainty that the fault came there: at most that of the dataset's bad data.
        depth: hops from a column in which bad data began.
        via: jobs on the way, each with the kind of its transformation: `report: AGGREGATE sum`.
        why: reason for the effect, a sentence or several.
    """

    dataset: Asset
    column: str
    effect: FaultEffect
    certainty: Certainty
    depth: int
    via: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownColumns:
    """A dataset with bad data of which more columns may be concerned: column lineage to it isn't fully known.

    Attributes:
        dataset: the dataset.
        why: reason, a sentence.
    """

    dataset: Asset
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingStep:
    """Batch run or micro-batch that wrote data.

    Attributes:
        job: its job.
        run_id: id of the run; of a micro-batch None, if it is known by the checkpoint alone.
        query_id, query_name, batch_id: of a micro-batch: id and name of the query, and Spark's batch id.
        at: when it began.
        state: of a run: COMPLETE, FAIL …
        code_version, config_version: versions of its code and configuration.
    """

    job: Asset | None
    run_id: str | None
    query_id: str | None = None
    query_name: str | None = None
    batch_id: int | None = None
    at: datetime | None = None
    state: str | None = None
    code_version: str | None = None
    config_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSince:
    """First bad run or micro-batch, and the last good one before it.

    Attributes:
        of: dataset in which bad data began; of a run, job or query: its job.
        first_bad: step that wrote the earliest bad data; None: not known.
        last_good: latest step of the same job before it that wrote the same, completed, isn't bad, and of whose
            assertions none failed; None: none is known.
        certainty: certainty that the first bad step wrote bad data.
        why: remarks, as sentences.
    """

    of: Asset
    first_bad: WritingStep | None
    last_good: WritingStep | None
    certainty: Certainty
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentReach:
    """Bad data of an incident, and everything that it reached, as of one transaction.

    Attributes:
        as_of: time of the answer.
        scope: parts of the scope with the bad data that is known of them.
        start: datasets in which bad data began, with what is left of it; none for parts that are runs or micro-batches.
        blast: everything derived from it, and what of that is gone: replaced, dropped, or declared repaired.
        spreading: queries with state that took bad records in.
        complete: false: a limit was reached, or bad data of a part can't be known.
        columns: columns of datasets with bad data that the fault reached, the strongest effect first; at most 1,000.
            Those in which it began aren't among them. No other column is concerned, unless one of the next three says
            so.
        columns_unknown: datasets with bad data of which more columns may be concerned, by name.
        columns_truncated: whether there are more columns than these.
        all_columns: effect on every column that is made from the bad data, where no part of the scope names a column
            and the fault doesn't depend on how columns are used: `columns` isn't asked for then.
        restricts: whether the reached columns may hold personal data that not everybody with access may see.
        since: first bad and last good run or micro-batch, by dataset or job in which bad data began.
    """

    as_of: datetime
    scope: tuple[ResolvedPart, ...]
    start: tuple[Tainted, ...]
    blast: Blast
    spreading: tuple[Spreading, ...]
    complete: bool
    columns: tuple[ReachedColumn, ...] = ()
    columns_unknown: tuple[UnknownColumns, ...] = ()
    columns_truncated: bool = False
    all_columns: FaultEffect | None = None
    restricts: bool = False
    since: tuple[BadSince, ...] = ()

    @property
    def tainted(self) -> tuple[Tainted, ...]:
        """Datasets in which bad data began, then those that it reached. One may be in both."""
        return (*self.start, *self.blast.tainted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachChange:
    """Difference between the recorded reach and that of today, for one dataset.

    Attributes:
        dataset: the dataset, by a name that questions accept.
        change: REACHED (now), CLEARED (nothing bad is left), CHANGED (other parts of it) or NOT_REACHED (any more:
            the scope became smaller, or better known).
    """

    dataset: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReach:
    """Latest recorded reach of an incident.

    Attributes:
        as_of: time at which the graph was asked.
        complete: as in `IncidentReach`.
        datasets: number of datasets with bad data.
        cleared: number of datasets that had bad data, and have none left.
        changes: differences to the reach of today, by name.
    """

    as_of: datetime
    complete: bool
    datasets: int
    cleared: int
    changes: tuple[ReachChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTaken:
    """One action of an incident's history.

    Attributes:
        at: time of the action.
        action: the action.
        by: person or program.
        text: what it states: title, reason, assignee, parts.
    """

    at: datetime
    action: IncidentAction
    by: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentNotification:
    """Latest notification of a recipient.

    Attributes:
        recipient: name of an owner or consumer; `defaults.operators`: those who are notified of every incident.
        channel: name of the channel.
        change: reason for the message.
        at: time at which it was recorded.
        digest: digest of what the message was about.
    """

    recipient: str
    channel: str
    change: NotificationChange
    at: datetime
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentBrief:
    """An incident in a list.

    Attributes:
        incident: its id.
        status: New, Ack, Assigned or Resolved; None: its opening hasn't arrived in the graph.
        title: one line for people.
        severity, type: how bad it is, and the type of fault, where stated.
        cause: text that names the cause, where stated.
        assignee: person or team that it is assigned to.
        opened_at, acknowledged_at, resolved_at: times of these actions.
        resolution: result; None if it isn't resolved, or went on in another incident.
        continued_in: id of the incident that it was merged into, or superseded by.
        scope: its parts, a line each.
        reached_datasets: number of datasets with bad data by the latest record; None: nobody has asked yet.
        reached_as_of: time of this record.
        reached_complete: false: there may be more of them; None likewise.
    """

    incident: str
    status: IncidentStatus | None
    title: str | None
    severity: IncidentSeverity | None
    type: IncidentType | None
    cause: str | None
    assignee: str | None
    opened_at: datetime | None
    acknowledged_at: datetime | None
    resolved_at: datetime | None
    resolution: IncidentResolution | None
    continued_in: str | None
    scope: tuple[str, ...]
    reached_datasets: int | None
    reached_as_of: datetime | None
    reached_complete: bool | None


@dataclass(frozen=True, slots=True)
class IncidentPage(Page):
    """Page of incidents: the open ones, or all; the latest opened first."""

    items: tuple[IncidentBrief, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One incident.

    Attributes:
        brief: as in a list.
        description: text for people.
        datahub_type: its type in DataHub's words.
        repaired: parts that were declared repaired.
        history: all actions, in order.
        reach: what it reached, now; None if it wasn't asked for.
        recorded: what it had reached when that was recorded last; None: never.
        notified: latest notification of each recipient, by name.
    """

    brief: IncidentBrief
    description: str | None
    datahub_type: str
    repaired: tuple[ScopePart, ...]
    history: tuple[ActionTaken, ...]
    reach: IncidentReach | None
    recorded: RecordedReach | None
    notified: tuple[SentNotification, ...]

    @property
    def asked_reach(self) -> IncidentReach:
        """The reach.

        Raises:
            ValueError: it wasn't asked for.
        """
        if self.reach is None:
            raise ValueError("the reach wasn't asked for")
        return self.reach


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentMark:
    """A dataset of an answer that holds bad data of an open incident.

    Attributes:
        key: key of the dataset.
        dataset: its name, as questions accept it.
        incident: id of the incident.
        title, severity: as stated.
        since: earliest time at which bad data was written there; None: not known.
        certainty: how certain it is that bad data is there.
        as_of: time at which that was recorded; None: it wasn't, and the incident's scope names the dataset.
    """

    key: str
    dataset: str
    incident: str
    title: str | None
    severity: IncidentSeverity | None
    since: datetime | None
    certainty: Certainty
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentMarks:
    """Datasets of an answer that hold bad data of open incidents, by the incidents' latest records.

    Attributes:
        items: the marks, the worst severity first; at most 100.
        total: number of all marks.
    """

    items: tuple[IncidentMark, ...]
    total: int
