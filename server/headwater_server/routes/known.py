"""Routes for one dataset, column, job or consumer, and for lists of the estate."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.known import (
    BrokenChainPage,
    ColumnDetails,
    ConsumerDetails,
    ConsumerList,
    DatasetDetails,
    DatasetList,
    JobDetails,
    JobList,
    KnownKind,
    NamedNode,
    RunList,
    broken_chains,
    column_details,
    consumer_details,
    consumers,
    dataset_details,
    datasets,
    estate_runs,
    job_details,
    jobs,
    named,
)
from headwater_schemas.events import RunEventType
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import (
    LONGEST_NAME,
    AnyCase,
    AssetId,
    ColumnId,
    ConsumerId,
    JobId,
    Only,
    Time,
    Types,
    Values,
)

router = area("known", needs=Scope.READ)

Exactly = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]
Namespaces = Annotated[Values, Query(max_length=100, description="Only assets in one of these namespaces.")]
Owner = Annotated[Exactly, Query(description="Only assets of this owner, spelled exactly: `team:flights`.")]
Tagged = Annotated[Exactly, Query(description="Only assets with this tag, exactly `key` or `key=value`.")]


@router.get("/assets", response_model=DatasetList, operation_id="assets")
def assets(
    page: Paged,
    ask: Ask,
    *,
    namespace: Namespaces = [],  # noqa: B006  FastAPI copies it
    type: Annotated[Types, Query(max_length=100, description="Only datasets of these types: `TOPIC`, `TABLE` …")] = [],  # noqa: A002, B006
    owner: Owner = None,
    tag: Tagged = None,
    gone: Annotated[
        bool | None, Query(description="Only dropped datasets; `false`: only datasets that aren't dropped.")
    ] = None,
) -> Response:
    """All datasets, page by page in the order of their keys, with their exact number. For words of names: `/search`."""
    return ask(
        lambda reader: datasets(
            reader,
            namespaces=namespace,
            types=type,
            owner=owner,
            tag=tag,
            gone=gone,
            **page,
        )
    )


@router.get("/jobs", response_model=JobList, operation_id="jobs")
def all_jobs(
    page: Paged,
    ask: Ask,
    *,
    namespace: Namespaces = [],  # noqa: B006
    type: Annotated[Types, Query(max_length=100, description="Only `BATCH` or `STREAMING` jobs.")] = [],  # noqa: A002, B006
    owner: Owner = None,
    tag: Tagged = None,
) -> Response:
    """All jobs, page by page in the order of their keys, with their exact number."""
    return ask(lambda reader: jobs(reader, namespaces=namespace, types=type, owner=owner, tag=tag, **page))


@router.get("/consumers", response_model=ConsumerList, operation_id="consumers")
def all_consumers(
    page: Paged,
    ask: Ask,
    *,
    type: Annotated[Types, Query(max_length=100, description="Only types `DASHBOARD`, `REPORT`, `API` …")] = [],  # noqa: A002, B006
    owner: Owner = None,
    tag: Tagged = None,
) -> Response:
    """All declared consumers, page by page in the order of their keys, with their exact number."""
    return ask(lambda reader: consumers(reader, types=type, owner=owner, tag=tag, **page))


@router.get("/runs", response_model=RunList, operation_id="runs")
def runs(
    page: Paged,
    ask: Ask,
    *,
    state: Annotated[
        list[Annotated[RunEventType, AnyCase]] | None,
        Query(description="Only runs in one of these states; failed runs have FAIL or ABORT."),
    ] = None,
    since: Annotated[Time | None, Query(description="Only runs that were observed at this time or later.")] = None,
    until: Annotated[Time | None, Query(description="Only runs that were last observed before this time.")] = None,
    only: Only,
) -> Response:
    """Runs of all jobs, the last observed first."""
    return ask(lambda reader: estate_runs(reader, states=state or None, since=since, until=until, only=only, **page))


@router.get("/gaps", response_model=BrokenChainPage, operation_id="gaps")
def gaps(page: Paged, ask: Ask) -> Response:
    """List gaps and overlaps in the micro-batches of all streaming queries, and in their offsets."""
    return ask(lambda reader: broken_chains(reader, **page))


@router.get("/named", response_model=NamedNode, operation_id="named")
def what_is_named(
    ask: Ask,
    name: Annotated[
        str,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="A name, with its namespace or alone; a column, `dataset#field.path`; a key; a run's id, or "
            "its beginning.",
        ),
    ],
    *,
    kind: Annotated[
        list[Annotated[KnownKind, AnyCase]] | None, Query(description="Kinds to look for; by default all.")
    ] = None,
) -> Response:
    """Asset or run with a name: a dataset or job, else a column, a consumer, or a run by the beginning of its id."""
    return ask(lambda reader: named(reader, name, kind or ()))


# The last routes of all: `{id:path}` would match the longer paths of other routes, too.
@router.get("/assets/{id:path}", response_model=DatasetDetails, operation_id="asset")
def asset(ask: Ask, asset: AssetId) -> Response:
    """All that is known of one dataset: schema, owners, other names, lifecycle, jobs, runs, versions, quality."""
    return ask(lambda reader: dataset_details(reader, asset))


@router.get("/columns/{id:path}", response_model=ColumnDetails, operation_id="column")
def column(ask: Ask, column: ColumnId) -> Response:
    """All that is known of one column: type, tags, and what it is made from and goes into in one step."""
    return ask(lambda reader: column_details(reader, column))


@router.get("/jobs/{id:path}", response_model=JobDetails, operation_id="job")
def job(ask: Ask, job: JobId) -> Response:
    """All that is known of one job: inputs, outputs, owners, source, plan, queries, latest runs, quality, retention."""
    return ask(lambda reader: job_details(reader, job))


@router.get("/consumers/{id:path}", response_model=ConsumerDetails, operation_id="consumer")
def consumer(ask: Ask, consumer: ConsumerId) -> Response:
    """All that is known of one declared consumer: whom to reach, what it reads, who writes that, latest checks."""
    return ask(lambda reader: consumer_details(reader, consumer))
