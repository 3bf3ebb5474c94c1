"""Route for the search for assets."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.assets import AssetKind
from headwater_analysis.search import SearchPage, search
from headwater_schemas.events import Sensitivity
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import LONGEST_NAME, AnyCase, Types

router = area("search", needs=Scope.READ)

Text = Annotated[
    str,
    Query(
        max_length=LONGEST_NAME,
        description="Beginnings of words of a name, in any case; or a whole name; or words of an owner or a tag. "
        "Default: all assets that pass the filters.",
    ),
]
Kinds = Annotated[
    list[Annotated[AssetKind, AnyCase]] | None,
    Query(description="Kinds of assets. Default: all; without `q`: datasets and jobs."),
]
Filter = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]


@router.get("/search", response_model=SearchPage, operation_id="search")
def search_assets(
    page: Paged,
    ask: Ask,
    *,
    q: Text = "",
    kind: Kinds = None,
    owner: Annotated[Filter, Query(description="Words of an owner's name.")] = None,
    tag: Annotated[Filter, Query(description="Words of a tag's key or value; or exactly `key=value`.")] = None,
    column: Annotated[Filter, Query(description="Words of a column: hits are columns, of datasets with `q`.")] = None,
    namespace: Annotated[Filter, Query(description="Namespace of the dataset or job, spelled exactly.")] = None,
    type: Annotated[  # noqa: A002  the parameter's name
        Types,
        Query(max_length=100, description="Only datasets of these types, `TOPIC`, `TABLE` …, and jobs, `STREAMING` …"),
    ] = [],  # noqa: B006  FastAPI copies it
    sensitivity: Annotated[
        Annotated[Sensitivity, AnyCase] | None, Query(description="Only assets with this declared sensitivity.")
    ] = None,
    fuzzy: Annotated[bool, Query(description="Also match words with one or two wrong letters.")] = False,
    facets: Annotated[bool, Query(description="Count the hits by type, namespace, owner, tag and others.")] = False,
) -> Response:
    """Datasets, jobs, columns and declared consumers by name, owner, tag and column, the best first."""
    return ask(
        lambda reader: search(
            reader,
            q,
            kinds=kind or None,
            owner=owner,
            tag=tag,
            column=column,
            namespace=namespace,
            types=type,
            sensitivity=sensitivity,
            fuzzy=fuzzy,
            facets=facets,
            **page,
        )
    )
