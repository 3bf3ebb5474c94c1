"""Rules of incidents: the state that follows from the log of actions, and the nodes that the scope concerns.

Whenever the log gets an entry, `incident_state` derives the state from the whole log again. The states are
OpenMetadata's: New, Ack, Assigned, Resolved. Actions take effect in order of their stamps:

| action        | New, Ack, Assigned                               | Resolved                                     |
|---------------|--------------------------------------------------|----------------------------------------------|
| OPENED        | adds parts; adds missing texts                   | the same; it stays Resolved                  |
| ACKNOWLEDGED  | New becomes Ack; the first is `acknowledged_at`  | nothing                                      |
| ASSIGNED      | Assigned, to the assignee                        | nothing                                      |
| SCOPE_CHANGED | adds parts, then removes parts                   | the same                                     |
| MERGED        | Resolved without a resolution; `merged_into`     | `merged_into`                                |
| SUPERSEDED    | Resolved without a resolution; `superseded_by`   | `superseded_by`                              |
| REPAIRED      | its parts are repaired                           | the same                                     |
| RESOLVED      | Resolved, with the resolution                    | nothing: the first resolution counts         |
| REOPENED      | nothing                                          | Assigned if there is an assignee, else New;  |
|               |                                                  | no resolution, `merged_into`, `superseded_by` |
| NOTED         | nothing                                          | nothing                                      |
| REACHED       | nothing                                          | nothing                                      |
| NOTIFIED      | nothing                                          | nothing                                      |

In every state, the title, description, severity, type and cause of an action replace the earlier values. Only OPENED
doesn't replace values: it adds missing values, so that opening an incident again doesn't rename it. A part that is
added again after its repair is no longer repaired. The history has all actions, also those without an effect. The
incident reached the datasets of its latest REACHED; the datasets of an earlier REACHED aren't kept. For each recipient,
the latest NOTIFIED that names the recipient counts.

OPENED needn't be the first entry: clocks differ, and events arrive in any order. Until OPENED has arrived, the incident
has no state (`missing_opened`). Once it has arrived, earlier actions count as if the incident had been New before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec

from headwater_graph import keys
from headwater_graph.facts.incidents import IncidentEntry
from headwater_graph.facts.model import Label
from headwater_graph.facts.registers import stamp_time
from headwater_graph.scope_difference import lies_within
from headwater_schemas.events import (
    IncidentAction,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    IncidentType,
    NotificationChange,
    NotifiedRecipient,
    ReachedDataset,
)
from headwater_schemas.identity import scope_text, utc_text

ENTRIES: Final = "_entries"
"""Property of an Incident: the texts of its log (`IncidentEntry.text`), in order."""
REACHED: Final = "_reached"
"""Property of an Incident: the text of the datasets that it reached (`IncidentEntry.text`)."""

_read_action: Final = msgspec.json.Decoder(IncidentEvent).decode
_read_part: Final = msgspec.json.Decoder(IncidentScope).decode
_read_reached: Final = msgspec.json.Decoder(tuple[ReachedDataset, ...]).decode


class IncidentStatus(StrEnum):
    """State of an incident, in OpenMetadata's words."""

    NEW = "New"
    ACK = "Ack"
    ASSIGNED = "Assigned"
    RESOLVED = "Resolved"


OPEN: Final = (IncidentStatus.NEW, IncidentStatus.ACK, IncidentStatus.ASSIGNED)
"""States of an open incident."""


@dataclass(frozen=True, slots=True)
class IncidentRecord:
    """One action of an incident's history.

    Attributes:
        time: time of the event.
        event_id: id of the event.
        event: the action.
    """

    time: datetime
    event_id: str
    event: IncidentEvent


@dataclass(frozen=True, slots=True)
class LatestNotification:
    """Latest notification of a recipient.

    Attributes:
        time: time of the event.
        sent: recipient, channel, and what the message was about.
    """

    time: datetime
    sent: NotifiedRecipient


@dataclass(slots=True)
class IncidentState:
    """State of an incident after all actions of its log.

    Attributes:
        status: state; None if OPENED hasn't arrived.
        title, description, severity, type, cause: latest stated values; None if unknown.
        assignee: latest assignee; None if it was never assigned.
        opened_at: time of the first OPENED.
        acknowledged_at: time of the first ACKNOWLEDGED that had an effect.
        resolved_at: time since which the incident is Resolved; None: it isn't Resolved.
        reopened: number of REOPENED that had an effect.
        resolution: result; None if it isn't Resolved, or was merged or superseded.
        merged_into, superseded_by: id of the incident that replaces this one.
        scope: parts of the current scope, by their canonical JSON, ascending.
        repaired: repaired parts, by their canonical JSON, ascending. They needn't be parts of the scope.
        reached: datasets that the latest REACHED names, in order; None if there is no REACHED.
        reached_as_of: time at which the graph was asked for `reached`; None if there is no REACHED.
        reached_complete: true if `reached` has all reached datasets; None if there is no REACHED.
        notified: latest notification of each recipient, by the recipient's name.
        history: all actions in order.
    """

    status: IncidentStatus | None = None
    title: str | None = None
    description: str | None = None
    severity: IncidentSeverity | None = None
    type: IncidentType | None = None
    cause: str | None = None
    assignee: str | None = None
    opened_at: datetime | None = None
    acknowledged_at: datetime | None = None
    resolved_at: datetime | None = None
    reopened: int = 0
    resolution: IncidentResolution | None = None
    merged_into: str | None = None
    superseded_by: str | None = None
    scope: dict[str, IncidentScope] = field(default_factory=dict)
    repaired: dict[str, IncidentScope] = field(default_factory=dict)
    reached: tuple[ReachedDataset, ...] | None = None
    reached_as_of: datetime | None = None
    reached_complete: bool | None = None
    notified: dict[str, LatestNotification] = field(default_factory=dict)
    history: list[IncidentRecord] = field(default_factory=list)

    @property
    def undeclared_consumers(self) -> tuple[str, ...]:
        """Consumers of the scope that aren't declared repaired, by name."""
        repaired = {part.consumer for part in self.repaired.values()}
        return tuple(sorted({part.consumer for part in self.scope.values() if part.consumer is not None} - repaired))

    @property
    def is_open(self) -> bool:
        """True if it was opened and isn't Resolved."""
        return self.status is not None and self.status is not IncidentStatus.RESOLVED


def incident_state(log: Iterable[IncidentEntry], reached: IncidentEntry | None = None) -> IncidentState:
    """Derive the state of an incident. Pure.

    Args:
        log: all entries of its log, in any order.
        reached: datasets of its latest REACHED (`IncidentFacts.reached`).

    Raises:
        msgspec.DecodeError: `identity.incident_content` or `reached_text` didn't make an entry's content.
    """
    state = IncidentState(IncidentStatus.NEW)
    if reached is not None:
        state.reached = _read_reached(reached.content)
    for entry in sorted(log):
        event = _read_action(entry.content)
        time = stamp_time(entry.stamp)
        state.history.append(IncidentRecord(time, entry.event_id, event))
        _change_stated(state, event)
        _change_scope(state, event)
        _change_status(state, event, time)
        state.notified |= {each.recipient: LatestNotification(time, each) for each in event.notified or ()}
    if state.opened_at is None:
        state.status = None
    state.scope, state.repaired = dict(sorted(state.scope.items())), dict(sorted(state.repaired.items()))
    return state


_STATED = ("title", "description", "severity", "type", "cause")


def _change_stated(state: IncidentState, event: IncidentEvent) -> None:
    for name in _STATED:
        value = getattr(event, name)
        if value is None or value == "UNKNOWN":
            continue
        if event.action is not IncidentAction.OPENED or getattr(state, name) is None:
            setattr(state, name, value)


def _change_scope(state: IncidentState, event: IncidentEvent) -> None:
    parts = {scope_text(part): part for part in event.scope or ()}
    if event.action is IncidentAction.REPAIRED:
        state.repaired |= parts
        return
    state.scope |= parts
    for text, part in parts.items():
        # The rest of a part that was cut stays repaired.
        if not any(lies_within(part, cut) for cut in event.removed or ()):
            state.repaired.pop(text, None)
    for part in event.removed or ():
        state.scope.pop(scope_text(part), None)


def _change_status(state: IncidentState, event: IncidentEvent, time: datetime) -> None:
    is_resolved = state.status is IncidentStatus.RESOLVED
    match event.action:
        case IncidentAction.OPENED:
            state.opened_at = state.opened_at or time
        case IncidentAction.ACKNOWLEDGED if not is_resolved:
            state.acknowledged_at = state.acknowledged_at or time
            if state.status is IncidentStatus.NEW:
                state.status = IncidentStatus.ACK
        case IncidentAction.ASSIGNED if not is_resolved:
            state.assignee, state.status = event.assignee, IncidentStatus.ASSIGNED
        case IncidentAction.MERGED | IncidentAction.SUPERSEDED:
            setattr(state, "merged_into" if event.action is IncidentAction.MERGED else "superseded_by", event.into)
            if not is_resolved:
                state.status, state.resolved_at = IncidentStatus.RESOLVED, time
        case IncidentAction.RESOLVED if not is_resolved:
            state.status, state.resolved_at, state.resolution = IncidentStatus.RESOLVED, time, event.resolution
        case IncidentAction.REOPENED if is_resolved:
            state.status = IncidentStatus.NEW if state.assignee is None else IncidentStatus.ASSIGNED
            state.reopened += 1
            state.resolved_at = state.resolution = state.merged_into = state.superseded_by = None
        case IncidentAction.REACHED:
            state.reached_as_of, state.reached_complete = event.as_of, event.complete


_TEXTS: Final = {"state": "status"} | {
    name: name for name in (*_STATED, "assignee", "resolution", "merged_into", "superseded_by")
}
"""Property with a text, and the attribute that it comes from."""


def incident_properties(
    log: Iterable[IncidentEntry], state: IncidentState, reached: IncidentEntry | None = None
) -> dict[str, Any]:
    """Properties of an incident's node besides its identity; a property with the value None is absent.

    Args:
        log: all entries of its log.
        state: the state that follows from `log` and `reached`.
        reached: datasets of its latest REACHED.
    """
    history = [(record.event, utc_text(record.time)) for record in state.history]
    unresolved = sum(each.sent.change is not NotificationChange.RESOLVED for each in state.notified.values())
    return {
        "missing_opened": True if state.status is None else None,
        **{
            name: None if (value := getattr(state, attribute)) is None else str(value)
            for name, attribute in _TEXTS.items()
        },
        "opened_at": state.opened_at,
        "acknowledged_at": state.acknowledged_at,
        "resolved_at": state.resolved_at,
        "reopened": state.reopened,
        "scope": list(state.scope) or None,
        "repaired": list(state.repaired) or None,
        "actions": [str(event.action) for event, _ in history],
        "action_times": [time for _, time in history],
        "action_by": [event.by for event, _ in history],
        "action_reasons": [event.reason or "" for event, _ in history],
        "reached_as_of": state.reached_as_of,
        "reached_complete": state.reached_complete,
        "reached_datasets": None if state.reached is None else sum(not each.cleared for each in state.reached),
        "notified": len(state.notified) or None,
        "notified_unresolved": unresolved if state.notified else None,
        ENTRIES: sorted(entry.text for entry in log),
        REACHED: None if reached is None else reached.text,
    }


def reached_links(tenant: str, reached: Iterable[ReachedDataset]) -> dict[str, dict[str, Any]]:
    """Keys of the datasets that an incident reached, with the properties of REACHED; None: an absent property."""
    return {
        keys.dataset_key(tenant, each.dataset.namespace, each.dataset.name): {
            "depth": each.depth,
            "certainty": str(each.certainty),
            "since": each.since,
            "cleared": each.cleared,
        }
        for each in reached
    }


def scope_part(text: str) -> IncidentScope:
    """Read a part of a scope from its canonical JSON, as the properties `scope` and `repaired` have it.

    Raises:
        msgspec.DecodeError: the text is no part of a scope.
    """
    return _read_part(text)


def concerned(tenant: str, parts: Iterable[IncidentScope]) -> dict[str, Label]:
    """Keys of the nodes that parts name, with their labels; for a column, also its dataset."""
    labels: dict[str, Label] = {}
    for part in parts:
        if part.dataset is not None:
            dataset = keys.dataset_key(tenant, part.dataset.namespace, part.dataset.name)
            labels[dataset] = Label.DATASET
            if part.column is not None:
                labels[keys.column_key(tenant, dataset, part.column)] = Label.COLUMN
        if part.job is not None:
            labels[keys.job_key(tenant, part.job.namespace, part.job.name)] = Label.JOB
        if part.run is not None:
            labels[keys.run_key(tenant, part.run)] = Label.RUN
        if part.query is not None:
            labels[keys.query_key(tenant, part.query)] = Label.QUERY
        if part.consumer is not None:
            labels[keys.consumer_key(tenant, part.consumer)] = Label.CONSUMER
    return labels


_DATAHUB_TYPES: Final[Mapping[IncidentType, str]] = {
    IncidentType.UNKNOWN: "CUSTOM",
    IncidentType.BAD_RECORDS: "FIELD",
    IncidentType.MISSING_DATA: "VOLUME",
    IncidentType.DUPLICATES: "FIELD",
    IncidentType.LATE: "FRESHNESS",
    IncidentType.SCHEMA: "DATA_SCHEMA",
    IncidentType.BROKEN_CHAIN: "OPERATIONAL",
    IncidentType.FAILED_RUN: "OPERATIONAL",
    IncidentType.WRONG_CODE: "OPERATIONAL",
    IncidentType.PRIVACY: "CUSTOM",
    IncidentType.CUSTOM: "CUSTOM",
}
_DATAHUB_STAGES: Final[Mapping[IncidentStatus, str]] = {
    IncidentStatus.NEW: "TRIAGE",
    IncidentStatus.ACK: "INVESTIGATION",
    IncidentStatus.ASSIGNED: "WORK_IN_PROGRESS",
}


def datahub_type(type_: IncidentType | None) -> str:
    """Type of an incident in DataHub (its `com.linkedin.incident.IncidentType`).

    FRESHNESS, VOLUME, FIELD, DATA_SCHEMA, OPERATIONAL or CUSTOM. Never SQL, which names a kind of check, not of fault.
    """
    return _DATAHUB_TYPES[type_ or IncidentType.UNKNOWN]


def datahub_stage(status: IncidentStatus | None, resolution: IncidentResolution | None) -> str | None:
    """Stage of an incident in DataHub (its `com.linkedin.incident.IncidentStage`).

    TRIAGE, INVESTIGATION, WORK_IN_PROGRESS, FIXED, or NO_ACTION_REQUIRED: a false positive, or another incident took
    over its parts. The last two belong to DataHub's state RESOLVED, the others to ACTIVE. None: OPENED hasn't arrived.
    """
    if status is None:
        return None
    if status is IncidentStatus.RESOLVED:
        return "NO_ACTION_REQUIRED" if resolution in (None, IncidentResolution.FALSE_POSITIVE) else "FIXED"
    return _DATAHUB_STAGES[status]
