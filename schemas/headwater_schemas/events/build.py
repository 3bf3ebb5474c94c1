"""Constructor of events, which fills in kind and id.

    event = lineage_event(
        RunEvent(type=RunEventType.START),
        job=JobRef("flights", "daily_report"), run=RunRef(str(uuid4())), producer=URI, event_time=now,
    )

The caller always gives `event_time`; no clock is read here, because the same fact emitted twice must be the same event.
The id of a RUN, DATASET, JOB or INCIDENT event depends on `event_time`; the id of an INTERVAL, PLAN, RETENTION,
DECLARATION or DECLARATION_SET event doesn't.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from headwater_schemas import identity
from headwater_schemas.events.common import JobRef, RunRef
from headwater_schemas.events.dataset import DatasetEvent
from headwater_schemas.events.declaration import DeclarationEvent, DeclarationSetEvent
from headwater_schemas.events.event import EventKind, LineageEvent
from headwater_schemas.events.incident import IncidentEvent
from headwater_schemas.events.interval import IntervalEvent
from headwater_schemas.events.job import JobEvent
from headwater_schemas.events.plan import ColumnLineage, PlanEvent
from headwater_schemas.events.retention import RetentionEvent
from headwater_schemas.events.run import RunEvent
from headwater_schemas.redacted_values import redacted

DEFAULT_TENANT = "default"

_KIND_AND_FIELD: dict[type, tuple[EventKind, str]] = {
    RunEvent: (EventKind.RUN, "run_event"),
    IntervalEvent: (EventKind.INTERVAL, "interval_event"),
    PlanEvent: (EventKind.PLAN, "plan_event"),
    DatasetEvent: (EventKind.DATASET, "dataset_event"),
    JobEvent: (EventKind.JOB, "job_event"),
    RetentionEvent: (EventKind.RETENTION, "retention_event"),
    DeclarationEvent: (EventKind.DECLARATION, "declaration_event"),
    DeclarationSetEvent: (EventKind.DECLARATION_SET, "declaration_set_event"),
    IncidentEvent: (EventKind.INCIDENT, "incident_event"),
}


def lineage_event(
    body: RunEvent
    | IntervalEvent
    | ColumnLineage
    | PlanEvent
    | DatasetEvent
    | JobEvent
    | RetentionEvent
    | DeclarationEvent
    | DeclarationSetEvent
    | IncidentEvent,
    *,
    producer: str,
    event_time: datetime,
    job: JobRef | None = None,
    run: RunRef | None = None,
    tenant: str = DEFAULT_TENANT,
    document: str | None = None,
    redacting: bool = True,
) -> LineageEvent:
    """Build the event of a body, with its id and without credentials.

    Args:
        body: a run's change of state; micro-batches of a streaming query; facts of a dataset or a job; a rule of
            retention; a declaration, or a revision of a declaration set; an action on an incident. A `ColumnLineage`
            becomes the body of a PLAN event (`plan_event`); runs and intervals cite its digest.
        producer: URI of the code that emits the event.
        event_time: time at which the fact was observed.
        job: the event's job; None for a dataset without a known job, for retention, declarations and incidents.
        run: required for a run's event. For an interval: the run of the query, None if the interval was
            reconciled. For a plan or dataset: the run in which it was observed, if any.
        document: the OpenLineage document that the event came from (`LineageEvent.document`).
        redacting: False if everything comes from a document whose reader has already decided on redaction.
    """
    if redacting:
        body, job, producer = redacted(body), redacted(job), redacted(producer)
    body_struct: Any = plan_event(body) if isinstance(body, ColumnLineage) else body
    kind, field = _KIND_AND_FIELD[type(body_struct)]
    event = LineageEvent(
        event_id="",
        event_time=event_time,
        tenant=tenant,
        producer=producer,
        kind=kind.value,
        job=job,
        run=run,
        document=document,
        **{field: body_struct},
    )
    # No other code has the event yet, so it can be changed in place.
    msgspec.structs.force_setattr(event, "event_id", identity.event_id(event))
    return event


def plan_event(lineage: ColumnLineage) -> PlanEvent:
    """Build the PlanEvent of a column lineage, in canonical order, so that equal lineages give equal bodies."""
    lineage = identity.canonical_lineage(lineage)
    return PlanEvent(digest=identity.plan_digest(lineage), lineage=lineage)
