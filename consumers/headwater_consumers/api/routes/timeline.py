"""What happened when."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_consumers.analysis.timeline import Timeline, dataset_timeline, job_timeline
from headwater_consumers.api.asking import Ask, area
from headwater_consumers.api.parameters import AssetId, Cursor, JobId, Limit, Time

router = area("timeline")

From = Annotated[Time | None, Query(alias="from", description="Leave out what ended before.")]
To = Annotated[Time | None, Query(description="Leave out what began then or later.")]


@router.get("/jobs/{id:path}/timeline", response_model=Timeline, operation_id="job_timeline")
def of_job(
    ask: Ask, job: JobId, begin: From = None, to: To = None, limit: Limit = None, cursor: Cursor = None
) -> Response:
    """The latest micro-batches and runs of a job, with the gaps between them."""
    page = ask.page(limit)
    return ask(lambda reader: job_timeline(reader, job, begin=begin, end=to, limit=page, cursor=cursor))


@router.get("/assets/{id:path}/timeline", response_model=Timeline, operation_id="asset_timeline")
def of_dataset(
    ask: Ask, asset: AssetId, begin: From = None, to: To = None, limit: Limit = None, cursor: Cursor = None
) -> Response:
    """The latest micro-batches and runs that read or wrote a dataset."""
    page = ask.page(limit)
    return ask(lambda reader: dataset_timeline(reader, asset, begin=begin, end=to, limit=page, cursor=cursor))
