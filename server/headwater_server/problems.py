"""Problem responses (RFC 9457): `application/problem+json`.

| status | type | when |
|---|---|---|
| 400 | `urn:headwater:question` | the parameters are well-formed but make no sense together; an invalid cursor |
| 400 | `urn:headwater:event` | the body isn't a valid OpenLineage event; with the JSON pointer of each fault |
| 400 | `urn:headwater:declaration` | the body isn't a valid declaration; with line and JSON pointer of each fault |
| 400 | `urn:headwater:credentials` | the request has more than one credential |
| 401 | `urn:headwater:unauthenticated` | the request has no valid credential |
| 403 | `urn:headwater:forbidden` | the credential doesn't give the scope that the route needs |
| 403 | `urn:headwater:not-filtered` | only askers who may see everything get this answer |
| 403 | `urn:headwater:cross-site` | a page of another site made the browser send the request |
| 404 | `urn:headwater:not-found` | no such asset, run, record; with the nearest names |
| 404 | `urn:headwater:no-such-path` | the server has no such path |
| 405 | `urn:headwater:method` | the path doesn't accept this method |
| 408 | `urn:headwater:too-slow` | the body didn't arrive within `serve.body_timeout_seconds` |
| 409 | `urn:headwater:ambiguous` | several assets have this name; with an exact spelling of each |
| 409 | `urn:headwater:revision` | the graph has a later revision of the declaration set |
| 413 | `urn:headwater:too-large` | the body is larger than `serve.body_max_bytes`, or `serve.intake_body_max_bytes` |
| 415 | `urn:headwater:media-type` | the body isn't JSON, or its compression isn't accepted |
| 421 | `urn:headwater:host` | the `Host` of the request isn't a name of this server |
| 422 | `urn:headwater:parameters` | parameters or fields are unknown, missing or ill-formed; with each of them |
| 500 | `urn:headwater:defect` | an unexpected error; the log has it under `instance` |
| 503 | `urn:headwater:audit-unavailable` | the audit can't record the request |
| 503 | `urn:headwater:busy` | too many questions are waiting |
| 503 | `urn:headwater:kafka-unavailable` | Kafka didn't acknowledge the events in time, or too many are waiting |
| 503 | `urn:headwater:provider-unavailable` | the provider that verifies the credential doesn't answer |
| 503 | `urn:headwater:graph-unreachable` | Neo4j doesn't answer |
| 503 | `urn:headwater:graph-refused` | Neo4j refuses user, password or database, or the graph is of another version |
| 503 | `urn:headwater:arrivals-unknown` | the arrival times of the topic's records can't be read from Kafka |
| 504 | `urn:headwater:time-limit` | no answer within the time limit |

No problem contains a secret, an internal address or a code location.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
MOST_ERRORS = 20
"""Maximum number of faults that a problem lists."""


class ProblemType(StrEnum):
    """URNs of the problem types."""

    QUESTION = "urn:headwater:question"
    NOT_FOUND = "urn:headwater:not-found"
    NO_SUCH_PATH = "urn:headwater:no-such-path"
    METHOD = "urn:headwater:method"
    AMBIGUOUS = "urn:headwater:ambiguous"
    CROSS_SITE = "urn:headwater:cross-site"
    TOO_SLOW = "urn:headwater:too-slow"
    TOO_LARGE = "urn:headwater:too-large"
    MEDIA_TYPE = "urn:headwater:media-type"
    HOST = "urn:headwater:host"
    PARAMETERS = "urn:headwater:parameters"
    DEFECT = "urn:headwater:defect"
    AUDIT_UNAVAILABLE = "urn:headwater:audit-unavailable"
    BUSY = "urn:headwater:busy"
    GRAPH_UNREACHABLE = "urn:headwater:graph-unreachable"
    GRAPH_REFUSED = "urn:headwater:graph-refused"
    ARRIVALS_UNKNOWN = "urn:headwater:arrivals-unknown"
    TIME_LIMIT = "urn:headwater:time-limit"
    EVENT = "urn:headwater:event"
    KAFKA_UNAVAILABLE = "urn:headwater:kafka-unavailable"
    DECLARATION = "urn:headwater:declaration"
    REVISION = "urn:headwater:revision"
    CREDENTIALS = "urn:headwater:credentials"
    UNAUTHENTICATED = "urn:headwater:unauthenticated"
    FORBIDDEN = "urn:headwater:forbidden"
    NOT_FILTERED = "urn:headwater:not-filtered"
    PROVIDER_UNAVAILABLE = "urn:headwater:provider-unavailable"


OF_IDENTITY = (
    ProblemType.CREDENTIALS,
    ProblemType.UNAUTHENTICATED,
    ProblemType.FORBIDDEN,
    ProblemType.PROVIDER_UNAVAILABLE,
)
"""Problems of credentials: every route may answer them, except open routes."""

OF_SENDING = (
    ProblemType.CROSS_SITE,
    ProblemType.NO_SUCH_PATH,
    ProblemType.TOO_SLOW,
    ProblemType.TOO_LARGE,
    ProblemType.MEDIA_TYPE,
    ProblemType.HOST,
    ProblemType.PARAMETERS,
    ProblemType.DEFECT,
    ProblemType.AUDIT_UNAVAILABLE,
    ProblemType.BUSY,
    ProblemType.KAFKA_UNAVAILABLE,
)
"""Problems of every route that accepts events, declarations or actions."""

OF_INTAKE = frozenset(
    {
        ProblemType.EVENT,
        ProblemType.KAFKA_UNAVAILABLE,
        ProblemType.DECLARATION,
        ProblemType.REVISION,
    }
)
"""Problems of sending events and declarations, in addition to those of questions."""


STATUS: dict[ProblemType, HTTPStatus] = {
    ProblemType.QUESTION: HTTPStatus.BAD_REQUEST,
    ProblemType.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ProblemType.NO_SUCH_PATH: HTTPStatus.NOT_FOUND,
    ProblemType.METHOD: HTTPStatus.METHOD_NOT_ALLOWED,
    ProblemType.AMBIGUOUS: HTTPStatus.CONFLICT,
    ProblemType.CROSS_SITE: HTTPStatus.FORBIDDEN,
    ProblemType.TOO_SLOW: HTTPStatus.REQUEST_TIMEOUT,
    ProblemType.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ProblemType.MEDIA_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    ProblemType.HOST: HTTPStatus.MISDIRECTED_REQUEST,
    ProblemType.PARAMETERS: HTTPStatus.UNPROCESSABLE_ENTITY,
    ProblemType.DEFECT: HTTPStatus.INTERNAL_SERVER_ERROR,
    ProblemType.AUDIT_UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemType.BUSY: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemType.GRAPH_UNREACHABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemType.GRAPH_REFUSED: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemType.ARRIVALS_UNKNOWN: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemType.TIME_LIMIT: HTTPStatus.GATEWAY_TIMEOUT,
    ProblemType.EVENT: HTTPStatus.BAD_REQUEST,
    ProblemType.KAFKA_UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemType.DECLARATION: HTTPStatus.BAD_REQUEST,
    ProblemType.REVISION: HTTPStatus.CONFLICT,
    ProblemType.CREDENTIALS: HTTPStatus.BAD_REQUEST,
    ProblemType.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    ProblemType.FORBIDDEN: HTTPStatus.FORBIDDEN,
    ProblemType.NOT_FILTERED: HTTPStatus.FORBIDDEN,
    ProblemType.PROVIDER_UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}

_TITLE: dict[ProblemType, str] = {
    ProblemType.QUESTION: "The question makes no sense",
    ProblemType.NOT_FOUND: "Not in the graph",
    ProblemType.NO_SUCH_PATH: "There is no such path",
    ProblemType.METHOD: "The path doesn't accept this method",
    ProblemType.AMBIGUOUS: "Several assets have this name",
    ProblemType.CROSS_SITE: "Requests from other sites are refused",
    ProblemType.TOO_SLOW: "The body didn't arrive in time",
    ProblemType.TOO_LARGE: "The body is too large",
    ProblemType.MEDIA_TYPE: "The media type isn't accepted",
    ProblemType.HOST: "Not a name of this server",
    ProblemType.PARAMETERS: "A parameter is wrong",
    ProblemType.DEFECT: "A defect of this server",
    ProblemType.AUDIT_UNAVAILABLE: "The audit can't be written",
    ProblemType.BUSY: "Too many questions at once",
    ProblemType.GRAPH_UNREACHABLE: "The graph can't be reached",
    ProblemType.GRAPH_REFUSED: "The graph refuses this server",
    ProblemType.ARRIVALS_UNKNOWN: "Arrival times of records can't be read from Kafka",
    ProblemType.TIME_LIMIT: "No answer in time",
    ProblemType.EVENT: "Not an OpenLineage event",
    ProblemType.KAFKA_UNAVAILABLE: "Kafka doesn't accept events now",
    ProblemType.DECLARATION: "Not a declaration",
    ProblemType.REVISION: "The graph has a later revision",
    ProblemType.CREDENTIALS: "More than one credential",
    ProblemType.UNAUTHENTICATED: "A valid credential is needed",
    ProblemType.FORBIDDEN: "The credential doesn't allow this request",
    ProblemType.NOT_FILTERED: "Only for askers who may see everything",
    ProblemType.PROVIDER_UNAVAILABLE: "The credential can't be verified now",
}


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """Fault in one parameter, or in one field of the body.

    Attributes:
        field: name of the parameter or field, with dots between levels; in an event or a declaration, its JSON pointer
            (RFC 6901).
        message: description of the fault.
    """

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class ProblemDetails:
    """Problem details. Empty members are left out.

    Attributes:
        type: type of the problem, a URN from a closed list.
        title: type of the problem in words.
        status: the HTTP status.
        detail: cause of this problem, for people.
        instance: id of this occurrence in the server's log; only for defects.
        nearest: existing names that are most similar to a name that wasn't found.
        candidates: exact spellings of the assets or runs that have an ambiguous name.
        errors: faults of parameters, events and declarations.
    """

    type: ProblemType
    title: str
    status: int
    detail: str
    instance: str | None = None
    nearest: tuple[str, ...] | None = None
    candidates: tuple[str, ...] | None = None
    errors: tuple[FieldProblem, ...] | None = None


def problem(
    kind: ProblemType,
    detail: str,
    *,
    instance: str | None = None,
    nearest: tuple[str, ...] = (),
    candidates: tuple[str, ...] = (),
    errors: tuple[FieldProblem, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Build the response with the details of a problem."""
    found = ProblemDetails(
        kind, _TITLE[kind], STATUS[kind], detail, instance, nearest or None, candidates or None, errors or None
    )
    document: dict[str, Any] = {name: value for name, value in msgspec.to_builtins(found).items() if value is not None}
    sent = {"Cache-Control": "no-store", **(headers or {})}
    if STATUS[kind] is HTTPStatus.SERVICE_UNAVAILABLE:
        sent["Retry-After"] = str(RETRY_SECONDS)
    return Response(msgspec.json.encode(document), STATUS[kind], sent, MEDIA_TYPE)
