"""Route for the spread of sensitive columns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.privacy import (
    DEFAULT_THRESHOLD,
    Privacy,
    PrivacyPage,
    PrivacyQuestion,
    privacy,
)
from headwater_schemas.events import Sensitivity
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import LONGEST_NAME, AnyCase, Cursor, Depth, Limit, hops

router = area("privacy", needs=Scope.READ)

Name = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]


@router.get("/privacy", response_model=Privacy, operation_id="privacy")
def where_it_went(
    ask: Ask,
    *,
    dataset: Annotated[
        Name, Query(description="A dataset, or a column as dataset#path; default: every sensitive column.")
    ] = None,
    column: Annotated[Name, Query(description="Field path of a column of the dataset.")] = None,
    as_: Annotated[
        Annotated[Sensitivity, AnyCase] | None, Query(alias="as", description="Assume this sensitivity for it.")
    ] = None,
    threshold: Annotated[
        int, Query(ge=1, le=1_000_000_000, description="Minimum rows of a group for a statistic to hide each row.")
    ] = DEFAULT_THRESHOLD,
    readable: Annotated[bool, Query(description="Only columns that can be read.")] = False,
    lower: Annotated[
        bool, Query(description="Only columns that are classified lower than their sources, or not at all.")
    ] = False,
    depth: Depth = "all",
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """List where sensitive columns went, who can read them, and columns classified lower than their sources."""
    question = PrivacyQuestion(dataset, column, as_, threshold, readable, lower)
    page = PrivacyPage(hops(depth), ask.page(limit), cursor)
    return ask(lambda reader: privacy(reader, question, datetime.now(UTC).date(), page))
