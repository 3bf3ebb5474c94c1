"""Routes for the graph around a dataset, for drawing, and for pages of its neighbours."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.drawing import (
    MOST_NODES,
    ColumnScope,
    Drawing,
    MostUsed,
    NeighbourFilters,
    NeighbourPage,
    Opened,
    Reach,
    draw,
    most_used,
    neighbours,
)
from headwater_analysis.lineage import LineageDirection
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import (
    LONGEST_NAME,
    AnyCase,
    AsOf,
    AssetQuery,
    Cursor,
    Depth,
    Limit,
    Types,
    Values,
    hops,
)

router = area("graph", needs=Scope.READ)


@router.get("/graph", response_model=Drawing, operation_id="graph")
def graph(
    ask: Ask,
    asset: AssetQuery,
    *,
    depth: Depth = 1,
    direction: Annotated[Reach, AnyCase, Query(description="Which way to look.")] = Reach.BOTH,
    columns: Annotated[
        ColumnScope,
        AnyCase,
        Query(description="Columns of no dataset, of the one asked about alone, or of all, with what jobs do to them."),
    ] = ColumnScope.NONE,
    as_of: AsOf = None,
    to: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Another dataset: only those on a path between the two, either way, at any depth.",
        ),
    ] = None,
    width: Annotated[
        int | None,
        Query(ge=1, le=MOST_NODES, description="Most neighbours of each node on a side, the most important ones."),
    ] = None,
    open: Annotated[  # noqa: A002  the parameter's name
        Values,
        Query(
            max_length=100,
            description="Draw neighbours of a node besides: `UPSTREAM:key` its 12 most important ones, "
            "`DOWNSTREAM:key:key` one.",
        ),
    ] = [],  # noqa: B006  FastAPI copies it
    limit: Annotated[
        int,
        Query(
            ge=1,
            le=MOST_NODES,
            description="Most nodes: the nearest first, of equally near ones the most critical, then those with the "
            "most datasets downstream; `truncated` where there are more.",
        ),
    ] = MOST_NODES,
) -> Response:
    """Nodes, and every edge between them: not a tree of shortest paths, but all that flows."""
    return ask(
        lambda reader: draw(
            reader,
            asset,
            direction=direction,
            depth=hops(depth),
            columns=columns,
            as_of=as_of,
            to=to,
            width=width,
            opening=[Opened.parse(each) for each in open],
            limit=min(limit, MOST_NODES),
        )
    )


@router.get("/neighbours", response_model=NeighbourPage, operation_id="neighbours")
def neighbours_of(
    ask: Ask,
    asset: AssetQuery,
    direction: Annotated[LineageDirection, AnyCase, Query(description="Which way to look.")],
    *,
    as_of: AsOf = None,
    q: Annotated[
        str, Query(max_length=LONGEST_NAME, description="Words that the name has to contain, in any case.")
    ] = "",
    namespace: Annotated[Values, Query(max_length=100, description="Only those in one of these.")] = [],  # noqa: B006  FastAPI copies it
    owner: Annotated[Values, Query(max_length=100, description="Only those of one of these owners, exactly.")] = [],  # noqa: B006
    type: Annotated[  # noqa: A002  the parameter's name
        Types, Query(max_length=100, description="Only those of one of these types: `TOPIC`, `FILE`, `TABLE` …")
    ] = [],  # noqa: B006
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """Datasets one hop upstream or downstream of one, page by page: the most critical and the most used first."""
    filters = NeighbourFilters(q, tuple(namespace), tuple(owner), tuple(type))
    return ask(
        lambda reader: neighbours(
            reader, asset, direction, filters=filters, as_of=as_of, limit=ask.page(limit), cursor=cursor
        )
    )


@router.get("/most-used", response_model=MostUsed, operation_id="most_used")
def most_used_datasets(ask: Ask, limit: Limit = None) -> Response:
    """Datasets that feed the most datasets and declared consumers in one hop: where to begin in an unknown estate."""
    return ask(lambda reader: most_used(reader, limit=ask.page(limit)))
