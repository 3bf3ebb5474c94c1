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
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import (
    LONGEST_NAME,
    AnyCase,
    AsOf,
    AssetQuery,
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
    direction: Annotated[Reach, AnyCase, Query(description="Direction of the lineage.")] = Reach.BOTH,
    columns: Annotated[
        ColumnScope,
        AnyCase,
        Query(description="Show columns of no dataset, of `asset` only, or of all datasets, with transformations."),
    ] = ColumnScope.NONE,
    as_of: AsOf = None,
    to: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=LONGEST_NAME,
            description="Another dataset: show only datasets on a path between both, in either direction.",
        ),
    ] = None,
    width: Annotated[
        int | None, Query(ge=1, le=MOST_NODES, description="Maximum number of neighbours of each node on each side.")
    ] = None,
    open: Annotated[  # noqa: A002  the parameter's name
        Values,
        Query(
            max_length=100,
            description="Also draw neighbours of a node. `UPSTREAM:<key>` adds its 12 most important upstream "
            "neighbours; `DOWNSTREAM:<key>:<neighbour key>` adds only that downstream neighbour.",
        ),
    ] = [],  # noqa: B006  FastAPI copies it
    limit: Annotated[
        int,
        Query(
            ge=1,
            le=MOST_NODES,
            description="Maximum number of nodes: the nearest first; of equally near nodes the most critical, then "
            "those with the most datasets downstream. `truncated` if there are more.",
        ),
    ] = MOST_NODES,
) -> Response:
    """Nodes, and every edge between them, not only the edges on shortest paths."""
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
    page: Paged,
    ask: Ask,
    asset: AssetQuery,
    direction: Annotated[LineageDirection, AnyCase, Query(description="Direction of the lineage.")],
    *,
    as_of: AsOf = None,
    q: Annotated[
        str, Query(max_length=LONGEST_NAME, description="Words that the name has to contain, in any case.")
    ] = "",
    namespace: Annotated[Values, Query(max_length=100, description="Only datasets in one of these namespaces.")] = [],  # noqa: B006  FastAPI copies it
    owner: Annotated[
        Values, Query(max_length=100, description="Only datasets of one of these owners, spelled exactly.")
    ] = [],  # noqa: B006
    type: Annotated[  # noqa: A002  the parameter's name
        Types, Query(max_length=100, description="Only datasets of these types: `TOPIC`, `FILE`, `TABLE` …")
    ] = [],  # noqa: B006
    criticality: Annotated[
        Values, Query(max_length=100, description="Only datasets of one of these criticalities, spelled exactly.")
    ] = [],  # noqa: B006
) -> Response:
    """Datasets one hop upstream or downstream of a dataset, page by page: the most critical and most used first."""
    filters = NeighbourFilters(q, tuple(namespace), tuple(owner), tuple(type), tuple(criticality))
    return ask(lambda reader: neighbours(reader, asset, direction, filters=filters, as_of=as_of, **page))


@router.get("/most-used", response_model=MostUsed, operation_id="most_used")
def most_used_datasets(ask: Ask, limit: Limit = None) -> Response:
    """Datasets that feed the most datasets and declared consumers in one hop.

    They are good starting points in a graph that one doesn't know yet.
    """
    return ask(lambda reader: most_used(reader, limit=ask.page(limit)))
