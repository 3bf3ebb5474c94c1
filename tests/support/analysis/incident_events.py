"""Events of incidents on the small graphs of `chains`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.incidents.recorded import reached_event
from headwater_schemas.events import DatasetRef, IncidentAction, IncidentEvent, IncidentScope, LineageEvent, OffsetRange
from headwater_schemas.events.build import lineage_event
from support.analysis.chains import BEGIN

INCIDENT: Final = "INC-1"
LATER: Final = BEGIN + timedelta(days=1)
"""After all that the tests' queries and runs wrote."""


def act(
    action: IncidentAction, *scope: IncidentScope, at: datetime = LATER, of: str = INCIDENT, **more: Any
) -> LineageEvent:
    body = IncidentEvent(incident=of, action=action, by="test", scope=scope or None, **more)
    return lineage_event(body, producer="test", event_time=at)


def opened(*scope: IncidentScope, at: datetime = LATER, of: str = INCIDENT, **more: Any) -> LineageEvent:
    return act(IncidentAction.OPENED, *scope, at=at, of=of, title="bad records", **more)


def repaired(*scope: IncidentScope, of: str = INCIDENT) -> LineageEvent:
    return act(IncidentAction.REPAIRED, *scope, of=of, at=LATER + timedelta(hours=1))


def recorded(reach: IncidentReach, hours: int) -> LineageEvent:
    """Record of a reach, `hours` after the opening."""
    return lineage_event(
        reached_event(INCIDENT, reach, by="test"), producer="test", event_time=LATER + timedelta(hours=hours)
    )


def offsets(of: DatasetRef, start: int, end: int, partition: int = 0) -> IncidentScope:
    return IncidentScope(dataset=of, offsets=(OffsetRange(partition, start, end),))
