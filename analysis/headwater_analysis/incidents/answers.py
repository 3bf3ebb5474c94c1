"""Answers about incidents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.blast.tainted import Blast, Tainted
from headwater_analysis.incidents.fault_effects import FaultEffect
from headwater_analysis.owners import OwnerName
from headwater_analysis.paging import Page
from headwater_analysis.runs.records import Use
from headwater_analysis.texts import TEXT
from headwater_analysis.trace.traced_parts import OffsetSpan, Part, Step
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
    """A part of a scope, and its bad data in the graph.

    Attributes:
        part: the part of the scope.
        parts: bad parts of datasets.
        hops: runs and micro-batches that wrote bad data themselves: their numbers among the hops of the reach.
        certainty: certainty that `parts` and `hops` are exactly the bad data. UPPER_BOUND: there may be less bad data;
            UNKNOWN: there may be more.
        why: facts behind `parts`, `hops` and `certainty`, as sentences.
    """

    part: ScopePart
    parts: tuple[Part, ...]
    hops: tuple[int, ...]
    certainty: Certainty
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreading:
    """A streaming query that may still put bad records into its output.

    Its state took in bad records, or it reads output of a query that may still write them.

    Attributes:
        query_id, query_name: id and name of the query.
        job: job of the query.
        until: event time; once the query's watermark has passed it, no more output contains the bad records. None: not
            known, as long as the query may read output of another query that may still write bad records.
        watermark: watermark of the query after its last known micro-batch; None: the query had no watermark, or isn't
            known to keep state.
        is_over: whether no more output will contain the bad records.
        text: these facts as a sentence.
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
    """A column that the fault reached, of a dataset with bad data.

    Attributes:
        dataset: the dataset.
        column: field path of the column.
        effect: strongest effect of the fault on the column.
        certainty: certainty that the fault reached the column: at most the certainty of the dataset's bad data.
        depth: hops from a column in which bad data began.
        via: jobs on the path, each with the kind of its transformation: `report: AGGREGATE sum`.
        why: reason for the effect, as sentences.
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
    """A dataset with bad data in which further columns may be affected: column lineage to it isn't fully known.

    Attributes:
        dataset: the dataset.
        why: reason, as a sentence.
    """

    dataset: Asset
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingStep:
    """Batch run or micro-batch that wrote data.

    Attributes:
        job: job of the run or query.
        run_id: id of the run; None: a micro-batch that is known only by its checkpoint.
        query_id, query_name, batch_id: for a micro-batch: id and name of the query, and Spark's batch id.
        at: start of the run or micro-batch.
        state: state of a batch run: COMPLETE, FAIL …
        code_version, config_version: versions of the job's code and configuration.
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
        of: dataset in which bad data began, or the job if the scope names a job, a run or a query.
        first_bad: run or micro-batch that wrote the earliest bad data; None: not known.
        last_good: latest earlier run or micro-batch of the same job that wrote the same dataset, completed, wrote no
            bad data, and has no failed assertion; None: none is known.
        certainty: certainty that `first_bad` wrote bad data.
        why: remarks, as sentences.
    """

    of: Asset
    first_bad: WritingStep | None
    last_good: WritingStep | None
    certainty: Certainty
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetOwners:
    """Owners of a dataset of a reach.

    Attributes:
        dataset: the dataset.
        owners: declared owners, else owners that events report; empty: the graph has none.
    """

    dataset: Asset
    owners: tuple[OwnerName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedJob:
    """A job whose runs or micro-batches bad data passed through, or that wrote bad data themselves.

    Attributes:
        job: the job.
        owners: declared owners, else owners that events report; empty: the graph has none.
        depth: hops from the bad data of the scope; 0: its runs or micro-batches are parts of the scope.
        hop: number of the job's hop that is nearest to the start, among the hops of the reach.
        certainty: strongest certainty that bad data passed through one of its runs or micro-batches.
    """

    job: Asset
    owners: tuple[OwnerName, ...]
    depth: int
    hop: int
    certainty: Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedVersion:
    """Business version of bad data: a part of declared reference data, and the datasets that runs computed with it.

    Attributes:
        reference: the part that the runs read: a table's version, files, offsets; without amounts and facets.
        outputs: reached datasets that the runs computed with it, by name.
        run_ids: ids of the runs; at most 20.
        runs: number of the runs.
    """

    reference: Use
    outputs: tuple[Asset, ...]
    run_ids: tuple[str, ...]
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentReach:
    """Bad data of an incident, and all data derived from it, read in one transaction.

    Attributes:
        as_of: time of the answer.
        scope: parts of the scope, each with its bad data in the graph.
        start: datasets in which bad data began, with the bad data that is left there. Parts of the scope that are runs
            or micro-batches have none.
        blast: everything derived from the bad data, including data that is gone: replaced, dropped, or declared
            repaired.
        spreading: queries whose state took in bad records, and queries that read output of those that may still write
            them.
        complete: false: a limit was reached, or the bad data of a part of the scope can't be determined.
        not_known_to_be_reached: data that no link of the graph leads to, although bad data may have reached it: parts
            of the scope without data in the graph, data beyond a limit, and data of jobs that the graph doesn't know.
            Sentences.
        cannot_be_known: bad data whose extent can't be known, because runs or micro-batches record too little.
            Sentences.
        undeclared_consumers: consumers of the scope that nobody declared repaired, by name. The graph has no data of
            consumers, so it can't show their repair.
        columns: columns that the fault reached, of datasets with bad data; the strongest effect first, at most 1,000.
            Columns in which the fault began aren't listed. No further column is affected, unless `columns_unknown`,
            `columns_truncated` or `all_columns` states so.
        columns_unknown: datasets with bad data in which further columns may be affected, by name.
        columns_truncated: whether the fault reached further columns.
        all_columns: effect on every column that is made from bad data. It is set if no part of the scope names a column
            and the effect doesn't depend on the use of columns. `columns` is then empty.
        restricts: whether the reached columns may hold personal data, to which access has to be restricted.
        since: first bad and last good run or micro-batch, for each dataset or job in which bad data began.
        owners: owners of each dataset in `start` and `blast`, the nearest dataset first.
        jobs: jobs that bad data passed through, each once, the nearest first.
        jobs_unknown: number of steps that bad data passed through and whose job isn't known.
        business_versions: versions of declared reference data with which the runs on the way computed reached datasets,
            as these runs report them; of a query, those that a start read, not those of each micro-batch.
    """

    as_of: datetime
    scope: tuple[ResolvedPart, ...]
    start: tuple[Tainted, ...]
    blast: Blast
    spreading: tuple[Spreading, ...]
    complete: bool
    not_known_to_be_reached: tuple[str, ...] = ()
    cannot_be_known: tuple[str, ...] = ()
    undeclared_consumers: tuple[str, ...] = ()
    columns: tuple[ReachedColumn, ...] = ()
    columns_unknown: tuple[UnknownColumns, ...] = ()
    columns_truncated: bool = False
    all_columns: FaultEffect | None = None
    restricts: bool = False
    since: tuple[BadSince, ...] = ()
    owners: tuple[DatasetOwners, ...] = ()
    jobs: tuple[AffectedJob, ...] = ()
    jobs_unknown: int = 0
    business_versions: tuple[ReachedVersion, ...] = ()

    @property
    def tainted(self) -> tuple[Tainted, ...]:
        """Datasets in which bad data began, then datasets that it reached. A dataset may be in both."""
        return (*self.start, *self.blast.tainted)

    @property
    def may_spread(self) -> tuple[Spreading, ...]:
        """Queries that may still write bad data."""
        return tuple(each for each in self.spreading if not each.is_over)

    @property
    def is_final(self) -> bool:
        """True if the whole reach is known, and no query may still write bad data."""
        return self.complete and not self.may_spread

    @property
    def bad_datasets(self) -> list[Asset]:
        """All datasets with bad data, by name."""
        found = {(one.dataset.namespace, one.dataset.name): one.dataset for one in self.tainted if one.parts}
        return [found[name] for name in sorted(found)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachChange:
    """Difference between the recorded reach and today's reach, for one dataset.

    Attributes:
        dataset: name of the dataset, as questions accept it.
        change: REACHED: the dataset holds bad data now. CLEARED: it holds none any more. CHANGED: other parts of it are
            bad, or the certainty of some changed. NOT_REACHED: bad data doesn't reach the dataset any more, because the
            scope became smaller or is better known.
        new: for CHANGED: offset ranges, files, versions and other parts that are listed now, and not in the record.
        gone: for CHANGED: those that are listed in the record, and not now.
        by: runs and micro-batches that wrote the bad data of a dataset that is REACHED, or CLEARED and not in the
            record; for CHANGED those that wrote `new`, maybe together with data of the record. At most 100, the nearest
            first. Empty where the data is of the scope, and where no known step wrote it.
        by_total: number of all of them.
        exact: for CHANGED: false: some parts aren't recorded, or aren't known as ranges, files or versions. Data of
            `new` may have been bad before, data of `gone` may still be bad, and there may be more of both.
    """

    dataset: str
    change: str
    new: tuple[Part, ...] = ()
    gone: tuple[Part, ...] = ()
    by: tuple[Step, ...] = ()
    by_total: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReach:
    """Latest recorded reach of an incident.

    Attributes:
        as_of: time at which the reach was computed.
        complete: false: a limit was reached, or the bad data of a part of the scope couldn't be determined.
        datasets: number of datasets with bad data.
        cleared: number of datasets that held bad data, and hold none any more.
        changes: differences to today's reach, by name of the dataset.
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
        by: person or program that acted.
        text: values that the action states: title, reason, assignee, parts.
    """

    at: datetime
    action: IncidentAction
    by: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentNotification:
    """Latest notification of a recipient.

    Attributes:
        recipient: name of an owner or consumer; `defaults.operators`: the operators, who are notified of every
            incident.
        channel: name of the channel.
        change: reason for the message.
        at: time at which the notification was recorded.
        digest: digest of the facts that the message reported.
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
        incident: id of the incident.
        status: New, Ack, Assigned or Resolved; None: the event of its opening hasn't arrived in the graph.
        title: one line for people.
        severity, type: severity, and type of fault; None: not stated.
        cause: text that names the cause; None: not stated.
        assignee: person or team that the incident is assigned to.
        opened_at, acknowledged_at, resolved_at: times of these actions.
        resolution: result; None: the incident isn't resolved, or another incident replaces it.
        continued_in: id of the incident that this incident was merged into, or superseded by.
        scope: parts of the scope, a line each.
        reached_datasets: number of datasets with bad data in the latest recorded reach; None: none is recorded.
        reached_as_of: time of this recorded reach; None: none is recorded.
        reached_complete: false: there may be further datasets with bad data; None: no reach is recorded.
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
    """Page of incidents, the latest opened first."""

    items: tuple[IncidentBrief, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One incident.

    Attributes:
        brief: the incident as in a list.
        description: text for people.
        datahub_type: type of the incident in DataHub's terms.
        datahub_stage: its stage in DataHub's terms; None: the graph doesn't have its opening yet.
        repaired: parts that were declared repaired.
        history: all actions, in order.
        reach: reach as the graph is now; None: the question didn't ask for the reach.
        recorded: latest recorded reach; None: none is recorded.
        notified: latest notification of each recipient, by name.
    """

    brief: IncidentBrief
    description: str | None
    datahub_type: str
    datahub_stage: str | None
    repaired: tuple[ScopePart, ...]
    history: tuple[ActionTaken, ...]
    reach: IncidentReach | None
    recorded: RecordedReach | None
    notified: tuple[SentNotification, ...]

    def has_action(self, action: IncidentAction, at: datetime) -> bool:
        """Return whether the history has an action of this time."""
        return any(each.at == at and each.action is action for each in self.history)

    @property
    def asked_reach(self) -> IncidentReach:
        """Reach as the graph is now.

        Raises:
            ValueError: the reach wasn't asked for.
        """
        if self.reach is None:
            raise ValueError("the reach wasn't asked for")
        return self.reach


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentMark:
    """A dataset of an answer that holds bad data of an open incident.

    Attributes:
        key: key of the dataset.
        dataset: name of the dataset, as questions accept it.
        incident: id of the incident.
        title, severity: title and severity of the incident; None: not stated.
        since: earliest time at which bad data was written to the dataset; None: not known.
        certainty: certainty that the dataset holds bad data.
        as_of: time of the recorded reach; None: no reach is recorded, and the incident's scope names the dataset.
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
    """Datasets of an answer that hold bad data of open incidents, by the incidents' latest recorded reach.

    Attributes:
        items: the marks, the worst severity first; at most 100.
        total: number of all marks.
    """

    items: tuple[IncidentMark, ...]
    total: int
