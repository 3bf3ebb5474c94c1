"""Incidents: list, figures, one incident, its repair plan; campaigns; and the gate before a dataset is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator
from starlette.responses import Response

from headwater_analysis.blast import Tainted
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.incidents.answers import (
    AffectedJob,
    DatasetOwners,
    Incident,
    IncidentPage,
    ResolvedPart,
)
from headwater_analysis.incidents.campaigns.campaign import campaign, campaigns
from headwater_analysis.incidents.campaigns.campaign_answers import Campaign, CampaignPage
from headwater_analysis.incidents.figures import PERIOD, IncidentFigures, incident_figures
from headwater_analysis.incidents.gate import GateAnswer, gate
from headwater_analysis.incidents.planning.plan import plan
from headwater_analysis.incidents.planning.planned import IncidentPlan
from headwater_analysis.incidents.questions import incident, incidents
from headwater_analysis.reader import Reader
from headwater_schemas.events import IncidentSeverity
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import LONGEST_NAME, AnyCase, AssetQuery, Cursor, Limit, unescaped

router = area("incidents", needs=Scope.READ)

_MOST_ID = 200

IncidentId = Annotated[
    str,
    Path(alias="id", min_length=1, max_length=_MOST_ID, description="The id of the incident, or the beginning of it."),
    AfterValidator(unescaped),
]
CampaignId = Annotated[
    str,
    Path(alias="id", min_length=1, max_length=LONGEST_NAME, description="The campaign's id, as its runs report it."),
    AfterValidator(unescaped),
]
Steps = Annotated[
    int | None, Query(ge=1, le=1_000, description="Maximum number of steps that bad data passed through.")
]
Severity = Annotated[IncidentSeverity, AnyCase]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedAssets:
    """Assets that an incident reached, as the graph is now.

    Attributes:
        incident: id of the incident.
        complete: false: a limit was reached, or the bad data of a part of the scope can't be determined.
        not_known_to_be_reached, cannot_be_known: unknown parts of the reach, as in the incident's `reach`.
        scope: parts of the scope, each with its bad data in the graph.
        datasets: datasets in which bad data began, then datasets that it reached, the nearest first; each with the
            parts that hold bad data and the parts that held some. A dataset may be in both.
        consumers: declared consumers that read bad data, the most critical first, then by notice and name.
        owners: owners of each of these datasets, the nearest dataset first.
        jobs: jobs that bad data passed through, each once, the nearest first.
        jobs_unknown: number of steps that bad data passed through and whose job isn't known.
    """

    incident: str
    complete: bool
    not_known_to_be_reached: tuple[str, ...]
    cannot_be_known: tuple[str, ...]
    scope: tuple[ResolvedPart, ...]
    datasets: tuple[Tainted, ...]
    consumers: tuple[ReadingConsumer, ...]
    owners: tuple[DatasetOwners, ...]
    jobs: tuple[AffectedJob, ...]
    jobs_unknown: int


@router.get("/incidents", response_model=IncidentPage, operation_id="incidents")
def listed(
    ask: Ask,
    *,
    everything: Annotated[bool, Query(alias="all", description="List resolved incidents, too.")] = False,
    dataset: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Only incidents whose scope has this dataset, or whose latest recorded reach includes it.",
        ),
    ] = None,
    severity: Annotated[
        list[Severity], Query(max_length=10, description="Only incidents of this severity; repeatable.")
    ] = [],  # noqa: B006  FastAPI copies it
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """List open incidents, the latest opened first, each with its latest recorded reach."""
    return ask(
        lambda reader: incidents(
            reader,
            everything=everything,
            dataset=dataset,
            severities=tuple(severity),
            limit=ask.page(limit),
            cursor=cursor,
        )
    )


@router.get("/incident-figures", response_model=IncidentFigures, operation_id="incident_figures")
def figures(
    ask: Ask,
    *,
    period: Annotated[
        float,
        Query(gt=0, le=315_360_000, allow_inf_nan=False, description="Length of the period until now, in seconds."),
    ] = PERIOD.total_seconds(),
) -> Response:
    """Count open incidents by severity and age, and show the time to acknowledge and resolve incidents.

    The times are those of all incidents that were acknowledged or resolved in the period.
    """
    return ask(lambda reader: incident_figures(reader, period=timedelta(seconds=period)))


@router.get("/incidents/{id}", response_model=Incident, operation_id="incident")
def one(
    ask: Ask,
    id_: IncidentId,
    *,
    reach: Annotated[
        bool, Query(description="Compute the current reach; false: only the latest recorded reach.")
    ] = True,
    limit: Steps = None,
) -> Response:
    """Return an incident: its state and history, and its reach as the graph is now."""
    most = ask.page(limit)
    return ask(lambda reader: incident(reader, id_, with_reach=reach, limit=most, arrivals=ask.graph.arrivals))


@router.get("/incidents/{id}/affected-assets", response_model=AffectedAssets, operation_id="incident_affected_assets")
def affected_assets(ask: Ask, id_: IncidentId, *, limit: Steps = None) -> Response:
    """List the datasets that an incident reached as the graph is now, with their owners and consumers, and jobs."""
    most = ask.page(limit)

    def question(reader: Reader) -> AffectedAssets:
        found = incident(reader, id_, detailed=False, limit=most, arrivals=ask.graph.arrivals)
        reach = found.asked_reach
        return AffectedAssets(
            incident=found.brief.incident,
            complete=reach.complete,
            not_known_to_be_reached=reach.not_known_to_be_reached,
            cannot_be_known=reach.cannot_be_known,
            scope=reach.scope,
            datasets=reach.tainted,
            consumers=reach.blast.consumers,
            owners=reach.owners,
            jobs=reach.jobs,
            jobs_unknown=reach.jobs_unknown,
        )

    return ask(question)


@router.get("/incidents/{id}/plan", response_model=IncidentPlan, operation_id="incident_plan")
def planned(ask: Ask, id_: IncidentId, *, limit: Steps = None) -> Response:
    """Plan the repair of an incident as the graph is now: steps in order, each with its facts and commands."""
    most = ask.page(limit)
    return ask(lambda reader: plan(reader, id_, limit=most, arrivals=ask.graph.arrivals))


@router.get("/campaigns", response_model=CampaignPage, operation_id="campaigns")
def campaigns_listed(ask: Ask, *, limit: Limit = None, cursor: Cursor = None) -> Response:
    """List backfill campaigns, the one with the latest run first."""
    return ask(lambda reader: campaigns(reader, limit=ask.page(limit), cursor=cursor))


@router.get("/campaigns/{id}", response_model=Campaign, operation_id="campaign")
def campaign_found(ask: Ask, id_: CampaignId) -> Response:
    """Return a campaign as the graph is now: its runs, what they restated, whose bad data they replaced, what is left.

    For this, the reach of open incidents (at most 100) and of the latest 20 incidents that were resolved after the
    campaign began is computed.
    """
    return ask(lambda reader: campaign(reader, id_, arrivals=ask.graph.arrivals))


@router.get("/gate", response_model=GateAnswer, operation_id="gate")
def gated(
    ask: Ask,
    *,
    dataset: AssetQuery,
    partition: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Only these partitions are read: `day=2025-01-31/hour=3`.",
        ),
    ] = None,
    max_severity: Annotated[
        Severity | None,
        Query(
            description="Only incidents of this severity or worse hold the dataset; one without a severity always does."
        ),
    ] = None,
) -> Response:
    """Find the open incidents whose bad data, as the graph is now, would be read, or possibly would."""
    return ask(
        lambda reader: gate(reader, dataset, partition=partition, worst=max_severity, arrivals=ask.graph.arrivals)
    )
