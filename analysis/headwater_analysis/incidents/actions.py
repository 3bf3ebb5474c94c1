"""Actions on incidents: openings and actions as given, checked against the graph ⇒ events to publish."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headwater_analysis.blast.origin import queries_called
from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.incidents.answers import GivenPart
from headwater_analysis.incidents.difference import scope_change
from headwater_analysis.incidents.questions import stored_incident
from headwater_analysis.incidents.reach import reach_of
from headwater_analysis.incidents.scope import part_line
from headwater_analysis.incidents.unknown import left_words
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_column, resolve_dataset, resolve_job
from headwater_analysis.runs.run_names import resolve_run
from headwater_analysis.trace.arrivals import Arrivals
from headwater_graph.incidents import OPEN, IncidentState, IncidentStatus
from headwater_schemas.events import (
    DatasetRef,
    IncidentAction,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    IncidentType,
    JobRef,
    LineageEvent,
    OffsetRange,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import scope_text
from headwater_schemas.incident_rules import MOST_OF_A_CAUSE, broken_rule, broken_scope

PRODUCER: Final = "https://headwater/incident"
_DIGITS: Final = 10


_CHANGE_REACH: Final = (IncidentAction.SCOPE_CHANGED, IncidentAction.REPAIRED, IncidentAction.REOPENED)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOpening:
    """An incident to be opened.

    Attributes:
        title: one line for people.
        scope: parts with bad data; at least one.
        severity: SEV1, the worst, to SEV5.
        type: type of fault.
        cause: text that names the cause; None: the scope is the cause. At most one incident is open for each cause.
        description: text for people.
        reason: reason of the opening.
    """

    title: str
    scope: tuple[GivenPart | IncidentScope, ...]
    severity: IncidentSeverity | None = None
    type: IncidentType | None = None
    cause: str | None = None
    description: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAction:
    """An action on an existing incident.

    Attributes:
        action: ACKNOWLEDGED, ASSIGNED, SCOPE_CHANGED, MERGED, SUPERSEDED, REPAIRED, RESOLVED, REOPENED or NOTED.
        reason: reason of the action; REPAIRED and RESOLVED need one.
        assignee: for ASSIGNED: person or team.
        scope: for SCOPE_CHANGED: the parts to add; for REPAIRED: the repaired parts.
        removed: for SCOPE_CHANGED: parts to remove: parts of the scope, or offsets, files, micro-batches or times of
            parts.
        into: for MERGED and SUPERSEDED: the incident that replaces this one.
        resolution: for RESOLVED: the result.
        force: for RESOLVED: whether to resolve as REPAIRED although bad data is left, or possibly left.
        title, description, severity, type: new value, which replaces the earlier one.
    """

    action: IncidentAction
    reason: str | None = None
    assignee: str | None = None
    scope: tuple[GivenPart, ...] = ()
    removed: tuple[GivenPart, ...] = ()
    into: str | None = None
    resolution: IncidentResolution | None = None
    force: bool = False
    title: str | None = None
    description: str | None = None
    severity: IncidentSeverity | None = None
    type: IncidentType | None = None

    @property
    def needs_repair(self) -> bool:
        """True for a resolution as repaired without force, which is refused while bad data is left."""
        return self.resolution is IncidentResolution.REPAIRED and not self.force


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAction:
    """An action that is on the events topic.

    Attributes:
        incident: id of the incident.
        event_id: id of the event on the topic.
        at: time of the action in the incident's history, which has the action once the graph has it.
        was_open: true if the incident was open before: an opening only added its parts to the open incident of its
            cause.
        left: for RESOLVED: bad data that is left or possibly left, as a sentence; null: certainly nothing is left.
    """

    incident: str
    event_id: str
    at: datetime
    was_open: bool
    left: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An action that is ready to be published.

    Attributes:
        incident: id of the incident.
        event: the event.
        left: for RESOLVED: bad data that is left or possibly left, as a sentence; empty: certainly nothing is left.
        carried: for MERGED and SUPERSEDED: event that adds the incident's parts to the incident that replaces it; None:
            that incident already has all these parts.
        reached: id of the incident whose reach the action may change: for MERGED and SUPERSEDED the one that replaces
            this one; None: it changes no reach.
        was_open: whether the incident was open before. An opening then adds its parts to the open incident of its
            cause.
    """

    incident: str
    event: LineageEvent
    was_open: bool
    left: str = ""
    carried: LineageEvent | None = None
    reached: str | None = None

    @property
    def published(self) -> PublishedAction:
        """Answer about the action once it is on the topic."""
        return PublishedAction(
            incident=self.incident,
            event_id=self.event.event_id,
            at=self.event.event_time,
            was_open=self.was_open,
            left=self.left or None,
        )

    @property
    def events(self) -> tuple[LineageEvent, ...]:
        """Events to publish, in this order, so that every part belongs to an open incident at any time."""
        return (self.event,) if self.carried is None else (self.carried, self.event)


def opening(reader: Reader, given: GivenOpening, *, by: str, now: datetime) -> Prepared:
    """Prepare the opening of an incident; if an incident of the same cause is open, add the parts to it.

    Without a cause, an open incident with exactly these parts has the same cause, if the opening states no other
    severity and type.

    The id is derived from the cause and the number of earlier incidents of this cause. So two openings of one cause at
    the same time, or an opening that is sent twice, open only one incident.

    Raises:
        NotFoundError, AmbiguousError: from resolving names.
        QuestionError: there is no part, or a part breaks a rule; with the field.
    """

    def question(tx: Transaction) -> Prepared:
        if not given.scope:
            raise QuestionError("An incident needs at least one part with bad data.", field="scope")
        scope = _scope(tx, given.scope, "scope")
        cause = given.cause or _cause(scope)
        rows = tx.rows("incidents/of_cause", cause=cause)
        open_ = [row["incident"] for row in rows if row["state"] in OPEN]
        if not open_ and given.cause is None:
            texts, states = sorted(map(scope_text, scope)), [str(state) for state in OPEN]
            open_ = [
                row["incident"]
                for row in tx.rows("incidents/of_scope", scope=texts, states=states)
                # An opening doesn't replace them in an open incident.
                if given.severity in (None, row["severity"]) and given.type in (None, row["type"])
            ]
        incident = open_[0] if open_ else _id(tx.tenant, cause, len(rows))
        body = IncidentEvent(
            incident=incident,
            action=IncidentAction.OPENED,
            by=by,
            reason=given.reason,
            title=given.title,
            description=given.description,
            severity=given.severity,
            type=given.type,
            cause=cause,
            scope=scope,
        )
        event = _event(body, tx.tenant, now)
        return Prepared(incident=incident, event=event, was_open=bool(open_), reached=incident)

    return reader.read(question)


def _cause(scope: Sequence[IncidentScope]) -> str:
    """Cause of a scope: its parts in one line.

    If a part lists files, or the line is too long, a digest of the whole scope is appended, and the line is cut to fit.
    """
    text = "; ".join(sorted(map(part_line, scope)))
    if len(text) <= MOST_OF_A_CAUSE - _DIGITS - 3 and not any(part.files for part in scope):
        return text
    return with_digest(text, "\0".join(sorted(map(scope_text, scope))))


def with_digest(text: str, exact: str) -> str:
    """Return the beginning of `text`, and a digest of `exact`, together within the length limit of a cause."""
    digest = hashlib.sha256(exact.encode()).hexdigest()[:_DIGITS]
    return f"{text[: MOST_OF_A_CAUSE - _DIGITS - 3]} … {digest}"


def _id(tenant: str, cause: str, number: int) -> str:
    digest = hashlib.sha256(f"{tenant}\0{cause}\0{number}".encode()).hexdigest()
    return f"INC-{digest[:_DIGITS]}"


def action(
    reader: Reader,
    incident_id: str,
    given: GivenAction,
    *,
    by: str,
    now: datetime,
    arrivals: Arrivals | None = None,
) -> Prepared:
    """Prepare an action on an existing incident.

    Args:
        arrivals: as in `trace`.

    Raises:
        NotFoundError, AmbiguousError: from resolving names.
        QuestionError: the action has no effect in the incident's state, breaks a rule, or resolves the incident as
            repaired while bad data is left, or possibly left; with the field.
    """

    def question(tx: Transaction) -> Prepared:
        stored, state = stored_incident(tx, incident_id)
        incident = str(stored["incident"])
        _check_state(incident, state, given)
        change = scope_change(state.scope, _scope(tx, given.removed, "removed"))
        into, carried = None, None
        if given.into is not None:
            other, into_state = stored_incident(tx, given.into)
            into = str(other["incident"])
            carried = _carried(into, into_state, incident, state, by=by, tenant=tx.tenant, now=now)
        body = IncidentEvent(
            incident=incident,
            action=given.action,
            by=by,
            reason=given.reason,
            title=given.title,
            description=given.description,
            severity=given.severity,
            type=given.type,
            scope=(*_scope(tx, given.scope, "scope"), *change.added) or None,
            removed=change.removed or None,
            assignee=given.assignee,
            into=into,
            resolution=given.resolution,
        )
        event = _event(body, tx.tenant, now)
        left = left_words(reach_of(tx, state, arrivals=arrivals)) if given.action is IncidentAction.RESOLVED else ""
        if left and given.needs_repair:
            raise QuestionError(
                f"{incident} isn't repaired: {left} Repair it, declare parts repaired, or add `force`.",
                field="resolution",
            )
        reached = into or (incident if given.action in _CHANGE_REACH else None)
        return Prepared(
            incident=incident, event=event, was_open=state.is_open, left=left, carried=carried, reached=reached
        )

    return reader.read(question)


def _carried(
    into: str, into_state: IncidentState, incident: str, state: IncidentState, *, by: str, tenant: str, now: datetime
) -> LineageEvent | None:
    """Build the event that adds an incident's parts to the incident that replaces it, `into`.

    None: `into` has all parts.

    Raises:
        QuestionError: `into` is resolved, so no open incident would have these parts.
    """
    if not into_state.is_open:
        raise QuestionError(f"{into} isn't open: reopen it first.", field="into")
    parts = tuple(part for text, part in state.scope.items() if text not in into_state.scope)
    if not parts:
        return None
    body = IncidentEvent(
        incident=into, action=IncidentAction.SCOPE_CHANGED, by=by, scope=parts, reason=f"Parts of {incident}."
    )
    return _event(body, tenant, now)


_OF_OPEN: Final = (IncidentAction.ACKNOWLEDGED, IncidentAction.ASSIGNED, IncidentAction.RESOLVED)
"""Actions without effect on a resolved incident."""
_WITH_REASON: Final = (IncidentAction.REPAIRED, IncidentAction.RESOLVED)
"""Actions that need a reason. The contract needs none for REPAIRED, so events without one can be read."""
_GIVEN: Final = frozenset(IncidentAction) - {
    IncidentAction.UNKNOWN,
    IncidentAction.OPENED,
    IncidentAction.REACHED,
    IncidentAction.NOTIFIED,
}


def _check_state(incident: str, state: IncidentState, given: GivenAction) -> None:
    if given.action not in _GIVEN:
        raise QuestionError(f"{given.action} can't be given as an action on an existing incident.", field="action")
    if given.action in _WITH_REASON and not (given.reason or "").strip():
        raise QuestionError(f"reason: {given.action} needs it: state why, in a sentence for people.", field="reason")
    if given.force and given.action is not IncidentAction.RESOLVED:
        raise QuestionError("force: only RESOLVED has it.", field="force")
    if given.action in _OF_OPEN and state.status is IncidentStatus.RESOLVED:
        raise QuestionError(f"{incident} is Resolved: reopen it first.", field="action")
    if given.action is IncidentAction.REOPENED and state.is_open:
        raise QuestionError(f"{incident} is open: {state.status}.", field="action")


def action_of(event: LineageEvent) -> IncidentEvent:
    """Action on an incident that an event has.

    Raises:
        TypeError: it has none.
    """
    if event.incident_event is None:
        raise TypeError("an action on an incident is published, and this event has none")
    return event.incident_event


def _event(body: IncidentEvent, tenant: str, now: datetime) -> LineageEvent:
    if (broken := broken_rule(body)) is not None:
        field, message = broken
        field = field.removeprefix("incident_event.")
        raise QuestionError(f"{field}: {message}.", field=field)
    return lineage_event(body, producer=PRODUCER, event_time=now, tenant=tenant)


def _scope(tx: Transaction, given: Sequence[GivenPart | IncidentScope], field: str) -> tuple[IncidentScope, ...]:
    parts = []
    for index, one in enumerate(given):
        part = one if isinstance(one, IncidentScope) else resolved(tx, one)
        if (broken := broken_scope(part)) is not None:
            name, message = broken
            where = f"{field}[{index}]{name and '.'}{name}"
            raise QuestionError(f"{where}: {message}.", field=where)
        parts.append(part)
    return tuple({scope_text(part): part for part in parts}.values())


def resolved(tx: Transaction, given: GivenPart) -> IncidentScope:
    """Build a part from the names that a person gives.

    Raises:
        NotFoundError, AmbiguousError: from resolving names.
    """
    dataset = None if given.dataset is None else resolve_dataset(tx, given.dataset).asset
    column = given.column
    if dataset is not None and column is not None:
        column = resolve_column(tx, dataset.key, column).asset.column
    job = None if given.job is None else resolve_job(tx, given.job).asset
    return IncidentScope(
        dataset=None if dataset is None else DatasetRef(dataset.namespace, dataset.name),
        job=None if job is None else JobRef(job.namespace, job.name),
        run=None if given.run is None else resolve_run(tx, given.run).run_id,
        query=None if given.query is None else _query_id(tx, given.query),
        consumer=given.consumer,
        column=column,
        partition=given.partition,
        offsets=tuple(OffsetRange(each.partition, each.start, each.end) for each in sorted(given.offsets)) or None,
        files=given.files or None,
        version=given.version,
        code_version=given.code_version,
        from_batch=given.from_batch,
        to_batch=given.to_batch,
        since=given.since,
        until=given.until,
        clock=given.clock,
        since_last_good=given.since_last_good or None,
    )


def _query_id(tx: Transaction, text: str) -> str:
    if not (rows := queries_called(tx, text)):
        raise NotFoundError(f"No streaming query has the id or name {text!r}.")
    return str(rows[0]["query_id"])
