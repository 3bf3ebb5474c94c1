"""RunEvent: a change of state of one run of a job."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import JobRef, Natural, ProcessingType, Text, Time, Versions
from headwater_schemas.events.interval import Provenance, QualityResult
from headwater_schemas.events.position import DatasetUse


class RunEventType(StrEnum):
    """OpenLineage's `eventType`. An old reader reads a newer symbol as UNKNOWN."""

    UNKNOWN = "UNKNOWN"
    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"
    OTHER = "OTHER"

    @property
    def is_terminal(self) -> bool:
        """True if a run in this state has ended."""
        return self in _TERMINAL


_TERMINAL = frozenset({RunEventType.COMPLETE, RunEventType.FAIL, RunEventType.ABORT})


class PublicationState(StrEnum):
    """Visibility of a run's output to readers.

    UNPUBLISHED: no output is visible. PUBLISHED: the whole output is visible. PARTIAL: some outputs or files are
        visible (after a failed non-atomic write).
    """

    UNKNOWN = "UNKNOWN"
    UNPUBLISHED = "UNPUBLISHED"
    PUBLISHED = "PUBLISHED"
    PARTIAL = "PARTIAL"


class ParentRun(msgspec.Struct, frozen=True):
    """Run of another job to which this run belongs, as in OpenLineage's parent run facet."""

    run_id: Text
    job: JobRef


class RunError(msgspec.Struct, frozen=True, kw_only=True):
    """Error that made a run fail. Producers redact credentials before they fill it.

    Attributes:
        type: the exception's class.
        message: text of the exception.
        stack_trace: stack trace, shortened by the producer.
    """

    type: str | None = None
    message: str
    stack_trace: str | None = None


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """Program, account and purpose of a run. Without credentials.

    Attributes:
        script: the program that was started: its path in its checkout, else its whole path; or a notebook's path.
        repository: URL of the program's checkout.
        branch: the checkout's branch.
        package: the installed distribution with the program, `flights 1.4.2`.
        image: the container image of the process, `registry/flights@sha256:…`.
        user: the engine's user for this run.
        service: the account for access to other systems: a role, a service account, a principal.
        campaign: the backfill or other campaign of the run.
        statement: the text of its SQL statement.
    """

    script: str | None = None
    repository: str | None = None
    branch: str | None = None
    package: str | None = None
    image: str | None = None
    user: str | None = None
    service: str | None = None
    campaign: str | None = None
    statement: str | None = None


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """START / RUNNING / COMPLETE / FAIL / ABORT / OTHER of a batch or streaming run.

    COMPLETE is only emitted after the data is durable.

    Attributes:
        type: OpenLineage's `eventType`.
        processing_type: batch or streaming.
        inputs, outputs: datasets with the part read or written; for a streaming run, only the datasets (its intervals
            have the positions).
        started_at, ended_at: times of the run, if the producer has more exact ones than `event_time`.
        nominal_start, nominal_end: the run's scheduled time range.
        versions: code, configuration, engine.
        parent, root: the orchestrator's task run, and the run at the top of that tree.
        error: set with FAIL and ABORT.
        publication: visibility of the output.
        plan_digest: digest of the PlanEvent with this run's column lineage.
        query_id, checkpoint_location: for a streaming run, Spark's id of its query, and its checkpoint's location.
        context: program, account and purpose of the run.
        quality: results of assertions, each once; another report of the run replaces them.
        rows_rejected: number of rows that the run read and rejected for their content, if counted.
        provenance: origin of the report; UNKNOWN counts as observed.
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
    context: RunContext | None = None
    rows_rejected: Natural | None = None
    provenance: Provenance = Provenance.UNKNOWN
    quality: tuple[QualityResult, ...] = ()
    run_facets: dict[str, str] = {}
    job_facets: dict[str, str] = {}
