"""Route for the timeline of events."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.timeline import (
    MOST_BARS,
    Overview,
    Timeline,
    overview,
    timeline,
)
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import AssetId, JobId, Time

router = area("timeline", needs=Scope.READ)

From = Annotated[Time | None, Query(alias="from", description="Leave out items that ended before this time.")]
To = Annotated[Time | None, Query(description="Leave out items that began at this time or later.")]


Bars = Annotated[int, Query(ge=1, le=MOST_BARS, description="Maximum number of bars.")]


@router.get("/jobs/{id:path}/timeline/overview", response_model=Overview, operation_id="job_overview")
def overview_of_job(ask: Ask, job: JobId, begin: From = None, to: To = None, bars: Bars = 200) -> Response:
    """Overview of a job's micro-batches as bars, for spans of hours to years.

    Each bar counts the micro-batches of one or more whole segments of the graph.
    """
    return ask(lambda reader: overview(reader, job=job, begin=begin, end=to, bars=bars))


@router.get("/assets/{id:path}/timeline/overview", response_model=Overview, operation_id="asset_overview")
def overview_of_dataset(ask: Ask, asset: AssetId, begin: From = None, to: To = None, bars: Bars = 200) -> Response:
    """Overview of the micro-batches of the queries that read or write a dataset, as bars of whole segments."""
    return ask(lambda reader: overview(reader, dataset=asset, begin=begin, end=to, bars=bars))


@router.get("/jobs/{id:path}/timeline", response_model=Timeline, operation_id="job_timeline")
def of_job(page: Paged, ask: Ask, job: JobId, begin: From = None, to: To = None) -> Response:
    """The latest micro-batches and runs of a job, with the gaps between them."""
    return ask(lambda reader: timeline(reader, job=job, begin=begin, end=to, **page))


@router.get("/assets/{id:path}/timeline", response_model=Timeline, operation_id="asset_timeline")
def of_dataset(page: Paged, ask: Ask, asset: AssetId, begin: From = None, to: To = None) -> Response:
    """The latest micro-batches and runs that read or wrote a dataset."""
    return ask(lambda reader: timeline(reader, dataset=asset, begin=begin, end=to, **page))
