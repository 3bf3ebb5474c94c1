"""Routes for the upstream and downstream lineage of datasets and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.lineage import Filters, Influence, Lineage, LineageDirection, LineageQuestion, lineage
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import (
    AnyCase,
    AsOf,
    AssetId,
    AssetName,
    ColumnName,
    Cursor,
    Depth,
    Limit,
    Time,
    Types,
    Values,
    hops,
)

router = area("lineage", needs=Scope.READ)

Influenced = Annotated[
    Annotated[Influence, AnyCase] | None,
    Query(
        description="DIRECT: follow only direct edges; INDIRECT: list only what needs an indirect edge. Default: both."
    ),
]
WithColumns = Annotated[bool, Query(description="Add the column edges of each hop.")]


@dataclass(frozen=True, slots=True)
class LineageQuery:
    """Query parameters of both directions, for datasets and for columns."""

    depth: int | None
    filters: Filters
    as_of: Time | None
    since: Time | None
    limit: int | None
    cursor: str | None
    quality: bool


async def _asked(
    *,
    depth: Depth = 1,
    as_of: AsOf = None,
    since: Annotated[Time | None, Query(description="Only hops that were observed at this time or later.")] = None,
    namespace: Annotated[Values, Query(max_length=100, description="List only datasets in these namespaces.")] = [],  # noqa: B006  FastAPI copies it
    type: Annotated[  # noqa: A002  the parameter's name
        Types, Query(max_length=100, description="List only datasets of these types: `TOPIC`, `FILE`, `TABLE`.")
    ] = [],  # noqa: B006
    tag: Annotated[
        Values, Query(max_length=100, description="List only assets with one of these tags, each `key` or `key=value`.")
    ] = [],  # noqa: B006
    job: Annotated[
        Values, Query(max_length=100, description="Follow only hops of these jobs, each by key or name.")
    ] = [],  # noqa: B006
    quality: Annotated[bool, Query(description="Add the results of the datasets' latest checks.")] = False,
    limit: Limit = None,
    cursor: Cursor = None,
) -> LineageQuery:
    filters = Filters(tuple(namespace), tuple(type), tuple(tag), tuple(job))
    return LineageQuery(hops(depth), filters, as_of, since, limit, cursor, quality)


Given = Annotated[LineageQuery, Depends(_asked)]


@router.get("/assets/{id:path}/upstream", response_model=Lineage, operation_id="asset_upstream")
def asset_upstream(ask: Ask, asset: AssetId, given: Given, columns: WithColumns = False) -> Response:
    """Trace a dataset's lineage upstream, breadth-first."""
    return _lineage(ask, given, LineageDirection.UPSTREAM, asset, columns=columns)


@router.get("/assets/{id:path}/downstream", response_model=Lineage, operation_id="asset_downstream")
def asset_downstream(ask: Ask, asset: AssetId, given: Given, columns: WithColumns = False) -> Response:
    """Trace a dataset's lineage downstream, breadth-first."""
    return _lineage(ask, given, LineageDirection.DOWNSTREAM, asset, columns=columns)


@router.get("/columns/{asset:path}/{column}/upstream", response_model=Lineage, operation_id="column_upstream")
def column_upstream(
    ask: Ask, asset: AssetName, column: ColumnName, given: Given, influence: Influenced = None
) -> Response:
    """Trace a column's lineage upstream: columns that give its values, and those that decide which value or row."""
    return _lineage(ask, given, LineageDirection.UPSTREAM, asset, column, influence)


@router.get("/columns/{asset:path}/{column}/downstream", response_model=Lineage, operation_id="column_downstream")
def column_downstream(
    ask: Ask, asset: AssetName, column: ColumnName, given: Given, influence: Influenced = None
) -> Response:
    """Trace a column's lineage downstream."""
    return _lineage(ask, given, LineageDirection.DOWNSTREAM, asset, column, influence)


def _lineage(
    ask: Ask,
    given: LineageQuery,
    direction: LineageDirection,
    asset: str,
    column: str | None = None,
    influence: Influence | None = None,
    *,
    columns: bool = False,
) -> Response:
    question = LineageQuestion(
        asset,
        direction,
        column=column,
        depth=given.depth,
        influence=influence,
        columns=columns,
        quality=given.quality,
        filters=given.filters,
        as_of=given.as_of,
        since=given.since,
        limit=ask.page(given.limit),
        cursor=given.cursor,
    )
    return ask(lambda reader: lineage(reader, question))
