"""Incidents whose bad data the runs of a campaign replaced, and the bad data that is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from headwater_analysis.amounts import amount
from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.incidents.campaigns.campaign_answers import CampaignIncident, LeftBad, StepLeft
from headwater_analysis.incidents.planning.plan import plan_of
from headwater_analysis.incidents.planning.planned import RepairStepKind
from headwater_analysis.incidents.questions import brief_of, notified_of, state_of
from headwater_analysis.incidents.reach import reach_of
from headwater_analysis.incidents.recorded import collected
from headwater_analysis.incidents.unknown import unknown_parts
from headwater_analysis.paging import EPOCH
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.traced_parts import surest
from headwater_graph.incidents import OPEN, IncidentState, IncidentStatus
from headwater_graph.keys import incident_key, run_key

MOST_OPEN: Final = 100
"""Maximum number of open incidents whose reach is computed, the latest opened."""
MOST_RESOLVED: Final = 20
"""Maximum number of incidents resolved after a campaign began whose reach is computed, the latest resolved."""
_WRITING: Final = (RepairStepKind.RERUN, RepairStepKind.REPROCESS)


@dataclass(frozen=True, slots=True)
class Repaired:
    """Incidents of a campaign.

    Attributes:
        incidents: the incidents, by id.
        followed: number of incidents whose reach was computed.
        unknown: unknown facts, a few words each.
    """

    incidents: tuple[CampaignIncident, ...]
    followed: int
    unknown: tuple[str, ...]


def repaired(
    tx: Transaction, campaign: str, key: str, *, began: datetime | None, arrivals: Arrivals | None = None
) -> Repaired:
    """Find the bad data that the runs of a campaign replaced, and the bad data that is left.

    Computes the reach of open incidents, and of incidents that were resolved since the campaign began.

    Args:
        campaign: id of the campaign; an incident with this id belongs to the campaign, even if no run replaced its
            data.
        key: key of the campaign.
        began: start of the campaign's first run.
        arrivals: as in `trace`.
    """
    stored, is_cut = _stored(tx, campaign, began)
    found: list[CampaignIncident] = []
    unfollowed = 0
    for properties in stored.values():
        state = state_of(properties)
        reach = reach_of(tx, state, arrivals=arrivals)
        replaced = _by_campaign(tx, key, reach)
        if replaced or properties["incident"] == campaign:
            found.append(_incident(tx, properties, state, reach, replaced))
        elif not reach.complete:
            unfollowed += 1
    unknown = [f"the reach of {each.incident.incident} ({', '.join(each.unknown)})" for each in found if each.unknown]
    if unfollowed:
        unknown.append(
            f"whether it replaced bad data of {amount(unfollowed, 'further incident')} whose reach isn't fully known"
        )
    if is_cut:
        unknown.append(
            f"incidents beyond the latest {MOST_OPEN} open ones and the latest {MOST_RESOLVED} that were resolved since"
        )
    return Repaired(
        tuple(sorted(found, key=lambda each: each.incident.incident)), followed=len(stored), unknown=tuple(unknown)
    )


def _stored(tx: Transaction, campaign: str, began: datetime | None) -> tuple[dict[str, Mapping[str, Any]], bool]:
    """Properties of each incident whose reach is needed, by its key; and whether a limit left incidents out."""
    open_ = tx.rows("incidents/open", states=[str(state) for state in OPEN], limit=MOST_OPEN + 1)
    resolved = tx.rows(
        "campaigns/resolved", state=str(IncidentStatus.RESOLVED), since=began or EPOCH, limit=MOST_RESOLVED + 1
    )
    named = tx.row("incidents/by_key", key=incident_key(tx.tenant, campaign))
    rows = [*open_[:MOST_OPEN], *resolved[:MOST_RESOLVED], *([] if named is None else [named])]
    found = {row["properties"]["key"]: row["properties"] for row in rows}
    return found, len(open_) > MOST_OPEN or len(resolved) > MOST_RESOLVED


def _by_campaign(tx: Transaction, key: str, reach: IncidentReach) -> tuple[Superseded, ...]:
    gone = list(dict.fromkeys(each for one in reach.tainted for each in one.superseded if each.by is not None))
    runs = sorted({run_key(tx.tenant, run_id) for each in gone for run_id in _run_ids(each)})
    if not runs:
        return ()
    own = set(tx.one("campaigns/among", campaign=key, runs=runs)["run_ids"])
    return tuple(each for each in gone if own.intersection(_run_ids(each)))


def _run_ids(gone: Superseded) -> Iterator[str]:
    yield from (run.run_id for run in (() if gone.by is None else gone.by.runs))


def _incident(
    tx: Transaction,
    stored: Mapping[str, Any],
    state: IncidentState,
    reach: IncidentReach,
    replaced: tuple[Superseded, ...],
) -> CampaignIncident:
    brief = brief_of(stored)
    unknown = list(unknown_parts(reach))
    steps: tuple[StepLeft, ...] = ()
    if brief.status in OPEN:
        planned = plan_of(tx, brief.incident, state, reach)
        unknown += [each for each in planned.unknown if each not in unknown]
        steps = tuple(
            StepLeft(kind=step.kind, title=step.title, job=step.job) for step in planned.steps if step.kind in _WRITING
        )
    return CampaignIncident(
        incident=brief,
        replaced=replaced,
        bad=tuple(
            LeftBad(
                dataset=one.asset,
                certainty=surest(part.certainty for part in one.parts),
                parts=tuple(dict.fromkeys(one.parts)),
            )
            for one in collected(reach)
            if one.parts
        ),
        complete=reach.complete,
        unknown=tuple(unknown),
        notified=notified_of(state),
        left=steps,
    )
