"""RunEvent: a change of state of one run of a job."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import JobRef, ProcessingType, Text, Time, Versions
from headwater_schemas.events.position import DatasetUse


class RunEventType(StrEnum):
    """OpenLineage's `eventType`. UNKNOWN is what an old reader makes of a newer symbol."""

    UNKNOWN = "UNKNOWN"
    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"
    OTHER = "OTHER"

    @property
    def is_terminal(self) -> bool:
        """Whether a run in this state has ended."""
        return self in _TERMINAL


_TERMINAL = frozenset({RunEventType.COMPLETE, RunEventType.FAIL, RunEventType.ABORT})


class PublicationState(StrEnum):
    """Whether what the run wrote is visible to readers.

    UNPUBLISHED: nothing is. PUBLISHED: all of it is. PARTIAL: some outputs or files are (a failed non-atomic write).
    """

    UNKNOWN = "UNKNOWN"
    UNPUBLISHED = "UNPUBLISHED"
    PUBLISHED = "PUBLISHED"
    PARTIAL = "PARTIAL"


class ParentRun(msgspec.Struct, frozen=True):
    """Another job's run that this run belongs to, as in OpenLineage's parent run facet."""

    run_id: Text
    job: JobRef


class RunError(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run failed. Producers redact credentials before they fill it.

    Attributes:
        type: the exception's class.
        message: its text.
        stack_trace: shortened by the producer.
    """

    type: str | None = None
    message: str
    stack_trace: str | None = None


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """START / RUNNING / COMPLETE / FAIL / ABORT / OTHER of a batch or streaming run.

    COMPLETE is only emitted after the data is durable.

    Attributes:
        type: OpenLineage's `eventType`.
        processing_type: batch or streaming.
        inputs, outputs: datasets with the part read or written; of a streaming run, the datasets alone (its
            positions are in its intervals).
        started_at, ended_at: of the run, where the producer has more exact times than `event_time`.
        nominal_start, nominal_end: the scheduled time range this run is for.
        versions: code, configuration, engine.
        parent, root: the orchestrator's task run, and the run at the top of that tree.
        error: set with FAIL and ABORT.
        publication: whether what was written is visible.
        plan_digest: the PlanEvent with this run's column lineage.
        query_id, checkpoint_location: of a streaming run, its query's id in Spark and where its checkpoint is.
        run_facets, job_facets: OpenLineage facets that have no field here, name to JSON text, verbatim.
    """

    type: RunEventType
    processing_type: ProcessingType = ProcessingType.UNKNOWN
    inputs: tuple[DatasetUse, ...] = ()
    outputs: tuple[DatasetUse, ...] = ()
    started_at: Time | None = None
    ended_at: Time | None = None
    nominal_start: Time | None = None
    nominal_end: Time | None = None
    versions: Versions | None = None
    parent: ParentRun | None = None
    root: ParentRun | None = None
    error: RunError | None = None
    publication: PublicationState = PublicationState.UNKNOWN
    plan_digest: str | None = None
    query_id: str | None = None
    checkpoint_location: str | None = None
    run_facets: dict[str, str] = {}
    job_facets: dict[str, str] = {}
