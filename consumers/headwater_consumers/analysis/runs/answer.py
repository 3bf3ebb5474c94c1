"""Answers about runs, micro-batches, and the parts of datasets that they use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.facets import Facet
from headwater_consumers.analysis.trace.answer import OffsetSpan
from headwater_consumers.graph.derive import Because
from headwater_schemas.events import Certainty, Provenance, RunEventType

MISSED_HEARTBEATS = 3
"""After so many a heartbeat has stopped. One that is late waits in an outbox while Kafka is away, or for a consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The part of a dataset that a run or micro-batch read or wrote.

    Attributes:
        dataset: which.
        ordinal: 0, or how many times it used the dataset before.
        position: `kafka`, `files`, `table_snapshot` … (docs/graph.md); None where the part isn't known.
        certainty: of the position.
        offsets: of `kafka`, by partition, ascending.
        topic_id: Kafka's id of the topic's incarnation.
        format: of a table.
        version: snapshot id, last version of a range, or digest of a manifest.
        from_version: of a range of a table's versions, the one before the first.
        partitions: of a table, or those of files that are known: `key=value/…`.
        partition_columns: of an output, the columns that it is partitioned by.
        partition_count: of an output, how many of its partitions got rows.
        branch: of an output, the branch of the table that it is.
        paths: of files, those that were listed.
        pattern: of files, a glob that matches all of them and no others.
        uncommitted: of an output, whether only a failed run names it.
        inputs: of an output, keys of the datasets that it was made from; None where its producer doesn't record them.
        text: any other position, in words.
        rows, bytes, files: how much, where known.
        schema_digest: of the schema that it was read or written with, as in the dataset's schemas; None: not known.
        schema_since: when that schema was first reported of the dataset; of a run's uses alone.
        facets: what events carried of this use besides, such as statistics and reports of a table format.
    """

    dataset: Asset
    ordinal: int = 0
    position: str | None = None
    certainty: Certainty | None = None
    offsets: tuple[OffsetSpan, ...] = ()
    topic_id: str | None = None
    format: str | None = None
    version: str | None = None
    from_version: str | None = None
    partitions: tuple[str, ...] = ()
    partition_columns: tuple[str, ...] = ()
    partition_count: int | None = None
    branch: str | None = None
    paths: tuple[str, ...] = ()
    pattern: str | None = None
    uncommitted: bool = False
    inputs: tuple[str, ...] | None = None
    text: str | None = None
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    schema_digest: str | None = None
    schema_since: datetime | None = None
    facets: tuple[Facet, ...] = ()


@dataclass(frozen=True, slots=True)
class BusinessVersion:
    """Reference data that a run read, and what it made with it.

    Attributes:
        run_id: of the run.
        reference: the part of the reference dataset that it read: a table's version, files, offsets.
        outputs: what it made with it, by name.
    """

    run_id: str
    reference: Use
    outputs: tuple[Asset, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """Offsets that neither of two neighbouring micro-batches read, or both.

    Attributes:
        dataset: key of the topic's node.
        partition: of the topic.
        start, end: offsets, half-open.
    """

    dataset: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quality:
    """An assertion on what a micro-batch or run wrote, or on a dataset that it names.

    Attributes:
        assertion: its name.
        passed: whether it held.
        column: field path; None of the whole.
        value: what was measured; None where it isn't known.
        dataset_namespace, dataset_name: the dataset that it names.
        rule: what it asserts: COMPLETENESS, UNIQUENESS …
        severity: what it means if it doesn't hold.
        suite, suite_version: what it belongs to.
    """

    assertion: str
    passed: bool
    column: str | None
    value: str | None
    dataset_namespace: str | None = None
    dataset_name: str | None = None
    rule: str | None = None
    severity: str | None = None
    suite: str | None = None
    suite_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalItem:
    """One micro-batch, and how it joins the one before.

    Attributes:
        key: of the node.
        query_id: of the streaming query.
        batch_id: Spark's.
        provenance: OBSERVED, or RECONCILED from the checkpoint.
        run_id: of the run that it was observed in.
        processing_time: when it ran.
        duration_ms: how long.
        rows_in, rows_out, rows_dropped_late, state_rows: how many, where known.
        watermark_before, watermark_after: event time.
        code_version, plan_digest: what it ran.
        inputs, outputs: the parts of datasets.
        quality: assertions on it.
        missing: batches right before it that aren't known; of a query's first one, those since batch 0 but for those
            that are no longer kept one by one.
        gaps: offsets between the one before and this that neither read.
        overlaps: offsets that both read.
        rewinds: whether positions go back here, or are those of another incarnation of a topic.
        anew: whether a topic is another incarnation than in the one before: it was deleted and made again.
        conflicts: other reports of the same batch.
    """

    key: str
    query_id: str
    batch_id: int
    provenance: Provenance
    run_id: str | None
    processing_time: datetime | None
    duration_ms: int | None
    rows_in: int | None
    rows_out: int | None
    rows_dropped_late: int | None
    state_rows: int | None
    watermark_before: datetime | None
    watermark_after: datetime | None
    code_version: str | None
    plan_digest: str | None
    inputs: tuple[Use, ...]
    outputs: tuple[Use, ...]
    quality: tuple[Quality, ...]
    missing: int
    gaps: tuple[Joint, ...]
    overlaps: tuple[Joint, ...]
    rewinds: bool
    anew: bool
    conflicts: int

    @property
    def is_sound(self) -> bool:
        """Whether it follows the one before without fault, and was reported in one way alone."""
        return not (self.missing or self.gaps or self.overlaps or self.conflicts)


@dataclass(frozen=True, slots=True)
class IntervalPage:
    """Micro-batches in batch order; of a job with several streaming queries, one query after the other.

    Attributes:
        items: of this page.
        total: how many there are.
        next_cursor: where the next page begins; None on the last.
        summarized: how many more there were, that are no longer kept one by one.
    """

    items: tuple[IntervalItem, ...]
    total: int
    next_cursor: str | None
    summarized: int = 0


class Role(StrEnum):
    """What a run did with a dataset."""

    WROTE = "WROTE"
    READ = "READ"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunItem:
    """A run: of a batch job, or one start of a streaming query.

    Attributes:
        key: of the node.
        run_id: its id.
        name: short, for people.
        job: whose run; None where a run is only known as a parent.
        processing_type: BATCH or STREAMING, where it is known.
        state: START, RUNNING, COMPLETE, FAIL, ABORT …; None where no event of its own has come. ABORT without an event
            that shows so where `inferred_because` is there.
        began: when it started; where no event has that, when it was first seen.
        ended_at: when it reached COMPLETE, FAIL or ABORT; of an inferred end, when it was last seen.
        inferred_because: why its end is inferred; None where it reported one, or has none.
        inferred_by: id of the later run that shows that it has ended.
        code_version, config_version: what it was made of.
        plan_digest: of its column lineage.
        error_type, error_message: of what ended it.
        query_id: of a streaming query, the same over restarts.
        first_batch, last_batch: the lowest and highest micro-batch observed in it.
    """

    key: str
    run_id: str
    name: str
    job: Asset | None
    processing_type: str | None
    state: RunEventType | None
    began: datetime | None
    ended_at: datetime | None
    inferred_because: Because | None
    inferred_by: str | None
    code_version: str | None
    config_version: str | None
    plan_digest: str | None
    error_type: str | None
    error_message: str | None
    query_id: str | None
    first_batch: int | None
    last_batch: int | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, the latest first.

    Attributes:
        of: the job or dataset.
        items: of this page.
        total: how many there are.
        next_cursor: where the next page begins; None on the last.
    """

    of: Asset
    items: tuple[RunItem, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that reported no end, and of which none is inferred.

    Attributes:
        run: it.
        last_seen: when it, or a run that it started, was last seen: an event of it, or a micro-batch.
        heartbeat_seconds: how often it has reported that it is running; None: it never did.
    """

    run: RunItem
    last_seen: datetime
    heartbeat_seconds: float | None = None

    def has_stopped(self, now: datetime) -> bool | None:
        """Whether its heartbeat has: none for three times as long as it takes; None where it never had one."""
        if self.heartbeat_seconds is None:
            return None
        return (now - self.last_seen).total_seconds() > MISSED_HEARTBEATS * self.heartbeat_seconds


@dataclass(frozen=True, slots=True)
class OpenRunPage:
    """Runs without an end, the longest unseen first.

    Attributes:
        items: of this page.
        total: how many there are.
        next_cursor: where the next page begins; None on the last.
    """

    items: tuple[OpenRun, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class RunParent:
    """A run above another.

    Attributes:
        run_id: its id.
        job_namespace, job_name: whose run.
    """

    run_id: str
    job_namespace: str
    job_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """All that is known of one run, its micro-batches apart.

    Attributes:
        run: what lists show.
        nominal_start, nominal_end: the period that it is for.
        engine, engine_version, capture_version: what ran and reported it.
        parent, root: runs above it.
        children: how many runs name it as their parent.
        error_stack: of what ended it.
        publication: whether what it wrote was published whole.
        checkpoint_location: of its streaming query.
        script, repository, branch, package, image: what it was started from.
        user, service: the user that its engine ran it as, and the account that it accesses other systems with.
        campaign: the backfill or other campaign that it is part of.
        statement: text of its SQL statement.
        rows_rejected: how many rows it left out for what was in them.
        provenance: RECONCILED of a run whose end was recovered; else null.
        quality: outcomes of assertions.
        intervals: how many micro-batches were observed in it.
        inputs, outputs: what it read and wrote, by name; at most 20 of each. Of a streaming run each goes from its
            first micro-batch's start to its last one's end.
        inputs_total, outputs_total: how many there are.
        business_versions: which versions of reference data its outputs were made with.
        first_seen, last_seen: the span of what was observed of it.
        notes: what capture reported of it besides, a sentence each: callbacks that became no lineage, micro-batches
            that were never reported, writes that weren't committed or of which it isn't known where they went, and
            the state of operators with the late rows that they dropped.
        facets: what events carried of it besides; what the notes are made of, too.
    """

    run: RunItem
    nominal_start: datetime | None
    nominal_end: datetime | None
    engine: str | None
    engine_version: str | None
    capture_version: str | None
    parent: RunParent | None
    root: RunParent | None
    children: int
    error_stack: str | None
    publication: str | None
    checkpoint_location: str | None
    script: str | None
    repository: str | None
    branch: str | None
    package: str | None
    image: str | None
    user: str | None
    service: str | None
    campaign: str | None
    statement: str | None
    rows_rejected: int | None
    provenance: str | None
    quality: tuple[Quality, ...]
    intervals: int
    inputs: tuple[Use, ...]
    inputs_total: int
    outputs: tuple[Use, ...]
    outputs_total: int
    business_versions: tuple[BusinessVersion, ...]
    first_seen: datetime | None
    last_seen: datetime | None
    notes: tuple[str, ...]
    facets: tuple[Facet, ...]


@dataclass(frozen=True, slots=True)
class UsePage:
    """Datasets that a run read, or those that it wrote, by name.

    Attributes:
        run: which run.
        role: READ or WROTE.
        items: of this page. Of a streaming run each goes from its first micro-batch's start to its last one's end.
        total: how many there are.
        next_cursor: where the next page begins; None on the last.
    """

    run: RunItem
    role: Role
    items: tuple[Use, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTurn:
    """Where the quality of one streaming query turned, or of one job's batch runs.

    Attributes:
        query_id: which query; None: it is of batch runs, and has no micro-batches.
        last_good: the latest micro-batch of whose assertions none failed; None: none in those looked at.
        first_bad: the first after it of whose assertions one failed; None: none.
        last_good_run, first_bad_run: the runs that they were observed in; of batch runs, the runs that are judged.
        failed: the assertions of the first bad one that failed.
        looked_back: how many of the latest micro-batches or runs were looked at, at most; None: all.
    """

    query_id: str | None
    last_good: IntervalItem | None
    first_bad: IntervalItem | None
    last_good_run: RunItem | None
    first_bad_run: RunItem | None
    failed: tuple[Quality, ...]
    looked_back: int | None


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a job, or what wrote a dataset, turned from good to bad.

    Attributes:
        of: the job or dataset.
        last_good: the latest run that is COMPLETE; None: none.
        first_bad: the first run after it that ended in FAIL or ABORT; None: none did.
        quality: by assertions: of each streaming query of the job, or that wrote the dataset; and of batch runs of the
            job, or of each job that read or wrote the dataset, as far as they are about it.
    """

    of: Asset
    last_good: RunItem | None
    first_bad: RunItem | None
    quality: tuple[QualityTurn, ...]
