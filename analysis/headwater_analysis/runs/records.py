"""Answers about runs, micro-batches, and the parts of datasets that they use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.facets import Facet
from headwater_analysis.paging import Page
from headwater_analysis.texts import TEXT
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_graph.derive import Because
from headwater_schemas.events import Certainty, Provenance, RunEventType

MISSED_HEARTBEATS = 3
"""Missed heartbeats after which a run counts as stopped: a late heartbeat may be in an outbox, or not yet consumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Part of a dataset that a run or micro-batch read or wrote.

    Attributes:
        dataset: the dataset.
        ordinal: number of earlier uses of the dataset by the same run or micro-batch.
        position: `kafka`, `files`, `table_snapshot` … (docs/graph.md); None if the part is unknown.
        certainty: certainty of the position.
        offsets: offset ranges of `kafka`, by partition, ascending.
        topic_id: Kafka's id of the topic's incarnation.
        format: format of a table.
        version: snapshot id, last version of a range, or digest of a manifest.
        from_version: for a range of a table's versions, the version before the range's first version.
        partitions: partitions of a table, or the known partitions of files: `key=value/…`.
        partition_columns: partition columns of an output.
        partition_count: number of an output's partitions that got rows.
        branch: branch of the table that an output was written to.
        paths: listed paths of files.
        pattern: glob that matches all of the files and no others.
        uncommitted: for an output, whether only a failed run reported it.
        inputs: for an output, keys of the datasets that went into the output; None if its producer doesn't record them.
        text: any other position, in words.
        rows, bytes, files: amounts, where known.
        schema_digest: digest of the schema with which the part was read or written; None: unknown.
        schema_since: first report of this schema for the dataset; only for uses of a run.
        facets: further facets of this use in events, such as statistics and reports of a table format.
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
    paths: Annotated[tuple[str, ...], TEXT] = ()
    pattern: Annotated[str | None, TEXT] = None
    uncommitted: bool = False
    inputs: tuple[str, ...] | None = None
    text: Annotated[str | None, TEXT] = None
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    schema_digest: str | None = None
    schema_since: datetime | None = None
    facets: Annotated[tuple[Facet, ...], TEXT] = ()


@dataclass(frozen=True, slots=True)
class BusinessVersion:
    """Reference data that a run read, and the outputs that the run computed with these data.

    Attributes:
        run_id: id of the run.
        reference: part of the reference dataset that the run read: a table's version, files, offsets.
        outputs: outputs that the run computed with the reference data, by name.
    """

    run_id: str
    reference: Use
    outputs: tuple[Asset, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """Offsets that neither of two neighbouring micro-batches read (a gap), or that both read (an overlap).

    Attributes:
        dataset: key of the topic's node.
        partition: partition of the topic.
        start, end: offsets, half-open.
    """

    dataset: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quality:
    """An assertion on the output of a micro-batch or run, or on a dataset that the assertion names.

    Attributes:
        assertion: name of the assertion.
        passed: whether it held.
        column: field path; None: the whole dataset.
        value: measured value; None if unknown.
        dataset_namespace, dataset_name: dataset that the assertion names.
        rule: kind of assertion: COMPLETENESS, UNIQUENESS …
        severity: severity of a failure.
        suite, suite_version: suite of the assertion.
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
    """A micro-batch, with gaps and overlaps since the previous one.

    Attributes:
        key: key of the node.
        query_id: id of the streaming query.
        batch_id: Spark's batch id.
        provenance: OBSERVED, or RECONCILED from the checkpoint.
        run_id: id of the run that reported it.
        processing_time: start of the micro-batch.
        duration_ms: duration of the micro-batch.
        rows_in, rows_out, rows_dropped_late, state_rows: numbers of rows, where known.
        watermark_before, watermark_after: watermark before and after the micro-batch.
        code_version, plan_digest: version of its code, and digest of its column lineage.
        inputs, outputs: parts of datasets that it read and wrote.
        quality: assertions on the micro-batch.
        missing: number of unknown batches between the previous known micro-batch and this one. For the first known
            micro-batch of a query: number of batches before it, from 0 on, without batches that the graph no longer
            stores individually.
        gaps: offsets that neither the previous micro-batch nor this one read.
        overlaps: offsets that both micro-batches read.
        rewinds: whether positions go back here, or belong to another incarnation of a topic.
        anew: whether a topic was deleted and recreated since the previous micro-batch.
        conflicts: conflicting reports of this micro-batch.
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
        """True if the micro-batch follows the previous one without a fault, and has no conflicting reports."""
        return not (self.missing or self.gaps or self.overlaps or self.conflicts)


@dataclass(frozen=True, slots=True)
class IntervalPage(Page):
    """Micro-batches in batch order; for a job with several streaming queries, one query after the other.

    Attributes:
        summarized: number of further micro-batches, which the graph no longer stores individually.
    """

    items: tuple[IntervalItem, ...]
    summarized: int = 0


class Role(StrEnum):
    """Role of a run in the use of a dataset."""

    WROTE = "WROTE"
    READ = "READ"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunItem:
    """A run: of a batch job, or one start of a streaming query.

    Attributes:
        key: key of the node.
        run_id: id of the run.
        name: short name, for people.
        job: job of the run; None if a run is only known as a parent.
        processing_type: BATCH or STREAMING, where known.
        state: START, RUNNING, COMPLETE, FAIL, ABORT …; None if the run has emitted no event of its own. An ABORT with
            `inferred_because` is inferred, without an event.
        began: start of the run; if no event states it, the time when the run was first seen.
        ended_at: time when it reached COMPLETE, FAIL or ABORT; for an inferred end, the time when it was last seen.
        inferred_because: reason why its end is inferred; None if its end was reported, or if it has no end.
        inferred_by: id of the later run that shows that it has ended.
        code_version, config_version: versions of its code and configuration.
        plan_digest: digest of its column lineage.
        error_type, error_message: type and message of the error that ended it.
        query_id: id of a streaming query, constant over restarts.
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
    error_message: Annotated[str | None, TEXT]
    query_id: str | None
    first_batch: int | None
    last_batch: int | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, the latest first.

    Attributes:
        of: the job or dataset.
        items: runs of this page.
        total: total number of runs.
        next_cursor: cursor of the next page; None on the last page.
    """

    of: Asset
    items: tuple[RunItem, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that reported no end, and whose end isn't inferred.

    Attributes:
        run: the run.
        last_seen: time of the last event or micro-batch of the run, or of a run that it started.
        heartbeat_seconds: interval of its heartbeats; None: it sends none.
    """

    run: RunItem
    last_seen: datetime
    heartbeat_seconds: float | None = None

    def has_stopped(self, now: datetime) -> bool | None:
        """Return whether the run's heartbeats have stopped: none for three intervals; None if it never sent any."""
        if self.heartbeat_seconds is None:
            return None
        return (now - self.last_seen).total_seconds() > MISSED_HEARTBEATS * self.heartbeat_seconds


@dataclass(frozen=True, slots=True)
class OpenRunPage(Page):
    """Runs without an end, the longest unseen first."""

    items: tuple[OpenRun, ...]


@dataclass(frozen=True, slots=True)
class RunParent:
    """Parent run or root run of a run.

    Attributes:
        run_id: id of the run.
        job_namespace, job_name: job of the run.
    """

    run_id: str
    job_namespace: str
    job_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """Details of one run, without its micro-batches.

    Attributes:
        run: fields that lists show.
        nominal_start, nominal_end: nominal period of the run.
        engine, engine_version, capture_version: engine of the run, and capture that reported it.
        parent, root: its parent run and its root run.
        children: number of runs that name it as their parent.
        error_stack: stack trace of the error that ended it.
        publication: whether its output was published whole.
        checkpoint_location: checkpoint of its streaming query.
        script, repository, branch, package, image: code of the run.
        user, service: user of its engine, and account with which it accesses other systems.
        campaign: backfill or other campaign to which it belongs.
        statement: text of its SQL statement.
        rows_rejected: number of rows that it left out because of their content.
        provenance: RECONCILED for a run whose end was recovered; None: any other run.
        quality: outcomes of assertions.
        intervals: number of micro-batches observed in it.
        inputs, outputs: parts of datasets that it read and wrote, by name; at most 20 of each. For a streaming run,
            each part spans from the start of its first micro-batch to the end of its last.
        inputs_total, outputs_total: numbers of inputs and outputs.
        business_versions: versions of reference data that went into its outputs.
        first_seen, last_seen: the span in which it was observed.
        notes: further reports of capture, a sentence each: callbacks without lineage, micro-batches that were never
            reported, writes that weren't committed or have an unknown target, and the state of operators with the late
            rows that they dropped.
        facets: further facets of the run in events; `notes` describes some of these.
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
    error_stack: Annotated[str | None, TEXT]
    publication: str | None
    checkpoint_location: Annotated[str | None, TEXT]
    script: str | None
    repository: str | None
    branch: str | None
    package: str | None
    image: str | None
    user: str | None
    service: str | None
    campaign: str | None
    statement: Annotated[str | None, TEXT]
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
    facets: Annotated[tuple[Facet, ...], TEXT]


@dataclass(frozen=True, slots=True)
class UsePage:
    """Datasets that a run read, or datasets that it wrote, by name.

    Attributes:
        run: the run.
        role: READ or WROTE.
        items: uses of this page. For a streaming run, each use spans from the start of its first micro-batch to the end
            of its last.
        total: total number of uses.
        next_cursor: cursor of the next page; None on the last page.
    """

    run: RunItem
    role: Role
    items: tuple[Use, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTurn:
    """Change from good to bad quality in one streaming query, or in one job's batch runs.

    Attributes:
        query_id: id of the query; None for batch runs, which have no micro-batches.
        last_good: latest micro-batch with assertions, none of which failed; None: no such micro-batch was read.
        first_bad: first micro-batch after `last_good` with a failed assertion; None: there is none.
        last_good_run, first_bad_run: runs that reported these micro-batches; for a batch job, its last good and first
            bad run.
        failed: failed assertions of the first bad micro-batch or run.
        looked_back: number of latest micro-batches or runs to which the search was limited; None: no limit.
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
    """Change from good to bad of a job, or of the jobs that wrote a dataset.

    Attributes:
        of: the job or dataset.
        last_good: latest COMPLETE run; None: there is none.
        first_bad: first run after `last_good` that ended in FAIL or ABORT; None: there is none.
        quality: changes from good to bad quality, by assertions. For a job: one for each of its streaming queries, and
            one for its batch runs. For a dataset: one for each query that wrote it, and one for the batch runs of each
            job that read or wrote it; of these jobs, only assertions about the dataset count. Queries and jobs without
            assertions are left out.
    """

    of: Asset
    last_good: RunItem | None
    first_bad: RunItem | None
    quality: tuple[QualityTurn, ...]
