"""Making events: one function a body, which fills in the kind and the id.

    run = run_event(
        RunEvent(type=RunEventType.START),
        job=JobRef("flights", "daily_report"), run=RunRef(str(uuid4())), producer=URI, event_time=now,
    )

`event_time` is always given, never taken from a clock here: the same fact told twice must be the same event. A RUN,
DATASET or JOB event's id depends on it; an INTERVAL's or PLAN's does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater_schemas import identity
from headwater_schemas.events.event import EventKind, LineageEvent
from headwater_schemas.events.plan import PlanEvent

if TYPE_CHECKING:
    from datetime import datetime

    from headwater_schemas.events.common import JobRef, RunRef
    from headwater_schemas.events.dataset import DatasetEvent
    from headwater_schemas.events.interval import IntervalEvent
    from headwater_schemas.events.job import JobEvent
    from headwater_schemas.events.plan import ColumnLineage
    from headwater_schemas.events.run import RunEvent

DEFAULT_TENANT = "default"


def run_event(
    body: RunEvent,
    *,
    job: JobRef,
    run: RunRef,
    producer: str,
    event_time: datetime,
    tenant: str = DEFAULT_TENANT,
) -> LineageEvent:
    """A run's change of state. The same run, type and time give the same id."""
    return _with_id(
        LineageEvent(
            event_id="",
            event_time=event_time,
            tenant=tenant,
            producer=producer,
            kind=EventKind.RUN.value,
            job=job,
            run=run,
            run_event=body,
        )
    )


def interval_event(
    body: IntervalEvent,
    *,
    job: JobRef,
    producer: str,
    event_time: datetime,
    run: RunRef | None = None,
    tenant: str = DEFAULT_TENANT,
) -> LineageEvent:
    """Micro-batches of a streaming query. `run` is the start of the query; None where it was found by reconciling."""
    return _with_id(
        LineageEvent(
            event_id="",
            event_time=event_time,
            tenant=tenant,
            producer=producer,
            kind=EventKind.INTERVAL.value,
            job=job,
            run=run,
            interval_event=body,
        )
    )


def plan_event(
    lineage: ColumnLineage,
    *,
    job: JobRef,
    producer: str,
    event_time: datetime,
    run: RunRef | None = None,
    tenant: str = DEFAULT_TENANT,
) -> LineageEvent:
    """A job's column lineage under its digest, which runs and intervals then carry as `plan_digest`.

    The lineage is put in order first (`identity.canonical_lineage`), so equal lineages give equal bodies.
    """
    lineage = identity.canonical_lineage(lineage)
    return _with_id(
        LineageEvent(
            event_id="",
            event_time=event_time,
            tenant=tenant,
            producer=producer,
            kind=EventKind.PLAN.value,
            job=job,
            run=run,
            plan_event=PlanEvent(digest=identity.plan_digest(lineage), lineage=lineage),
        )
    )


def dataset_event(
    body: DatasetEvent,
    *,
    producer: str,
    event_time: datetime,
    job: JobRef | None = None,
    run: RunRef | None = None,
    tenant: str = DEFAULT_TENANT,
) -> LineageEvent:
    """What is said of one dataset. `job` and `run` are those that said it, where there were any."""
    return _with_id(
        LineageEvent(
            event_id="",
            event_time=event_time,
            tenant=tenant,
            producer=producer,
            kind=EventKind.DATASET.value,
            job=job,
            run=run,
            dataset_event=body,
        )
    )


def job_event(
    body: JobEvent,
    *,
    job: JobRef,
    producer: str,
    event_time: datetime,
    tenant: str = DEFAULT_TENANT,
) -> LineageEvent:
    """What is declared of one job, whether it has run or not."""
    return _with_id(
        LineageEvent(
            event_id="",
            event_time=event_time,
            tenant=tenant,
            producer=producer,
            kind=EventKind.JOB.value,
            job=job,
            job_event=body,
        )
    )


def _with_id(event: LineageEvent) -> LineageEvent:
    return msgspec.structs.replace(event, event_id=identity.event_id(event))
