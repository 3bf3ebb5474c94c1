"""Answers about incidents, and a graph that has only incidents, made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.blast import Blast, Superseded, Tainted, Totals
from headwater_analysis.incidents.answers import (
    ActionTaken,
    Incident,
    IncidentBrief,
    IncidentReach,
    ResolvedPart,
    ScopePart,
    Spreading,
)
from headwater_analysis.incidents.unknown import with_unknown
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Part, PartKind
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_graph.facts.incidents import IncidentEntry
from headwater_graph.facts.registers import stamp
from headwater_graph.incidents import ENTRIES, IncidentStatus
from headwater_graph.keys import incident_key
from headwater_schemas.events import Certainty, IncidentAction, IncidentSeverity, IncidentType, LineageEvent
from headwater_schemas.identity import incident_content

AT = datetime(2025, 1, 31, 12, tzinfo=UTC)
RECORDS = "dataset n/raw, offsets 0:120..130"


def asset(name: str) -> Asset:
    return Asset(AssetKind.DATASET, name, "n", name)


def offsets(name: str, *, certainty: Certainty = Certainty.EXACT) -> Part:
    return Part(
        dataset=asset(name),
        kind=PartKind.OFFSETS,
        certainty=certainty,
        offsets=(OffsetSpan(0, 120, 130),),
        since=AT,
    )


def some(name: str) -> Part:
    return Part(dataset=asset(name), kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN)


def tainted(name: str, *parts: Part, gone: tuple[Superseded, ...] = (), depth: int = 1) -> Tainted:
    return Tainted(dataset=asset(name), depth=depth, parts=parts, superseded=gone, hops=(1,), certainty=Certainty.EXACT)


def reach(
    *,
    bad: int = 1,
    clean: int = 0,
    unknown_extent: int = 0,
    is_unknown: bool = False,
    truncated: bool = False,
    spreading: tuple[Spreading, ...] = (),
    undeclared: tuple[str, ...] = (),
) -> IncidentReach:
    """A reach of as many datasets.

    Args:
        bad: d0 …, with bad offsets.
        clean: c0 …, whose bad offsets were replaced.
        unknown_extent: u0 …, of which some part is bad.
        is_unknown: whether bad data of a part of the scope can't be known.
        truncated: whether a limit was reached.
        undeclared: consumers of the scope that aren't declared repaired.
    """
    gone = Superseded(part=offsets("c0"), why="Declared repaired by ann: Ran again.", at=AT)
    found = (
        *(tainted(f"d{number}", offsets(f"d{number}")) for number in range(bad)),
        *(tainted(f"c{number}", gone=(gone,), depth=2) for number in range(clean)),
        *(tainted(f"u{number}", some(f"u{number}"), depth=3) for number in range(unknown_extent)),
    )
    totals = Totals(
        datasets=bad + unknown_extent,
        clean_again=clean,
        offsets=10 * bad,
        files=0,
        versions=0,
        unknown=unknown_extent,
        steps=1,
    )
    blast = Blast(
        start=(),
        tainted=found,
        hops=(),
        totals=totals,
        consumers=(),
        quality=(),
        notes=(),
        truncated=truncated,
    )
    scope = ResolvedPart(
        part=ScopePart(text=RECORDS),
        parts=(),
        hops=(),
        certainty=Certainty.UNKNOWN if is_unknown else Certainty.EXACT,
        why="The graph doesn't have this dataset." if is_unknown else "",
    )
    complete = not truncated and not is_unknown
    return with_unknown(
        IncidentReach(
            as_of=AT,
            scope=(scope,),
            start=(),
            blast=blast,
            spreading=spreading,
            complete=complete,
            undeclared_consumers=undeclared,
        )
    )


def a_spreading(name: str | None, *, is_over: bool = False) -> Spreading:
    """A query of this name, with the id `id`, whose state took in bad records."""
    return Spreading(
        query_id="id",
        query_name=name,
        job=None,
        until=None,
        watermark=None,
        is_over=is_over,
        text=f"{name} may write output of these records at any time: how long its state keeps a record isn't known.",
    )


BRIEF = IncidentBrief(
    incident="INC-1a2b3c4d5e",
    status=IncidentStatus.NEW,
    title="Negative delays",
    severity=IncidentSeverity.SEV2,
    type=IncidentType.BAD_RECORDS,
    cause=RECORDS,
    assignee=None,
    opened_at=AT,
    acknowledged_at=None,
    resolved_at=None,
    resolution=None,
    continued_in=None,
    scope=(RECORDS,),
    reached_datasets=None,
    reached_as_of=None,
    reached_complete=None,
)


def an_incident(found: IncidentReach | None, **brief: object) -> Incident:
    """An incident that was opened, with a reach; `brief` replaces members of its brief."""
    return Incident(
        brief=replace(BRIEF, **brief),  # type: ignore[arg-type]
        description=None,
        datahub_type="FIELD",
        datahub_stage="TRIAGE",
        repaired=(),
        history=(ActionTaken(at=AT, action=IncidentAction.OPENED, by="ann", text="Negative delays"),),
        reach=found,
        recorded=None,
        notified=(),
    )


class _OnlyIncidents:
    """Reader, and transaction, of a graph that has only incidents."""

    tenant = "default"

    def __init__(self, events: tuple[LineageEvent, ...]) -> None:
        self._stored: dict[str, dict[str, Any]] = {}
        for event in events:
            body = event.incident_event
            assert body is not None
            stored = self._stored.setdefault(
                incident_key(self.tenant, body.incident), {"incident": body.incident, ENTRIES: []}
            )
            stored[ENTRIES].append(IncidentEntry(stamp(event.event_time, event.event_id), incident_content(body)).text)

    def read(self, question: Callable[[Any], Any], **_options: Any) -> Any:
        return question(self)

    def rows(self, _statement: str, **_given: Any) -> list[dict[str, Any]]:
        return []

    def row(self, statement: str, **given: Any) -> dict[str, Any] | None:
        stored = self._stored.get(given["key"]) if statement == "incidents/by_key" else None
        return None if stored is None else {"properties": stored}


def reader_of_incidents(*events: LineageEvent) -> Reader:
    """A reader of the incidents that have these events; the graph has nothing else."""
    return cast("Reader", _OnlyIncidents(events))
