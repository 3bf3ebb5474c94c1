"""Data faults in the graph that open incidents by a policy, published round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from headwater.console import shortened
from headwater.graph_reader import asking
from headwater.incident.acting import ActionRun, record_reach, waited
from headwater.incident.rounds import rounds
from headwater.lean_imports import without
from headwater.publishing import publish
from headwater.settings import Settings, connected_settings
from headwater.times import parse_time
from headwater_schemas.events import IncidentAction, IncidentEvent, IncidentSeverity, IncidentType, LineageEvent
from headwater_schemas.events.build import lineage_event

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount, first_of
    from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
    from headwater_analysis.incidents.actions import PRODUCER, Prepared, opening
    from headwater_analysis.incidents.detection.data_fault import MOST_FAULTS, DataFaultKind
    from headwater_analysis.incidents.detection.detect_faults import (
        DetectedFault,
        DetectedOutcome,
        IncidentToOpen,
        detect,
    )
    from headwater_analysis.incidents.detection.fault_policy import FaultPolicy
    from headwater_analysis.incidents.scope import part_line
    from headwater_analysis.reader import Reader

BY: Final = "headwater detect"
"""Default of `--by`: person or program that acts."""
LOOK_BACK: Final = "24h"
_MOST_NAMED: Final = 5
_EFFECTS: Final = {
    DetectedOutcome.NEW: "new",
    DetectedOutcome.KNOWN: "known",
    DetectedOutcome.IGNORED: "ignored",
    DetectedOutcome.NO_ENTRY: "without an entry",
}
_AFTER: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedIncident:
    """An incident that was opened or got further parts; in a dry run, that would be opened or get further parts.

    Attributes:
        incident: id of the incident.
        was_open: whether the parts were added to an open incident of the same cause.
        title: title of a new incident.
        cause: cause of the incident.
        severity, type: severity and type of a new incident.
        assignee: person or team that a new incident was assigned to.
        parts: parts with bad data, a line each.
    """

    incident: str
    was_open: bool
    title: str
    cause: str
    severity: IncidentSeverity | None
    type: IncidentType | None
    assignee: str | None
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRound:
    """Faults of one round, and the incidents that they opened.

    Attributes:
        since: look-back: faults from before this time don't open incidents.
        faults: found faults, each with its effect.
        items: incidents that were opened or extended.
        truncated: kinds with more faults than listed; the latest are listed.
        unknown: clauses on unknown facts.
        earlier: names of datasets that became late before the look-back, and still are late; they open no incident.
    """

    since: datetime
    faults: tuple[DetectedFault, ...]
    items: tuple[OpenedIncident, ...]
    truncated: tuple[DataFaultKind, ...]
    unknown: tuple[str, ...]
    earlier: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """Document of `headwater incident detect`.

    Attributes:
        rounds: number of rounds.
        opened, extended: number of incidents that were opened, and to which parts were added, in all rounds.
        dry_run: whether nothing was published.
        latest: latest complete round; None: there was none.
    """

    rounds: int
    opened: int
    extended: int
    dry_run: bool
    latest: DetectionRound | None


def run_detection(
    run: ActionRun, policy: FaultPolicy, *, since: str, pause: timedelta | None, dry_run: bool
) -> Detected:
    """Open incidents for the faults that a policy selects; with a pause in rounds, until a signal.

    Args:
        since: look-back, as `parse_time` reads it; parsed in each round.
        pause: pause between rounds; None: one round.
        dry_run: whether to publish nothing.

    Raises:
        HeadwaterError: see `headwater.errors` and `rounds`.
    """
    settings = connected_settings({"analysis.tenant": run.tenant}, kafka=not dry_run, neo4j=True)
    done = Detected(rounds=0, opened=0, extended=0, dry_run=dry_run, latest=None)
    for found in rounds(
        pause,
        lambda: _round(settings, run, policy, parse_time(since), dry_run=dry_run),
        lambda each: detection_lines(each, dry_run=dry_run),
    ):
        extended = sum(each.was_open for each in found.items)
        done = Detected(
            rounds=done.rounds + 1,
            opened=done.opened + len(found.items) - extended,
            extended=done.extended + extended,
            dry_run=dry_run,
            latest=found,
        )
    return done


def _round(
    settings: Settings, run: ActionRun, policy: FaultPolicy, since: datetime, *, dry_run: bool
) -> DetectionRound:
    with asking(tenant=run.tenant, silently=True) as reader:
        found = detect(reader, policy, since=since, now=datetime.now(UTC))
        items: list[OpenedIncident] = []
        refused: list[str] = []
        for each in found.openings:
            try:
                prepared = opening(reader, each.opening, by=run.actor, now=datetime.now(UTC))
            except (NotFoundError, AmbiguousError, QuestionError) as error:
                refused.append(f"{each.opening.title}: {error}")
                continue
            if not dry_run:
                _publish(settings, reader, run, each, prepared)
            items.append(_opened(each, prepared))
        return DetectionRound(
            since=since,
            faults=found.faults,
            items=tuple(items),
            truncated=found.truncated,
            unknown=(*found.unknown, *refused),
            earlier=found.earlier,
        )


def _publish(settings: Settings, reader: Reader, run: ActionRun, due: IncidentToOpen, prepared: Prepared) -> None:
    """Publish an opening, and record the incident's reach once the graph has it."""
    publish(settings, [prepared.event, *_assigned(due, prepared, by=run.actor, tenant=reader.tenant)])
    if run.wait_seconds:
        waited(reader, prepared.event, run.wait_seconds)
        record_reach(settings, reader, prepared.incident, run)


def _assigned(due: IncidentToOpen, prepared: Prepared, *, by: str, tenant: str) -> list[LineageEvent]:
    """Event that assigns a new incident; empty: nobody is to be assigned, or an open incident keeps its assignee."""
    if due.assignee is None or prepared.was_open:
        return []
    body = IncidentEvent(incident=prepared.incident, action=IncidentAction.ASSIGNED, by=by, assignee=due.assignee)
    at = prepared.event.event_time + _AFTER
    return [lineage_event(body, producer=PRODUCER, event_time=at, tenant=tenant)]


def _opened(due: IncidentToOpen, prepared: Prepared) -> OpenedIncident:
    body = prepared.event.incident_event
    return OpenedIncident(
        incident=prepared.incident,
        was_open=prepared.was_open,
        title=due.opening.title,
        cause=due.opening.cause or "",
        severity=due.opening.severity,
        type=due.opening.type,
        assignee=None if prepared.was_open else due.assignee,
        parts=tuple(map(part_line, (body.scope if body is not None else None) or ())),
    )


def detection_lines(found: DetectionRound, *, dry_run: bool) -> list[str]:
    """A line for each incident that was opened or extended; then a line with the totals and what isn't known."""
    counts = {outcome: sum(each.outcome is outcome for each in found.faults) for outcome in DetectedOutcome}
    effects = ", ".join(f"{counts[outcome]:,} {word}" for outcome, word in _EFFECTS.items())
    clauses = [f"{amount(len(found.faults), 'fault')} since {found.since:%Y-%m-%d %H:%M:%S}Z: {effects}"]
    if found.truncated:
        kinds = ", ".join(found.truncated)
        clauses.append(f"more than {MOST_FAULTS:,} of {kinds}, of which the latest count")
    if found.unknown:
        clauses.append(f"not known: {_named(found.unknown)}")
    if found.earlier:
        clauses.append(f"late before that, and not opened: {_named(found.earlier)}")
    return [*(_line(each, dry_run=dry_run) for each in found.items), f"{'; '.join(clauses)}."]


def _line(each: OpenedIncident, *, dry_run: bool) -> str:
    parts = amount(len(each.parts), "part")
    name, title = shortened(each.incident), shortened(each.title)
    if each.was_open:
        return f"{'Would add' if dry_run else 'Added'} {parts} to {name}: {title}"
    severity = "" if each.severity is None else f" ({each.severity})"
    return f"{'Would open' if dry_run else 'Opened'} {name}{severity}, {parts}: {title}"


def _named(texts: Sequence[str]) -> str:
    return first_of([shortened(text) for text in texts], _MOST_NAMED, "; ")
