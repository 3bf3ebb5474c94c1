"""Questions about incidents: the list, and one incident with its reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater_analysis import paging
from headwater_analysis.blast.blast_radius import LIMIT
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.identity import Identities
from headwater_analysis.incidents.affected import with_affected
from headwater_analysis.incidents.answers import (
    ActionTaken,
    Incident,
    IncidentBrief,
    IncidentPage,
    SentNotification,
)
from headwater_analysis.incidents.reach import reach_of
from headwater_analysis.incidents.recorded import recorded
from headwater_analysis.incidents.scope import part_line, scope_part
from headwater_analysis.moments import moment
from headwater_analysis.paging import EPOCH, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.trace.arrivals import Arrivals
from headwater_graph.facts.incidents import IncidentEntry
from headwater_graph.incidents import (
    ENTRIES,
    OPEN,
    REACHED,
    IncidentRecord,
    IncidentState,
    IncidentStatus,
    datahub_stage,
    datahub_type,
    incident_properties,
    incident_state,
)
from headwater_graph.incidents import (
    scope_part as read_part,
)
from headwater_graph.keys import incident_key
from headwater_schemas.events import IncidentAction, IncidentEvent, IncidentResolution, IncidentSeverity, IncidentType

_MOST_CANDIDATES: Final = 5


def incidents(
    reader: Reader,
    *,
    everything: bool = False,
    dataset: str | None = None,
    severities: Sequence[IncidentSeverity] = (),
    limit: int = 50,
    cursor: str | None = None,
) -> IncidentPage:
    """List incidents, the latest opened first.

    Args:
        everything: whether to list resolved incidents, too.
        dataset: only incidents whose scope has this dataset, or whose latest recorded reach includes it.
        severities: only incidents of these severities; empty: all.

    Raises:
        NotFoundError, AmbiguousError: from resolving the dataset.
        QuestionError: a limit below 1 or a cursor of another question.
    """
    check_limit(limit)
    asked = ("incidents", reader.tenant, everything, dataset, tuple(severities))

    def question(tx: Transaction) -> IncidentPage:
        filters: dict[str, Any] = {
            "states": None if everything else [str(each) for each in OPEN],
            "severities": [str(each) for each in severities] or None,
            "datasets": None
            if dataset is None
            else list(Identities.of(tx).members(resolve_dataset(tx, dataset).asset.key)),
        }
        began, key = paging.decode_moment(cursor, question=asked)
        total = tx.one("incidents/count", **filters)["total"]
        rows = tx.rows("incidents/list", **filters, began=began, key=key, epoch=EPOCH, limit=limit + 1)
        found = [row["properties"] for row in rows]
        more = None
        if len(found) > limit:
            last = found[limit - 1]
            more = paging.encode_moment(moment(last["opened_at"]), last["key"], question=asked)
        return IncidentPage(tuple(map(brief_of, found[:limit])), total, more)

    return reader.read(question)


def brief_of(stored: Mapping[str, Any]) -> IncidentBrief:
    """Build the summary of a stored incident."""
    return IncidentBrief(
        incident=stored["incident"],
        status=None if (status := stored.get("state")) is None else IncidentStatus(status),
        title=stored.get("title"),
        severity=None if (severity := stored.get("severity")) is None else IncidentSeverity(severity),
        type=None if (type_ := stored.get("type")) is None else IncidentType(type_),
        cause=stored.get("cause"),
        assignee=stored.get("assignee"),
        opened_at=moment(stored.get("opened_at")),
        acknowledged_at=moment(stored.get("acknowledged_at")),
        resolved_at=moment(stored.get("resolved_at")),
        resolution=None if (result := stored.get("resolution")) is None else IncidentResolution(result),
        continued_in=stored.get("merged_into") or stored.get("superseded_by"),
        scope=tuple(part_line(read_part(text)) for text in stored.get("scope") or ()),
        reached_datasets=stored.get("reached_datasets"),
        reached_as_of=moment(stored.get("reached_as_of")),
        reached_complete=stored.get("reached_complete"),
    )


def incident(
    reader: Reader,
    incident_id: str,
    *,
    with_reach: bool = True,
    with_owners: bool = True,
    detailed: bool = True,
    limit: int = LIMIT,
    arrivals: Arrivals | None = None,
) -> Incident:
    """Return one incident, with its reach as the graph is now.

    Args:
        incident_id: id of the incident, or the beginning of the id.
        with_reach: whether to compute the reach.
        with_owners: whether the reach has the owners of datasets, and the jobs that bad data passed through.
        detailed: whether the reach has the reached columns, the first bad and last good runs, and business versions.
        limit: maximum number of steps that bad data passed through.
        arrivals: as in `trace`.

    Raises:
        NotFoundError: no incident has this id.
        AmbiguousError: several ids have this beginning.
    """
    return reader.read(
        lambda tx: incident_in(
            tx,
            incident_id,
            with_reach=with_reach,
            with_owners=with_owners,
            detailed=detailed,
            limit=limit,
            arrivals=arrivals,
        ),
    )


def incident_in(
    tx: Transaction,
    incident_id: str,
    *,
    with_reach: bool = True,
    with_owners: bool = True,
    detailed: bool,
    limit: int,
    arrivals: Arrivals | None,
) -> Incident:
    """Return one incident within a transaction; see `incident`."""
    stored, state = stored_incident(tx, incident_id)
    reach = None
    if with_reach:
        reach = reach_of(tx, state, limit=limit, arrivals=arrivals, detailed=detailed)
        if with_owners:
            reach = with_affected(tx, reach, detailed=detailed)
    brief = brief_of(stored)
    return Incident(
        brief=brief,
        description=state.description,
        datahub_type=datahub_type(state.type),
        datahub_stage=datahub_stage(brief.status, brief.resolution),
        repaired=tuple(map(scope_part, state.repaired.values())),
        history=tuple(map(_taken, state.history)),
        reach=reach,
        recorded=recorded(state, reach),
        notified=notified_of(state),
    )


def notified_of(state: IncidentState) -> tuple[SentNotification, ...]:
    """Latest notification of each recipient, by name."""
    return tuple(
        SentNotification(
            recipient=name,
            channel=each.sent.channel,
            change=each.sent.change,
            at=each.time,
            digest=each.sent.digest,
        )
        for name, each in sorted(state.notified.items())
    )


def stored_incident(tx: Transaction, incident_id: str) -> tuple[Mapping[str, Any], IncidentState]:
    """Return the properties and the state of an incident, by its id or the beginning of it.

    Raises:
        NotFoundError: no incident has this id.
        AmbiguousError: several ids have this beginning.
    """
    row = tx.row("incidents/by_key", key=incident_key(tx.tenant, incident_id))
    if row is not None:
        return _read(row["properties"])
    rows = tx.rows("incidents/by_prefix", prefix=incident_id, limit=_MOST_CANDIDATES + 1) if incident_id else []
    if not rows:
        raise NotFoundError(f"No incident has the id {incident_id!r}, or one that begins so.")
    if len(rows) > 1:
        raise AmbiguousError(
            f"Several incidents have ids that begin with {incident_id!r}: give more of it.",
            candidates=[row["properties"]["incident"] for row in rows[:_MOST_CANDIDATES]],
        )
    return _read(rows[0]["properties"])


def _read(stored: Mapping[str, Any]) -> tuple[Mapping[str, Any], IncidentState]:
    """Derive the properties and the state of a stored incident from its log.

    Neo4j may read some properties of a node before a write and others after it, so those beside the log may be older.
    """
    log, reached = _log(stored)
    state = incident_state(log, reached)
    return {**stored, **incident_properties(log, state, reached)}, state


def state_of(stored: Mapping[str, Any]) -> IncidentState:
    """Derive the state of a stored incident from its log."""
    return incident_state(*_log(stored))


def _log(stored: Mapping[str, Any]) -> tuple[list[IncidentEntry], IncidentEntry | None]:
    reached = stored.get(REACHED)
    entries = [IncidentEntry.of(text) for text in stored.get(ENTRIES) or ()]
    return entries, None if reached is None else IncidentEntry.of(reached)


def _taken(record: IncidentRecord) -> ActionTaken:
    return ActionTaken(
        at=record.time, action=record.event.action, by=record.event.by, text="; ".join(_stated(record.event))
    )


def _stated(event: IncidentEvent) -> list[str]:
    """Values that an action states, in the order in which people read them."""
    found = [event.title] if event.title else []
    found += [f"to {event.assignee}"] if event.assignee else []
    found += [f"into {event.into}"] if event.into else []
    found += [str(event.resolution)] if event.resolution else []
    found += [str(event.severity)] if event.severity else []
    sign = "repaired" if event.action is IncidentAction.REPAIRED else "+"
    found += [f"{sign} {part_line(part)}" for part in event.scope or ()]
    found += [f"- {part_line(part)}" for part in event.removed or ()]
    found += [event.reason] if event.reason else []
    if event.as_of is not None:
        found.append("complete" if event.complete else "not complete")
    found += [f"{each.recipient} by {each.channel} ({each.change})" for each in event.notified or ()]
    return found
