"""EventContext: shared fields of one application's events, and the builders of these events.

The application's context and period come from its settings, else from its code, Spark and the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import msgspec

from headwater_producers.spark.common.account import service_account
from headwater_producers.spark.common.settings import CaptureSettings, ErrorDetail
from headwater_producers.spark.common.versions import Code, container_image
from headwater_producers.spark.events.data_interval import ALWAYS, DataInterval, data_interval
from headwater_producers.spark.events.parent import NOBODY, Orchestration
from headwater_producers.spark.events.run_error import in_detail
from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    JobEvent,
    JobRef,
    LineageEvent,
    Owner,
    ParentRun,
    RunContext,
    RunEvent,
    RunEventType,
    RunRef,
    Tag,
    Versions,
    build,
)
from headwater_schemas.redaction import redact, without_user_info
from headwater_schemas.topics import DEFAULT_MAX_MESSAGE_BYTES

Emit = Callable[[LineageEvent], bool | None]
"""Receiver of events. False: the event was refused, which is counted already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContext:
    """Attempt of a Spark application: the shared fields of its events.

    Attributes:
        app_name: name of the application's job, which is the prefix of the names of its other jobs.
        app_run_id: the application's own run, parent of all others.
        producer: URI of this code.
        versions: versions of the code, its configuration, Spark and this capture.
        started_by: the orchestrator's runs that started the application.
        about: program, accounts and campaign of the application; None: unknown.
        owners, tags, criticality: facts of its jobs declared in the settings; None: not declared.
        errors: detail of errors that a failed run reports.
        max_event_bytes: maximum size of a record, uncompressed.
        sink_bytes: function that returns the sink's maximum record size, which the sink may learn late; None:
            unlimited.
    """

    tenant: str
    namespace: str
    app_name: str
    app_run_id: str
    producer: str
    versions: Versions
    started_by: Orchestration = NOBODY
    about: RunContext | None = None
    period: DataInterval = ALWAYS
    owners: tuple[Owner, ...] | None = None
    tags: tuple[Tag, ...] | None = None
    criticality: str | None = None
    errors: ErrorDetail = "stack"
    max_event_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    sink_bytes: Callable[[], int] | None = field(default=None, compare=False)

    @property
    def event_bytes(self) -> int:
        """Largest record that may be sent now, in bytes, uncompressed."""
        return min(self.max_event_bytes, self.max_event_bytes if self.sink_bytes is None else self.sink_bytes())

    @property
    def app_job(self) -> JobRef:
        """Job of the application."""
        return self.job(self.app_name)

    @property
    def parent(self) -> ParentRun:
        """Run of the application, as the parent of a write or a query."""
        return ParentRun(self.app_run_id, self.app_job)

    @property
    def root(self) -> ParentRun:
        """Run at the top of the tree: the orchestrator's, else the application's."""
        return self.started_by.root or self.parent

    def job(self, name: str) -> JobRef:
        """Name a job of this application."""
        return JobRef(self.namespace, name)

    def run(self, body: RunEvent, *, job: JobRef, run_id: str, at: datetime) -> LineageEvent:
        """Build a run's change of state. All events except heartbeats have the application's context and period."""
        if body.type is not RunEventType.RUNNING:
            body = msgspec.structs.replace(
                body,
                context=body.context or self.about,
                nominal_start=self.period.start,
                nominal_end=self.period.end,
            )
        if body.error is not None:
            body = msgspec.structs.replace(body, error=in_detail(body.error, self.errors))
        return self.fact(body, job=job, run_id=run_id, at=at)

    def about_statement(self, text: str | None) -> RunContext | None:
        """Return the context of a run that executes a SQL statement; None: the application's context."""
        if text is None:
            return None
        statement = redact(text, max_chars=MAX_STATEMENT_CHARS)
        return msgspec.structs.replace(self.about or RunContext(), statement=statement)

    def fact(
        self, body: RunEvent | DatasetEvent | ColumnLineage, *, job: JobRef, run_id: str, at: datetime
    ) -> LineageEvent:
        """Build the event of a fact that a run reports: its state, a dataset, or its job's column lineage."""
        return build.lineage_event(
            body, job=job, run=RunRef(run_id), producer=self.producer, event_time=at, tenant=self.tenant
        )

    def job_facts(self, body: JobEvent, *, job: JobRef, at: datetime) -> LineageEvent:
        """Build the event of a job's declared facts."""
        return build.lineage_event(body, job=job, producer=self.producer, event_time=at, tenant=self.tenant)


MAX_STATEMENT_CHARS: Final = 20_000
"""Length at which a SQL statement is cut."""


def run_context(
    settings: CaptureSettings,
    code: Code,
    *,
    properties: Mapping[str, str],
    environment: Mapping[str, str],
    user: str | None,
) -> RunContext:
    """Return the context that all runs of an application share, without credentials."""
    repository = settings.job_repository or code.repository
    return RunContext(
        script=settings.job_script or code.script,
        repository=without_user_info(repository) if repository is not None else None,
        branch=settings.job_branch or code.branch,
        package=code.package,
        image=settings.job_image or container_image(properties),
        user=user,
        service=settings.job_service or service_account(properties, environment),
        campaign=settings.job_campaign or data_interval(environment).campaign,
    )


def period(settings: CaptureSettings, environment: Mapping[str, str]) -> DataInterval:
    """Return the application's data interval, from the settings, else from the orchestrator; never a mix of both."""
    if settings.job_nominal_start is None and settings.job_nominal_end is None:
        return data_interval(environment)
    return DataInterval(_utc(settings.job_nominal_start), _utc(settings.job_nominal_end))


def _utc(time: datetime | None) -> datetime | None:
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
