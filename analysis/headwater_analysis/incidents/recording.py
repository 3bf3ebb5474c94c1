"""Events that record the reach of incidents, after actions that changed it."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater_analysis.errors import NotFoundError
from headwater_analysis.incidents.actions import PRODUCER, action_of
from headwater_analysis.incidents.answers import Incident
from headwater_analysis.incidents.questions import incident
from headwater_analysis.incidents.recorded import reached_event
from headwater_analysis.reader import Reader
from headwater_analysis.trace.arrivals import Arrivals
from headwater_schemas.events import LineageEvent
from headwater_schemas.events.build import lineage_event


def with_action(reader: Reader, incident_id: str, event: LineageEvent) -> Incident | None:
    """Return an incident without its reach, once the graph has an action on it; None: it doesn't have the action yet.

    Args:
        incident_id: complete id of the incident.
        event: event of the action.
    """
    try:
        found = incident(reader, incident_id, with_reach=False)
    except NotFoundError:
        return None
    wanted = action_of(event).action
    return found if any(each.at == event.event_time and each.action is wanted for each in found.history) else None


def reach_record(reader: Reader, found: Incident, *, by: str) -> LineageEvent:
    """Build the event that records the reach of an incident.

    Raises:
        ValueError: the answer has no reach.
    """
    body = reached_event(found.brief.incident, found.asked_reach, by=by)
    return lineage_event(body, producer=PRODUCER, event_time=datetime.now(UTC), tenant=reader.tenant)


def record_after(
    reader: Reader, incident_id: str, event: LineageEvent, *, by: str, arrivals: Arrivals | None
) -> LineageEvent | None:
    """Build the event that records the reach after an action; None: the graph doesn't have the action yet.

    Args:
        arrivals: as in `trace`.
    """
    if with_action(reader, incident_id, event) is None:
        return None
    return reach_record(
        reader, incident(reader, incident_id, with_owners=False, detailed=False, arrivals=arrivals), by=by
    )
