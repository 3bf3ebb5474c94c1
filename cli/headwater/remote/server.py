"""Requests to `headwater serve`. Answers become objects, problems become errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from http import HTTPStatus
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from headwater.console import console, shortened
from headwater.errors import ConfigurationError, HeadwaterError, InputError, UnreachableError
from headwater.lean_imports import without
from headwater.remote.choice import Chosen

with without("numpy", "pandas"):
    from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
    from headwater_analysis.freshness import NOT_REPORTED, GraphState
from headwater_analysis.incidents.answers import IncidentMarks

T = TypeVar("T")

_BELOW: Final = "/api/v1"
_CONNECT_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 300.0
"""Longest wait for an answer; the server's own limit is shorter."""
_GRACE_SECONDS: Final = 30.0
"""Time for an answer in addition to the question's own time limit."""
_LONGEST: Final = 600


class UnauthenticatedError(ConfigurationError):
    """The server requires a credential, or doesn't accept the given one."""


@dataclass(frozen=True, slots=True)
class _Fault:
    field: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class _Problem:
    """Problem details (RFC 9457) of `headwater serve`."""

    type: str
    detail: str = ""
    instance: str | None = None
    nearest: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    errors: tuple[_Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class _Metadata:
    """Members that the server adds to each answer."""

    graph: GraphState = NOT_REPORTED
    filtered: bool = False
    incidents: IncidentMarks | None = None


_PROBLEM: Final = TypeAdapter(_Problem)
_METADATA: Final = TypeAdapter(_Metadata)


@dataclass(frozen=True, slots=True)
class RemoteIdentity:
    """Shown members of the answer of `/me`.

    Attributes:
        subject: name of the identity; empty: anonymous.
        tenant: the only tenant whose lineage the identity can ask for.
        filtered: whether answers leave out assets that the identity may not see.
    """

    source: str
    subject: str
    tenant: str
    scopes: tuple[str, ...]
    filtered: bool


def connection(chosen: Chosen, timeout_seconds: float | None = None) -> dict[str, Any]:
    """Keyword arguments for an httpx2 client of a server.

    Args:
        timeout_seconds: time limit of each answer; None: that of the server.
    """
    headers = {"Accept": "application/json"}
    if chosen.token is not None:
        headers["Authorization"] = f"Bearer {chosen.token.get_secret_value()}"
    seconds = _ANSWER_SECONDS if timeout_seconds is None else timeout_seconds + _GRACE_SECONDS
    # A redirect could send the credential to another server.
    return {
        "headers": headers,
        "timeout": httpx2.Timeout(seconds, connect=_CONNECT_SECONDS),
        "follow_redirects": False,
    }


class Server:
    """Client of a server. It raises errors of the command line, and errors of questions about names.

    Args:
        timeout_seconds: time limit of each answer; None: that of the server.

    Attributes:
        filtered: whether the last answer left out assets that the asker may not see.
        incidents: datasets of the last answer with bad data of open incidents; None if there are none.
    """

    def __init__(self, chosen: Chosen, timeout_seconds: float | None = None) -> None:
        self._chosen, self._timeout_seconds = chosen, timeout_seconds
        self.freshness = NOT_REPORTED
        self.filtered = False
        self.incidents: IncidentMarks | None = None
        self._client = httpx2.Client(**connection(chosen, timeout_seconds))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: Sequence[str], answer: type[T], parameters: Mapping[str, Any] | None = None) -> T:
        """Send a GET and return the answer.

        Args:
            path: parts of the path below `/api/v1`, not escaped.
            parameters: query parameters. None and empty values aren't sent; spans are sent as seconds.

        Raises:
            NotFoundError, AmbiguousError, QuestionError: see `headwater_analysis.errors`.
            UnreachableError: the server, or a service that it needs, doesn't answer.
            ConfigurationError: the credential isn't valid or doesn't allow the request, or the server isn't a
                `headwater serve`.
            InputError: a parameter is wrong.
        """
        return self._ask("GET", path, answer, parameters or {}, None)

    def me(self) -> RemoteIdentity:
        """Return the identity of the credential; see `get`."""
        return self.get(("me",), RemoteIdentity)

    def post(self, path: Sequence[str], answer: type[T], body: Any, parameters: Mapping[str, Any] | None = None) -> T:
        """Send a POST and return the answer; see `get`. The body is a dataclass or a value of JSON's types."""
        return self._ask("POST", path, answer, parameters or {}, body)

    def _ask(self, method: str, path: Sequence[str], kind: type[T], parameters: Mapping[str, Any], body: Any) -> T:
        given = {name: value for name, sent in parameters.items() if (value := _sent(sent)) not in (None, [])}
        if self._timeout_seconds is not None:
            given["timeout"] = _sent(self._timeout_seconds)
        sent = None if body is None else to_jsonable_python(body)
        with self._reached(), console.status("Asking the server"):
            url = "/".join([f"{self._chosen.url}{_BELOW}", *(quote(part, safe="") for part in path)])
            response = self._client.request(method, url, params=given, json=sent)
        if response.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
            self._raise_problem(response)
        try:
            found: T = TypeAdapter(kind).validate_json(response.content)
            metadata = _METADATA.validate_json(response.content)
        except ValidationError as error:
            raise HeadwaterError(
                f"{self._chosen.url} answers in a form that this release doesn't know.",
                fix="Use the release of the server, or check that the address is of a `headwater serve`.",
            ) from error
        self.freshness, self.filtered, self.incidents = metadata.graph, metadata.filtered, metadata.incidents
        return found

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        url, where = self._chosen.url, self._chosen.origin
        try:
            yield
        except httpx2.TimeoutException as error:
            raise UnreachableError(f"{url} gave no answer in time.", fix=f"Check the address ({where}).") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = shortened(str(error) or type(error).__name__, _LONGEST)
            if "CERTIFICATE" in reason.upper() or "SSL" in reason.upper():
                raise ConfigurationError(
                    f"{url} can't be trusted: {reason}.",
                    fix="SSL_CERT_FILE names the file of certificates of your own authority.",
                ) from error
            raise UnreachableError(f"{url} can't be reached: {reason}.", fix=f"Check the address ({where}).") from error

    def _raise_problem(self, response: httpx2.Response) -> NoReturn:
        status, url = response.status_code, self._chosen.url
        try:
            problem = _PROBLEM.validate_json(response.content)
        except ValidationError:
            problem = _Problem("")
        detail = shortened(problem.detail, _LONGEST)
        kind = problem.type.removeprefix("urn:headwater:")
        match kind:
            case "not-found":
                raise NotFoundError(detail, nearest=problem.nearest)
            case "ambiguous":
                raise AmbiguousError(detail, candidates=problem.candidates)
            case "question":
                raise QuestionError(detail, field=problem.errors[0].field if problem.errors else "")
            case "parameters":
                faults = "; ".join(f"{each.field}: {each.message}" for each in problem.errors)
                raise InputError(shortened(faults or detail, _LONGEST))
            case "unauthenticated" | "credentials":
                raise UnauthenticatedError(f"{url}: {detail}", fix=self._chosen.mend())
            case "defect":
                raise HeadwaterError(f"{url}: {detail} ({problem.instance})", fix=_PROBLEMS[kind][1])
        if kind in _PROBLEMS:
            error, fix = _PROBLEMS[kind]
            raise error(f"{url}: {detail}", fix=fix)
        if status in _UNAVAILABLE:
            raise UnreachableError(f"{url} can't answer now: {detail or f'status {status}'}.", fix=_LATER)
        raise ConfigurationError(
            f"{url} isn't a `headwater serve` of this release: it answers with status {status}.",
            fix=f"Check the address ({self._chosen.origin}).",
        )


_LATER: Final = "Try again later."
_UNAVAILABLE: Final = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
_ASK: Final = "Ask the operator of the server for access."
_PROBLEMS: Final[dict[str, tuple[type[HeadwaterError], str]]] = {
    "too-large": (InputError, "The server's limit is HEADWATER_SERVE_BODY_MAX_BYTES."),
    "too-slow": (UnreachableError, _LATER),
    "forbidden": (ConfigurationError, _ASK),
    "not-filtered": (ConfigurationError, _ASK),
    "cross-site": (ConfigurationError, _ASK),
    "host": (ConfigurationError, "Add this name to HEADWATER_SERVE_ALLOWED_HOSTS of the server."),
    "time-limit": (HeadwaterError, "Raise --timeout, up to the limit of the server."),
    "defect": (HeadwaterError, "The server's log has the details under this id."),
    "busy": (UnreachableError, _LATER),
    "audit-unavailable": (UnreachableError, _LATER),
    "provider-unavailable": (UnreachableError, _LATER),
    "graph-unreachable": (UnreachableError, _LATER),
    "graph-refused": (UnreachableError, "Contact the operator of the server."),
    "arrivals-unknown": (UnreachableError, "With --read-time, a time is when micro-batches read the records."),
}
"""Map problem types, without `urn:headwater:`, to errors and their fixes."""


def _sent(value: Any) -> Any:
    """Convert the value of a query parameter to one or several texts; None and empty lists aren't sent."""
    match value:
        case None | str() if not isinstance(value, Enum):
            return value
        case bool():
            return "true" if value else "false"
        case Enum():
            return str(value.value)
        case datetime():
            return value.isoformat()
        case timedelta():
            return str(value.total_seconds())
        case Sequence():
            return [_sent(each) for each in value]
        case _:
            return str(value)
