"""Routes for monitoring: liveness, readiness and metrics."""

from __future__ import annotations

from dataclasses import dataclass

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, Response

from headwater_analysis.errors import AnalysisError
from headwater_server.asking import Graph
from headwater_server.identity import SERVER, Scope
from headwater_server.identity.authentication import Authentication
from headwater_server.metrics import ServeMetrics
from headwater_server.scoped import Access, api_route
from headwater_server.tls import ServerTls

_open = APIRouter(tags=["service"], route_class=api_route(Access.OPEN, recorded=False))
_operating = APIRouter(tags=["service"], route_class=api_route(Scope.OPERATE, recorded=False))
_PROBE_SECONDS = 2.0
# Shorter than Prometheus's time limit of a scrape, even if Neo4j hangs.
_SCRAPE_SECONDS = 3.0
_NOT_KEPT = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Alive:
    """The server answers.

    Attributes:
        alive: always true.
    """

    alive: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """Readiness of the server for questions, and state of Neo4j and Kafka.

    Attributes:
        ready: true if questions are answered now.
        graph_reachable: true if Neo4j answers.
        kafka_reachable: true if Kafka accepts events; None if this server accepts no events.
    """

    ready: bool
    graph_reachable: bool
    kafka_reachable: bool | None


@_open.get("/livez", response_model=Alive, operation_id="livez")
async def livez() -> Response:
    """200 while the server answers at all, even if Neo4j is unavailable: restarting the server wouldn't help."""
    return JSONResponse({"alive": True}, headers=_NOT_KEPT)


@_open.get(
    "/readyz",
    response_model=Ready,
    operation_id="readyz",
    responses={503: {"model": Ready, "description": "Neo4j doesn't answer."}},
)
async def readyz(request: Request) -> Response:
    """200 while Neo4j answers, else 503.

    Kafka's state is only in the document: while Kafka is unavailable, questions are answered, and only requests with
    events get 503.
    """
    graph: Graph = request.app.state.graph
    reachable = await _probed(request)
    return JSONResponse(
        {"ready": reachable, "graph_reachable": reachable, "kafka_reachable": graph.kafka_reachable()},
        status_code=200 if reachable else 503,
        headers=_NOT_KEPT,
    )


@_operating.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """Metrics in Prometheus's text format, after a probe of Neo4j: so alerts need no probe of /readyz."""
    exposed: ServeMetrics = request.app.state.metrics
    graph: Graph = request.app.state.graph
    reachable = False
    with move_on_after(_SCRAPE_SECONDS):
        reachable = await _probed(request)
    exposed.graph_up.set(reachable)
    exposed.intake.kafka_up.set(bool(graph.kafka_reachable()))
    authentication: Authentication = request.app.state.authentication
    exposed.authentication.tokens_file_up.set(authentication.tokens is None or authentication.tokens.check())
    tls: ServerTls | None = request.app.state.tls
    exposed.authentication.tls_files_up.set(tls is None or tls.check())
    exposed.authentication.access_file_up.set(graph.authorization is None or graph.authorization.check())
    return Response(generate_latest(exposed.registry), media_type=CONTENT_TYPE_LATEST, headers=_NOT_KEPT)


async def _probed(request: Request) -> bool:
    # Separate threads: questions that keep all other threads busy don't make the server unready.
    probing: CapacityLimiter = request.app.state.probing
    return await to_thread.run_sync(_reachable, request.app.state.graph, limiter=probing, abandon_on_cancel=True)


def _reachable(graph: Graph) -> bool:
    try:
        graph.reader(SERVER).read(lambda tx: tx.rows("service/ping"), timeout_seconds=_PROBE_SECONDS)
    except AnalysisError:
        return False
    return True


routers = (_open, _operating)
