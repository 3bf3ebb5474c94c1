"""The graph around a dataset, for drawing."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.drawing import MOST_NODES, Drawing, Reach, draw
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import AnyCase, AssetQuery, Depth, hops

router = area("graph", needs=Scope.READ)


@router.get("/graph", response_model=Drawing, operation_id="graph")
def graph(
    ask: Ask,
    asset: AssetQuery,
    depth: Depth = 1,
    direction: Annotated[Reach, AnyCase, Query(description="Which way to look.")] = Reach.BOTH,
    columns: Annotated[bool, Query(description="With the datasets' columns, and what jobs do to them.")] = False,
    limit: Annotated[
        int,
        Query(ge=1, le=MOST_NODES, description="Most nodes, the nearest first; `truncated` where there are more."),
    ] = MOST_NODES,
) -> Response:
    """Nodes, and every edge between them: not a tree of shortest paths, but all that flows."""
    return ask(
        lambda reader: draw(
            reader, asset, direction=direction, depth=hops(depth), columns=columns, limit=min(limit, MOST_NODES)
        )
    )
