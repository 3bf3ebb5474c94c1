"""LineageEvent: the value of every record of the events topic, and the envelope of every body."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import JobRef, RunRef, Text, Time
from headwater_schemas.events.dataset import DatasetEvent
from headwater_schemas.events.declaration import DeclarationEvent, DeclarationSetEvent
from headwater_schemas.events.incident import IncidentEvent
from headwater_schemas.events.interval import IntervalEvent
from headwater_schemas.events.job import JobEvent
from headwater_schemas.events.plan import PlanEvent
from headwater_schemas.events.retention import RetentionEvent
from headwater_schemas.events.run import RunEvent

Body = (
    RunEvent
    | IntervalEvent
    | PlanEvent
    | DatasetEvent
    | JobEvent
    | RetentionEvent
    | DeclarationEvent
    | DeclarationSetEvent
    | IncidentEvent
)


class EventKind(StrEnum):
    """Kinds that this version knows. On the wire `kind` is a string, so that an unknown newer kind is recognised."""

    RUN = "RUN"
    INTERVAL = "INTERVAL"
    PLAN = "PLAN"
    DATASET = "DATASET"
    JOB = "JOB"
    RETENTION = "RETENTION"
    DECLARATION = "DECLARATION"
    DECLARATION_SET = "DECLARATION_SET"
    INCIDENT = "INCIDENT"


class LineageEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One fact about lineage. Exactly the body that `kind` names is set.

    Attributes:
        event_id: UUID v5 of the body's identity tuple (`identity.event_id`).
        event_time: time of the fact, by the producer's clock; microseconds, UTC.
        producer: URI of the code that made the event, as in OpenLineage.
        kind: value of `EventKind`, or a newer kind.
        job: the event's job; None in a DatasetEvent without a known job, and in events of retention, declarations and
            incidents.
        run: the event's run, if there is one.
        run_event … incident_event: the body.
        document: the OpenLineage document of the event, as JSON text, with null for each facet that the event holds
            verbatim; empty: another event of the same document has it; None: the event came from no document.
    """

    event_id: Text
    event_time: Time
    tenant: Text
    producer: str
    kind: str
    job: JobRef | None = None
    run: RunRef | None = None
    run_event: RunEvent | None = None
    interval_event: IntervalEvent | None = None
    plan_event: PlanEvent | None = None
    dataset_event: DatasetEvent | None = None
    job_event: JobEvent | None = None
    retention_event: RetentionEvent | None = None
    declaration_event: DeclarationEvent | None = None
    declaration_set_event: DeclarationSetEvent | None = None
    incident_event: IncidentEvent | None = None
    document: str | None = None
