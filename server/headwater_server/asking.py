"""Steps from a request to a question's answer, and common parts of all routes.

    @router.get("/assets/{id:path}/upstream", response_model=Lineage)
    def upstream(ask: Ask, id: AssetName) -> Response:
        return ask(lambda reader: lineage(reader, LineageQuestion(id, …)))

Such a route is a plain function. It runs in one of the server's threads and asks in one read transaction, which Neo4j
ends at the time limit. The transaction continues if the client disconnects.

Answers are the JSON that `--json` of the command line prints. They are cacheable: a 200 of GET has an ETag of its
content, and a request with this ETag in `If-None-Match` is answered 304. The ETag is weak, because one answer may be
sent with and without gzip.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from neo4j import Driver
from pydantic import TypeAdapter
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from headwater_analysis.checks import Exemption
from headwater_analysis.freshness import NOT_REPORTED, GraphState, TopicEnds, not_asked
from headwater_analysis.impact import Policy
from headwater_analysis.incidents.answers import IncidentMarks
from headwater_analysis.incidents.marks import MarkingReader
from headwater_analysis.paging import Page
from headwater_analysis.reader import Reader
from headwater_analysis.settings import AnalysisSettings
from headwater_analysis.texts import without_texts
from headwater_analysis.trace import Arrivals
from headwater_analysis.visibility import Visible
from headwater_audit.audit import Audit
from headwater_graph.connection import Neo4jTarget
from headwater_openlineage.intake.settings import IntakeSettings
from headwater_openlineage.intake.sink import IntakeSink
from headwater_server.authorization import FILTERED, AccessDecision, Authorization
from headwater_server.documented import problem_responses
from headwater_server.identity import Identity, Scope, identity_of
from headwater_server.parameters import SHORTEST_TIMEOUT_SECONDS, Cursor, Limit, known_only
from headwater_server.problems import OF_INTAKE, ProblemType
from headwater_server.scoped import Needs, api_route
from headwater_server.settings import ServeSettings

BELOW = "/api/v1"
# Keys in a request's scope for its audit record, besides the identity and the parameters of path and query. The code
# that knows a value sets it before the answer begins.
RESULTS = "headwater.results"
"""Number of items that the answer is about; absent if the answer has nothing to count."""
FILTERS = "headwater.filters"
"""Names and values of the parameters in the body: `[("dataset", "kafka://broker/orders")]`."""
REQUEST_ID = "headwater.request"
"""Id of the request in its log lines, its audit record and the header `X-Request-Id`."""
DECISION = "headwater.decision"
"""Decision of the authorisation: `("allow" | "deny", names of the rules that decided)`."""
TOOL = "headwater.tool"
"""Name of the tool of `headwater_server.mcp` that asks. Headers can't set this key."""
RECORDED = "headwater.recorded"
"""True if the audit records this request; if absent, the request's route decides. Requests answered 401 or 403 are
always recorded."""

_PROBLEMS = problem_responses(
    *(kind for kind in ProblemType if kind not in OF_INTAKE | {ProblemType.NO_SUCH_PATH, ProblemType.METHOD})
)


def area(
    tag: str,
    *,
    needs: Needs,
    responses: Mapping[int | str, dict[str, Any]] = _PROBLEMS,
) -> APIRouter:
    """Create a router for the routes of one area."""
    return APIRouter(
        prefix=BELOW,
        tags=[tag],
        dependencies=[Depends(known_only)],
        responses=dict(responses),
        route_class=api_route(needs),
    )


# Clients may cache an answer, but must revalidate it each time.
_HEADERS = {"Cache-Control": "private, no-cache"}


def answered(
    request: Request,
    answer: Any,
    *,
    graph: GraphState = NOT_REPORTED,
    filtered: bool = False,
    incidents: IncidentMarks | None = None,
    status: int = 200,
) -> Response:
    """Build the response with `answer`, a dataclass of plain values, and metadata.

    The metadata are: the lag of the graph behind its topic, whether something is left out, and datasets with bad data
    of open incidents.

    Without the scope `expressions`, the response has no expressions, SQL, file paths and error texts.
    """
    kind: Any = type(answer)
    if Scope.EXPRESSIONS not in identity_of(request.scope).scopes:
        answer = without_texts(answer)
    content = _adapter(kind).dump_json(answer)
    if filtered:
        content = b'%s,"filtered":true}' % content[:-1]
        graph = _without_times(graph)
    if incidents is not None:
        content = b'%s,"incidents":%s}' % (content[:-1], _adapter(IncidentMarks).dump_json(incidents))
    # The ETag ignores how far the graph is behind its topic, except for whether it is stale.
    tagged = content + b"stale" * (graph.stale is not None)
    if graph != NOT_REPORTED:
        content = b'%s,"graph":%s}' % (content[:-1], _adapter(GraphState).dump_json(graph))
    if request.method != "GET":
        return _sent(answer, content, status)
    tag = weak_tag(tagged)
    headers = {**_HEADERS, "ETag": tag}
    if is_named(request, tag):
        return _Counted(answer, status_code=304, headers=headers)
    return _Counted(answer, content=content, media_type="application/json", headers=headers)


def _without_times(graph: GraphState) -> GraphState:
    """State of the graph for restricted askers, without times and numbers, which include hidden events."""
    return NOT_REPORTED if graph.stale is None else GraphState(None, None, "events wait on the topic")


def sent(answer: Any, *, status: int) -> Response:
    """Build the response with `answer` to a request with a body."""
    kind: Any = type(answer)
    return _sent(answer, _adapter(kind).dump_json(answer), status)


def _sent(answer: Any, content: bytes, status: int) -> Response:
    headers = {"Cache-Control": "no-store"}
    return _Counted(answer, content=content, status_code=status, media_type="application/json", headers=headers)


class _Counted(Response):
    """Response that stores its number of items in the scope, for the audit."""

    def __init__(self, answer: Any, **options: Any) -> None:
        super().__init__(**options)
        self._results = results_of(answer)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if self._results is not None:
            scope[RESULTS] = self._results
        await super().__call__(scope, receive, send)


def results_of(answer: Any) -> int | None:
    """Return the number of items that an answer is about: its `total`, accepted events, first page's total, or items.

    None if the answer has nothing to count.
    """
    for name in ("total", "events", "published"):
        if type(number := getattr(answer, name, None)) is int:
            return number
    parts = (getattr(answer, each.name) for each in fields(answer)) if is_dataclass(answer) else ()
    for part in parts:
        if isinstance(part, Page):
            return part.total
    items = getattr(answer, "items", None)
    return len(items) if isinstance(items, tuple | list) else None


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def weak_tag(content: bytes) -> str:
    """Weak ETag of a content, for answers with and without gzip."""
    return f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'


def is_named(request: Request, tag: str) -> bool:
    """Match the request's `If-None-Match` against an ETag by weak comparison (RFC 9110, 8.8.3.2)."""
    opaque = tag.removeprefix("W/")
    tags = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    return opaque in tags or tags == ["*"]


@dataclass(frozen=True, slots=True)
class Graph:
    """Shared state of all requests: the graph's driver, limits, the policy for impacts, and the event sink.

    - The caller closes the driver and the audit's writer.
    - Without a policy, Headwater's default policy is used.
    - Without a sink, no events are accepted, whatever the settings.
    - Exemptions are accepted findings of the rules.
    - Without `arrivals`, the arrival times of records in Kafka are unknown.
    - Without `authorization`, every identity sees everything.
    - Without `audit`, no requests are recorded.
    """

    driver: Driver
    target: Neo4jTarget
    analysis: AnalysisSettings
    serve: ServeSettings
    policy: Policy | None = None
    sink: IntakeSink | None = None
    intake: IntakeSettings = field(default_factory=IntakeSettings)
    exemptions: tuple[Exemption, ...] = ()
    ends: TopicEnds = not_asked
    arrivals: Arrivals | None = None
    authorization: Authorization | None = None
    audit: Audit | None = None

    def tenant_of(self, identity: Identity) -> str:
        """Return the only tenant whose graph an identity may ask and change."""
        return self.analysis.tenant if identity.tenant is None else identity.tenant

    def reader(self, identity: Identity, timeout_seconds: float | None = None, *, operation: str = "") -> MarkingReader:
        """Return a reader that shows only visible assets of an identity.

        Args:
            timeout_seconds: the requested time limit; `serve.timeout_max_seconds` caps it.
            operation: id of the operation that asks. Restricted askers may only use operations in `FILTERED`.
        """
        wanted = self.analysis.timeout_seconds if timeout_seconds is None else timeout_seconds
        limit = min(wanted, self.serve.timeout_max_seconds)
        return MarkingReader(
            self.driver,
            self.target,
            tenant=self.tenant_of(identity),
            timeout_seconds=limit,
            stale_seconds=self.analysis.stale_seconds,
            ends=self.ends,
            visible=None if self.authorization is None else partial(self._visible, self.authorization, identity),
            whole=operation not in FILTERED,
        )

    def _visible(self, authorization: Authorization, identity: Identity) -> Visible | None:
        """Return the visible assets of an identity; None: everything."""
        unrestricted = Reader(
            self.driver,
            self.target,
            tenant=self.tenant_of(identity),
            timeout_seconds=self.serve.timeout_max_seconds,
        )
        return authorization.visible(identity, unrestricted)

    def decision(self, identity: Identity) -> AccessDecision | None:
        """Decide whether an identity sees everything; None: everybody does."""
        if self.authorization is None:
            return None
        return self.authorization.everything(identity, self.tenant_of(identity))

    def kafka_reachable(self) -> bool | None:
        """Return True if Kafka accepts events; None if this server accepts no events."""
        writes = self.serve.intake or self.serve.declare
        return self.sink.problem() is None if writes and self.sink is not None else None

    def page(self, limit: int | None) -> int:
        """Page size for a request: its limit or the default, at most `serve.page_max_items`."""
        return min(self.serve.page_default_items if limit is None else limit, self.serve.page_max_items)


@dataclass(frozen=True, slots=True)
class Asking:
    """Access of one request to the graph."""

    request: Request
    graph: Graph
    timeout_seconds: float | None

    def __call__(self, question: Callable[[Reader], Any]) -> Response:
        """Ask `question` and return the answer as a response.

        Raises:
            AnalysisError: from `question`; `handlers` turns it into a problem.
        """
        scope = self.request.scope
        identity, operation = identity_of(scope), scope["route"].operation_id
        if (decision := self.graph.decision(identity)) is not None:
            scope[DECISION] = ("allow" if decision.allowed or operation in FILTERED else "deny", decision.policies)
        reader = self.graph.reader(identity, self.timeout_seconds, operation=operation)
        answer = question(reader)
        return answered(
            self.request, answer, graph=reader.freshness, filtered=reader.filtered, incidents=reader.incidents
        )

    def page(self, limit: int | None) -> int:
        """Page size for a request: its limit or the default, at most `serve.page_max_items`."""
        return self.graph.page(limit)


def note_body(request: Request, parameters: Mapping[str, Any]) -> None:
    """Store the parameters of a body for the audit, which doesn't read bodies. None values are left out."""
    request.scope[FILTERS] = [(name, str(value)) for name, value in parameters.items() if value is not None]


async def _asking(
    request: Request,
    seconds: Annotated[
        float | None,
        Query(
            alias="timeout",
            ge=SHORTEST_TIMEOUT_SECONDS,
            le=3_600,
            allow_inf_nan=False,
            description="Time limit in seconds; without an answer in time, the response is a 504. "
            "Default: `HEADWATER_ANALYSIS_TIMEOUT_SECONDS`; at most `HEADWATER_SERVE_TIMEOUT_MAX_SECONDS`.",
        ),
    ] = None,
) -> Asking:
    return Asking(request, request.app.state.graph, seconds)


Ask = Annotated[Asking, Depends(_asking)]


async def _page(request: Request, limit: Limit = None, cursor: Cursor = None) -> dict[str, Any]:
    graph: Graph = request.app.state.graph
    return {"limit": graph.page(limit), "cursor": cursor}


Paged = Annotated[dict[str, Any], Depends(_page)]
"""Arguments `limit` and `cursor` of a question with pages."""
