"""Parameters that several routes share, and the refusal of unknown ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import unquote

from fastapi import Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BeforeValidator, Field

from headwater_analysis.runs import CONTEXT_NAMES, RunFilter
from headwater_server.identity import Scope, identity_of
from headwater_server.problems import MOST_ERRORS

QueryNames: TypeAlias = dict[tuple[str, str], dict[str, bool]]
"""Query parameters by path pattern and method; True for parameters that may be given several times."""


LONGEST_NAME = 12_288
SHORTEST_TIMEOUT_SECONDS = 1.0
"""Shortest time limit of a question. Neo4j ends overdue transactions only every two seconds."""
RENAMED = {"includeColumns": "columns"}
"""Parameters of earlier releases, and their current names."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]|$)")


def unescaped(segment: str) -> str:
    """Unescape a parameter of a path, `a%2Fb` ⇒ `a/b`: paths arrive as sent (`middleware.requests.Paths`)."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("an escaped name has to be UTF-8") from None


def as_iso_8601(text: Any) -> Any:
    """Refuse numbers: pydantic would read them as seconds or milliseconds, depending on their size."""
    if not (isinstance(text, str) and _DATE.match(text)):
        raise ValueError("a time is written as 2025-01-31T12:00:00Z, or 2025-01-31")
    return text


def in_utc(time: datetime) -> datetime:
    """Convert a time to UTC. A time without a zone is in UTC."""
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        raise ValueError("out of range in UTC") from None


_ASSET = (
    "The key of the asset (32 hex digits), or its name: with its namespace, `kafka://broker:9092/orders`, or alone "
    "if only one asset has this name."
)
_IN_A_PATH = f"{_ASSET} Escape characters that a path can't contain; slashes needn't be escaped."

AssetId = Annotated[str, Path(alias="id", min_length=1, description=_IN_A_PATH), AfterValidator(unescaped)]
AssetName = Annotated[str, Path(min_length=1, description=_IN_A_PATH), AfterValidator(unescaped)]
AssetQuery = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description=_ASSET)]
ColumnName = Annotated[
    str,
    Path(min_length=1, description="The column's field path, `address.city`. A slash in it has to be escaped."),
    AfterValidator(unescaped),
]
ColumnId = Annotated[
    str,
    Path(alias="id", min_length=1, description="The key of the column, or `dataset%23field.path`, # escaped as %23."),
    AfterValidator(unescaped),
]
JobId = Annotated[
    str,
    Path(alias="id", min_length=1, description="The key of the job, or its name, with its namespace or alone."),
    AfterValidator(unescaped),
]
ConsumerId = Annotated[
    str, Path(alias="id", min_length=1, description="The key of the consumer, or its name."), AfterValidator(unescaped)
]
RunId = Annotated[
    str, Path(alias="id", min_length=1, description="The run id, or the key of the run."), AfterValidator(unescaped)
]


def in_capitals(text: Any) -> Any:
    """Convert the name of an enumeration's member to upper case: parameters may have it in any case."""
    return text.upper() if isinstance(text, str) else text


def in_small_letters(text: Any) -> Any:
    """Convert a word that is allowed in place of a number to lower case."""
    return text.lower() if isinstance(text, str) else text


AnyCase = BeforeValidator(in_capitals)

Depth = Annotated[
    Annotated[int, Field(ge=1, le=1_000_000)] | Literal["all"],
    BeforeValidator(in_small_letters),
    Query(description="Maximum number of hops from the asset; `all`: no maximum."),
]
Limit = Annotated[
    int | None,
    Query(
        ge=1,
        le=1_000,
        description="Maximum number of items on the page. A server may return fewer; `next_cursor` requests the rest.",
    ),
]
Cursor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=64_000,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="`next_cursor` of the previous page, to request the next page.",
    ),
]
Time = Annotated[datetime, BeforeValidator(as_iso_8601), AfterValidator(in_utc)]
AsOf = Annotated[
    Time | None, Query(description="Answer from the graph as of this time: what had been observed by then.")
]


Values = list[Annotated[str, Field(min_length=1)]]
"""Parameter that may be given several times."""
Types = list[Annotated[str, AnyCase, Field(min_length=1)]]
"""Parameter with types of datasets or jobs, in any case, that may be given several times."""


async def _only(
    request: Request,
    *,
    where: Annotated[
        Values,
        Query(
            max_length=100,
            description="Only runs with this context, such as `branch=main`. Names: "
            f"{', '.join(f'`{name}`' for name in CONTEXT_NAMES)}. If given several times, a run must match each.",
        ),
    ] = [],  # noqa: B006  FastAPI copies it
    period: Annotated[
        Time | None, Query(description="Only runs whose period, `nominal_start` to `nominal_end`, contains this time.")
    ] = None,
    statement: Annotated[
        str | None,
        Query(min_length=1, max_length=LONGEST_NAME, description="Only runs whose SQL statement contains this text."),
    ] = None,
    rejected: Annotated[bool, Query(description="Only runs that rejected rows.")] = False,
) -> RunFilter:
    if statement is not None and Scope.EXPRESSIONS not in identity_of(request.scope).scopes:
        reason = "A filter by the text of SQL needs the scope `expressions`."
        raise RequestValidationError([{"loc": ("query", "statement"), "msg": reason}])
    return RunFilter(where=tuple(where), period=period, statement=statement, rejected=rejected)


Only = Annotated[RunFilter, Depends(_only)]
"""Filter of runs by their context."""


def hops(depth: int | Literal["all"]) -> int | None:
    """Convert `all` to None, the unlimited depth of questions."""
    return None if depth == "all" else depth


async def known_only(request: Request) -> None:
    """Refuse unknown query parameters: a misspelt one would silently change the answer.

    Raises:
        RequestValidationError: a parameter is unknown (with the nearest known one), or is given twice but not
            repeatable.
    """
    taken: QueryNames = request.app.state.query_names
    known = taken[getattr(request.scope.get("route"), "path_format", ""), request.method]
    errors = []
    for name in dict.fromkeys(request.query_params.keys()):
        if name not in known:
            nearest = difflib.get_close_matches(name[:100], known, n=1)
            hint = f"; the nearest known one is `{nearest[0]}`" if nearest else ""
            if (now := RENAMED.get(name)) in known:
                hint = f" any more: it is called `{now}`"
            errors.append({"loc": ("query", name[:100]), "msg": f"There is no such parameter{hint}."})
        elif len(request.query_params.getlist(name)) > 1 and not known[name]:
            errors.append({"loc": ("query", name), "msg": "It is given more than once."})
        if len(errors) >= MOST_ERRORS:
            break  # a search for the nearest names of thousands of parameters would hold up all other requests
    if errors:
        raise RequestValidationError(errors)


def query_names(document: Mapping[str, Any]) -> QueryNames:
    """List the query parameters of each operation of an OpenAPI document, by path and method; True: repeatable."""
    return {
        (path, method.upper()): {
            parameter["name"]: "array" in {each.get("type") for each in _branches(parameter["schema"])}
            for parameter in operation.get("parameters", ())
            if parameter["in"] == "query"
        }
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def _branches(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [schema, *schema.get("anyOf", ())]


_YEAR_SECONDS = 31_536_000

ReadTime = Annotated[
    bool,
    Query(
        description="The given times are when records were read (tracing backwards: written), not when they arrived."
    ),
]
Horizon = Annotated[
    float | None,
    Query(
        ge=0,
        le=_YEAR_SECONDS,
        allow_inf_nan=False,
        description="Longest time in seconds that a query's state keeps a record after the watermark has passed it. "
        "Default: as the query reported; without a report, no limit.",
    ),
]


def seconds(horizon: float | None) -> timedelta | None:
    """Convert a horizon in seconds to a `timedelta`; None stays None."""
    return None if horizon is None else timedelta(seconds=horizon)
