"""Route for the rules that a graph has to fulfil."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headwater_analysis.checks import RULES, Checks, check, rule_named
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import Values

router = area("checks", needs=Scope.READ)

_DAY_SECONDS = 86_400.0


@router.get("/checks", response_model=Checks, operation_id="checks")
def checks(
    page: Paged,
    ask: Ask,
    *,
    rule: Annotated[Values, Query(max_length=100, description="Only these rules.")] = [],  # noqa: B006  FastAPI copies it
    open_after: Annotated[
        float,
        Query(
            ge=0,
            le=31_536_000,
            allow_inf_nan=False,
            description="Seconds after which an open run counts as open too long.",
        ),
    ] = _DAY_SECONDS,
) -> Response:
    """Check the rules: the exact number of findings of each rule, and the first findings. Pages need one `rule`."""
    return ask(
        lambda reader: check(
            reader,
            datetime.now(UTC),
            rules=[rule_named(name) for name in rule] or RULES,
            exemptions=ask.graph.exemptions,
            open_after=timedelta(seconds=open_after),
            **page,
        )
    )
