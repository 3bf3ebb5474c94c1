"""Problem responses (RFC 9457): `application/problem+json`; `docs/analysis/http.md` explains each type.

No problem contains a secret, an internal address or a code location.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Self

import msgspec
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
MOST_ERRORS = 20
"""Maximum number of faults that a problem lists."""


class ProblemType(StrEnum):
    """URNs of the problem types."""

    QUESTION = "question", HTTPStatus.BAD_REQUEST, "The question makes no sense"
    NOT_FOUND = "not-found", HTTPStatus.NOT_FOUND, "Not in the graph"
    NO_SUCH_PATH = "no-such-path", HTTPStatus.NOT_FOUND, "There is no such path"
    METHOD = "method", HTTPStatus.METHOD_NOT_ALLOWED, "The path doesn't accept this method"
    AMBIGUOUS = "ambiguous", HTTPStatus.CONFLICT, "Several assets have this name"
    CROSS_SITE = "cross-site", HTTPStatus.FORBIDDEN, "Requests from other sites are refused"
    TOO_SLOW = "too-slow", HTTPStatus.REQUEST_TIMEOUT, "The body didn't arrive in time"
    TOO_LARGE = "too-large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too large"
    MEDIA_TYPE = "media-type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The media type isn't accepted"
    HOST = "host", HTTPStatus.MISDIRECTED_REQUEST, "Not a name of this server"
    PARAMETERS = "parameters", HTTPStatus.UNPROCESSABLE_ENTITY, "A parameter is wrong"
    DEFECT = "defect", HTTPStatus.INTERNAL_SERVER_ERROR, "A defect of this server"
    AUDIT_UNAVAILABLE = "audit-unavailable", HTTPStatus.SERVICE_UNAVAILABLE, "The audit can't be written"
    BUSY = "busy", HTTPStatus.SERVICE_UNAVAILABLE, "Too many questions at once"
    GRAPH_UNREACHABLE = "graph-unreachable", HTTPStatus.SERVICE_UNAVAILABLE, "The graph can't be reached"
    GRAPH_REFUSED = "graph-refused", HTTPStatus.SERVICE_UNAVAILABLE, "The graph refuses this server"
    ARRIVALS_UNKNOWN = (
        "arrivals-unknown",
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Arrival times of records can't be read from Kafka",
    )
    TIME_LIMIT = "time-limit", HTTPStatus.GATEWAY_TIMEOUT, "No answer in time"
    EVENT = "event", HTTPStatus.BAD_REQUEST, "Not an OpenLineage event"
    KAFKA_UNAVAILABLE = "kafka-unavailable", HTTPStatus.SERVICE_UNAVAILABLE, "Kafka doesn't accept events now"
    DECLARATION = "declaration", HTTPStatus.BAD_REQUEST, "Not a declaration"
    REVISION = "revision", HTTPStatus.CONFLICT, "The graph has a later revision"
    CREDENTIALS = "credentials", HTTPStatus.BAD_REQUEST, "More than one credential"
    UNAUTHENTICATED = "unauthenticated", HTTPStatus.UNAUTHORIZED, "A valid credential is needed"
    FORBIDDEN = "forbidden", HTTPStatus.FORBIDDEN, "The credential doesn't allow this request"
    NOT_FILTERED = "not-filtered", HTTPStatus.FORBIDDEN, "Only for askers who may see everything"
    PROVIDER_UNAVAILABLE = (
        "provider-unavailable",
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The credential can't be verified now",
    )

    status: HTTPStatus
    heading: str

    def __new__(cls, name: str, status: HTTPStatus, heading: str) -> Self:
        """Make a type from the end of its URN, its status, and its name for people."""
        made = str.__new__(cls, f"urn:headwater:{name}")
        made._value_, made.status, made.heading = str(made), status, heading
        return made


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
        kind, kind.heading, kind.status, detail, instance, nearest or None, candidates or None, errors or None
    )
    document: dict[str, Any] = {name: value for name, value in msgspec.to_builtins(found).items() if value is not None}
    sent = {"Cache-Control": "no-store", **(headers or {})}
    if kind.status is HTTPStatus.SERVICE_UNAVAILABLE:
        sent["Retry-After"] = str(RETRY_SECONDS)
    return Response(msgspec.json.encode(document), kind.status, sent, MEDIA_TYPE)
