"""Events that record the reach of incidents, after actions that may have changed it."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater_analysis.errors import NotFoundError
from headwater_analysis.incidents.actions import PRODUCER, action_of
from headwater_analysis.incidents.answers import Incident
from headwater_analysis.incidents.questions import incident
from headwater_analysis.incidents.recorded import is_record_complete, reached_event
from headwater_analysis.reader import Reader
from headwater_schemas.events import LineageEvent
from headwater_schemas.events.build import lineage_event


def with_action(reader: Reader, event: LineageEvent) -> Incident | None:
    """Return an incident without its reach, once the graph has an action on it; None: it doesn't have the action yet.

    Args:
        event: event of the action.
    """
    wanted = action_of(event)
    try:
        found = incident(reader, wanted.incident, with_reach=False)
    except NotFoundError:
        return None
    return found if found.has_action(wanted.action, event.event_time) else None


def is_changed(found: Incident) -> bool:
    """Return whether the reach of an incident differs from its latest record, or has no record.

    Raises:
        ValueError: the answer has no reach.
    """
    if found.recorded is None or found.recorded.changes:
        return True
    return found.recorded.complete != is_record_complete(found.asked_reach)


def reach_record(reader: Reader, found: Incident, *, by: str) -> LineageEvent:
    """Build the event that records the reach of an incident.

    Raises:
        ValueError: the answer has no reach.
    """
    body = reached_event(found.brief.incident, found.asked_reach, by=by)
    return lineage_event(body, producer=PRODUCER, event_time=datetime.now(UTC), tenant=reader.tenant)
