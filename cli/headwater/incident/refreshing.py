"""Reach of incidents as the graph is now, recorded if it differs from the latest record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from headwater.console import shortened
from headwater.graph_reader import asking
from headwater.incident import views
from headwater.incident.acting import ActionRun, waited
from headwater.incident.rounds import rounds
from headwater.lean_imports import without
from headwater.publishing import publish
from headwater.settings import Settings, connected_settings
from headwater.trace_options import arrived

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount
    from headwater_analysis.incidents.answers import ReachChange
    from headwater_analysis.incidents.questions import incident, incidents
    from headwater_analysis.incidents.recording import is_changed, reach_record
    from headwater_analysis.reader import Reader

_PAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshedIncident:
    """Reach of an incident, compared with its latest record.

    Attributes:
        incident: id of the incident.
        recorded: whether the reach was recorded now, because it differs.
        was_recorded: whether there was an earlier record.
        datasets: number of datasets with bad data.
        complete: false: a limit was reached, or the bad data of a part of the scope can't be determined.
        changes: differences to the earlier record, by dataset.
        unknown: unknown parts of the reach, as text; empty: the whole reach is known.
    """

    incident: str
    recorded: bool
    was_recorded: bool
    datasets: int
    complete: bool
    changes: tuple[ReachChange, ...]
    unknown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """Document of `headwater incident refresh`.

    Attributes:
        rounds: number of rounds.
        recorded: number of records that were published in all rounds.
        items: incidents of the latest round.
    """

    rounds: int
    recorded: int
    items: tuple[RefreshedIncident, ...]


def refresh(run: ActionRun, ids: Sequence[str], pause: timedelta | None) -> Refreshed:
    """Record the reach of incidents if it changed; with a pause in rounds, until a signal.

    Args:
        run: options that all actions share.
        ids: ids of incidents, or beginnings of ids; empty: all open incidents.
        pause: pause between rounds; None: one round.

    Raises:
        HeadwaterError: see `headwater.errors` and `rounds`.
    """
    settings = connected_settings({"analysis.tenant": run.tenant}, kafka=True, neo4j=True)
    done = Refreshed(rounds=0, recorded=0, items=())
    for items in rounds(pause, lambda: _round(settings, run, ids), lines):
        recorded = done.recorded + sum(each.recorded for each in items)
        done = Refreshed(rounds=done.rounds + 1, recorded=recorded, items=tuple(items))
    return done


def _round(settings: Settings, run: ActionRun, ids: Sequence[str]) -> list[RefreshedIncident]:
    with asking(tenant=run.tenant, silently=True) as reader:
        return [_refreshed(settings, reader, run, each) for each in ids or list(_open(reader))]


def _open(reader: Reader) -> Iterator[str]:
    """Ids of all open incidents."""
    cursor = None
    while True:
        page = incidents(reader, limit=_PAGE, cursor=cursor)
        yield from (each.incident for each in page.items)
        cursor = page.next_cursor
        if cursor is None:
            return


def _refreshed(settings: Settings, reader: Reader, run: ActionRun, incident_id: str) -> RefreshedIncident:
    found = incident(reader, incident_id, with_owners=False, detailed=False, arrivals=arrived)
    differs = is_changed(found)
    if differs:
        event = reach_record(reader, found, by=run.actor)
        publish(settings, [event])
        if run.wait_seconds:
            waited(reader, event, run.wait_seconds)
    reach = found.asked_reach
    return RefreshedIncident(
        incident=found.brief.incident,
        recorded=differs,
        was_recorded=found.recorded is not None,
        datasets=len(reach.bad_datasets),
        complete=reach.complete,
        changes=() if found.recorded is None else found.recorded.changes,
        unknown=views.unknown_words(reach),
    )


def lines(items: Sequence[RefreshedIncident]) -> list[str]:
    """A line for each incident: changes of its reach, number of datasets with bad data, and what isn't known."""
    return [_line(each) for each in items]


def _line(each: RefreshedIncident) -> str:
    changed = views.changes_words([one.change for one in each.changes]) if each.was_recorded else "first record"
    unknown = f"; {each.unknown}" if each.unknown else ""
    return f"{shortened(each.incident)}: {changed}; {amount(each.datasets, 'dataset')} with bad data{unknown}."
