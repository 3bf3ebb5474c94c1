"""Exception handlers, which turn exceptions into problems."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from headwater_analysis.errors import (
    AmbiguousError,
    AnalysisError,
    ArrivalsUnknownError,
    GraphRefusedError,
    GraphUnreachableError,
    NotFilteredError,
    NotFoundError,
    QuestionError,
    TimeLimitError,
)
from headwater_server.problems import MOST_ERRORS, FieldProblem, ProblemType, problem

log = logging.getLogger("headwater.serve")

# Names of 10 KB are legal; a problem needn't repeat them whole.
_LONGEST_DETAIL = 600


def add_handlers(app: FastAPI) -> None:
    """Register handlers that turn the expected exceptions of routes into problems."""
    app.add_exception_handler(AnalysisError, _of_question)
    app.add_exception_handler(RequestValidationError, _of_parameters)
    app.add_exception_handler(HTTPException, _of_routing)


def _of_question(_request: Request, error: Exception) -> Response:
    match error:
        case NotFoundError():
            return problem(ProblemType.NOT_FOUND, _short(error), nearest=error.nearest)
        case AmbiguousError():
            return problem(ProblemType.AMBIGUOUS, _short(error), candidates=error.candidates)
        case QuestionError():
            return problem(ProblemType.QUESTION, _short(error), errors=(FieldProblem(error.field, _short(error)),))
        case NotFilteredError():
            return problem(ProblemType.NOT_FILTERED, _short(error))
        case TimeLimitError():
            return problem(ProblemType.TIME_LIMIT, f"{error.what}, or allow more with `timeout`.")
        # The messages of these three errors contain internal addresses and users: they belong in the log.
        case ArrivalsUnknownError():
            log.warning("%s", error)
            return problem(
                ProblemType.ARRIVALS_UNKNOWN,
                "The records that arrived in this time are unknown: this server can't find them in Kafka; its log has "
                "the reason. With `read_time=true`, the time at which they were read counts instead.",
            )
        case GraphUnreachableError():
            log.warning("%s", error)
            return problem(ProblemType.GRAPH_UNREACHABLE, "The graph's database doesn't answer now.")
        case GraphRefusedError():
            log.error("%s Check %s.", error, error.setting)
            return problem(
                ProblemType.GRAPH_REFUSED, "The graph's database refuses this server; its log has the reason."
            )
    raise error


def _of_parameters(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    # Without `input`: it may be long, and the sender knows it.
    errors = tuple(
        FieldProblem(_field(each["loc"]), _message(each)[:_LONGEST_DETAIL]) for each in error.errors()[:MOST_ERRORS]
    )
    named = ", ".join(f"`{name[:80]}`" for name in dict.fromkeys(each.field for each in errors))
    return problem(ProblemType.PARAMETERS, f"See `errors` for what is wrong with {named}.", errors=errors)


def _message(error: Mapping[str, Any]) -> str:
    match error.get("type"):
        case "json_invalid":
            return f"The body isn't JSON: {error.get('ctx', {}).get('error', '')} at character {error['loc'][-1]}."
        case "dataclass_type":
            return "Input should be an object"
        case _:
            return str(error["msg"])


def _field(where: tuple[str | int, ...]) -> str:
    """Return the field of a location: `("query", "depth", "int")` ⇒ `depth`; for a union the last part is a type."""
    if where[0] == "body":
        # For invalid JSON, the location has the position of the mistake, a number.
        where = tuple(part for part in where if isinstance(part, str))
        return ".".join(str(part) for part in where[1:]) or "body"
    return str(where[1]) if len(where) > 1 else str(where[0])


def _of_routing(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    path = request.url.path[:200]
    if error.status_code == 405:
        return problem(ProblemType.METHOD, f"{path} doesn't accept {request.method[:20]}.", headers=error.headers)
    if error.status_code == 404:
        return problem(ProblemType.NO_SUCH_PATH, f"Nothing is served at {path}. /openapi.json lists all paths.")
    return problem(ProblemType.PARAMETERS, str(error.detail)[:_LONGEST_DETAIL], headers=error.headers)


def _short(error: Exception) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}…"
