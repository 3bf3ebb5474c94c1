"""Routes for runs, their inputs, outputs and micro-batches, for versions of datasets, and for the last good run."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.runs import (
    IntervalPage,
    OpenRunPage,
    Role,
    RunDetails,
    RunPage,
    Turn,
    UsePage,
    VersionPage,
    intervals,
    last_good,
    open_runs,
    run,
    runs,
    uses,
    versions,
)
from headwater_schemas.events import RunEventType
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import LONGEST_NAME, AnyCase, AssetId, JobId, Only, RunId, Time

router = area("runs", needs=Scope.READ)

FromBatch = Annotated[
    int, Query(ge=0, le=2**63 - 1, description="First batch id to show; totals include earlier ones.")
]


async def _narrowed(
    *,
    state: Annotated[
        list[Annotated[RunEventType, AnyCase]] | None, Query(description="Only runs in one of these states.")
    ] = None,
    since: Annotated[Time | None, Query(description="Only runs that began at this time or later.")] = None,
    until: Annotated[Time | None, Query(description="Only runs that began before this time.")] = None,
    only: Only,
) -> dict[str, Any]:
    return {"states": state or None, "since": since, "until": until, "only": only}


Narrowed = Annotated[dict[str, Any], Depends(_narrowed)]


@router.get("/assets/{id:path}/runs", response_model=RunPage, operation_id="asset_runs")
def of_dataset(
    page: Paged,
    ask: Ask,
    asset: AssetId,
    narrowed: Narrowed,
    role: Annotated[Role, AnyCase, Query(description="Runs that wrote it, or that read it.")] = Role.WROTE,
) -> Response:
    """Runs that wrote a dataset, or read it, the latest first."""
    return ask(lambda reader: runs(reader, dataset=asset, role=role, **page, **narrowed))


@router.get("/jobs/{id:path}/runs", response_model=RunPage, operation_id="job_runs")
def of_job(page: Paged, ask: Ask, job: JobId, narrowed: Narrowed) -> Response:
    """Runs of a job, the latest first."""
    return ask(lambda reader: runs(reader, job=job, **page, **narrowed))


@router.get("/open-runs", response_model=OpenRunPage, operation_id="open_runs")
def without_end(
    page: Paged,
    ask: Ask,
    job: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_NAME, description="Only runs of this job, by key or name.")
    ] = None,
    before: Annotated[Time | None, Query(description="Only runs that were last observed before this time.")] = None,
) -> Response:
    """Runs of all jobs without a reported or inferred end, the one not observed for the longest time first."""
    return ask(lambda reader: open_runs(reader, job=job, before=before, **page))


@router.get("/assets/{id:path}/last-good", response_model=Turn, operation_id="asset_last_good")
def last_good_of_dataset(ask: Ask, asset: AssetId) -> Response:
    """The last good run that wrote a dataset, and the first bad one after it."""
    return ask(lambda reader: last_good(reader, dataset=asset))


@router.get("/jobs/{id:path}/last-good", response_model=Turn, operation_id="job_last_good")
def last_good_of_job(ask: Ask, job: JobId) -> Response:
    """The last good run of a job, and the first bad one after it."""
    return ask(lambda reader: last_good(reader, job=job))


@router.get("/assets/{id:path}/versions", response_model=VersionPage, operation_id="asset_versions")
def versions_of(page: Paged, ask: Ask, asset: AssetId) -> Response:
    """Versions of a dataset, with the run or micro-batch that produced each, the latest first."""
    return ask(lambda reader: versions(reader, asset, **page))


@router.get("/runs/{id:path}/inputs", response_model=UsePage, operation_id="run_inputs")
def inputs_of(page: Paged, ask: Ask, run_id: RunId) -> Response:
    """Datasets that a run read, with the part of each."""
    return ask(lambda reader: uses(reader, run_id, Role.READ, **page))


@router.get("/runs/{id:path}/outputs", response_model=UsePage, operation_id="run_outputs")
def outputs_of(page: Paged, ask: Ask, run_id: RunId) -> Response:
    """Datasets that a run wrote, with the part of each."""
    return ask(lambda reader: uses(reader, run_id, Role.WROTE, **page))


@router.get("/runs/{id:path}/intervals", response_model=IntervalPage, operation_id="run_intervals")
def intervals_of(page: Paged, ask: Ask, run_id: RunId, from_batch: FromBatch = 0) -> Response:
    """Micro-batches that were observed in a run, by batch id."""
    return ask(lambda reader: intervals(reader, run=run_id, from_batch=from_batch, **page))


@router.get("/jobs/{id:path}/intervals", response_model=IntervalPage, operation_id="job_intervals")
def intervals_of_job(page: Paged, ask: Ask, job: JobId, from_batch: FromBatch = 0) -> Response:
    """All known micro-batches of a job, reconciled ones included, by batch id."""
    return ask(lambda reader: intervals(reader, job=job, from_batch=from_batch, **page))


# The last route: `{id:path}` would match the paths above, too.
@router.get("/runs/{id:path}", response_model=RunDetails, operation_id="run")
def details(ask: Ask, run_id: RunId) -> Response:
    """All that is known of one run, except its datasets and micro-batches."""
    return ask(lambda reader: run(reader, run_id))
