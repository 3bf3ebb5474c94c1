"""Route that answers if a dataset may be deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.deletion import HOLDING, DeletionQuestion, MayDelete, may_delete
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import LONGEST_NAME, AssetQuery, Time, Values

router = area("deletion", needs=Scope.READ)

_LATELY = timedelta(days=30)


@router.get("/may-delete", response_model=MayDelete, operation_id="may_delete")
def may_it_go(
    ask: Ask,
    *,
    dataset: AssetQuery,
    version: Annotated[
        str | None,
        Query(min_length=1, max_length=LONGEST_NAME, description="A version of the dataset, or its beginning."),
    ] = None,
    since: Annotated[
        Time | None,
        Query(description="A job that read the dataset at this time or later needs it; default: 30 days ago."),
    ] = None,
    hold: Annotated[
        Values, Query(max_length=100, description="Marks that forbid deletion, in addition to critical and legal-hold.")
    ] = [],  # noqa: B006  FastAPI copies it
    incomplete: Annotated[bool, Query(description="Allow deletion even if the known lineage isn't complete.")] = False,
) -> Response:
    """List what still needs a dataset or one of its versions, with a verdict on its deletion."""
    lately = datetime.now(UTC) - _LATELY if since is None else since
    question = DeletionQuestion(dataset, lately, version, HOLDING | frozenset(hold), incomplete)
    return ask(lambda reader: may_delete(reader, question))
