"""Wiring of the app: driver, routes and middleware."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headwater_server.access import anonymous_identity, configured_authentication
from headwater_server.asking import BELOW, Graph
from headwater_server.checking import BackgroundChecks
from headwater_server.documented import document
from headwater_server.handlers import add_handlers
from headwater_server.identity.authentication import Authentication
from headwater_server.mcp.http import mcp_routes, metadata_url
from headwater_server.metrics import ServeMetrics
from headwater_server.middleware.answers import Codings, Head, SecurityHeaders
from headwater_server.middleware.audit import RequestAudit
from headwater_server.middleware.bodies import Bodies, Media
from headwater_server.middleware.hosts import Hosts, Sites
from headwater_server.middleware.identify import Identify
from headwater_server.middleware.intake import IntakeGate
from headwater_server.middleware.requests import Admission, Measure, Paths, Unforeseen
from headwater_server.page import page_routes
from headwater_server.parameters import query_names
from headwater_server.recording import ReachRecorder
from headwater_server.routes import ROUTERS, intake, review
from headwater_server.scoped import Access, ScopedRoute
from headwater_server.tls import ServerTls

# For smaller answers, gzip saves less than one packet.
_GZIP_FROM_BYTES = 1_024
# Level 9 is a third slower and saves only 1 %.
_GZIP_LEVEL = 5


def create_app(graph: Graph, authentication: Authentication | None = None, tls: ServerTls | None = None) -> FastAPI:
    """Create the ASGI app of the API and the page over one graph.

    Args:
        authentication: ways to log in; None: the configured ones.

    Raises:
        AccessSettingsError: settings of a way to log in contradict each other.
        TokensFileError: the tokens file is broken.
    """
    metrics = ServeMetrics()
    limits = graph.serve
    if authentication is None:
        authentication = configured_authentication(limits)
    if graph.audit is not None:
        metrics.audit.watch(graph.audit.writer)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        # Routes are plain functions. This many run at the same time; others wait.
        to_thread.current_default_thread_limiter().total_tokens = limits.threads
        checking = BackgroundChecks(graph, metrics)
        checking.start()
        app.state.recorder.start()
        yield
        app.state.recorder.stop()
        checking.stop()

    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        middleware=[
            Middleware(Measure, metrics=metrics),
            Middleware(SecurityHeaders),
            Middleware(Unforeseen),
            Middleware(RequestAudit, audit=graph.audit, tenant=graph.analysis.tenant, metrics=metrics.audit),
            Middleware(Hosts, names=limits.hosts()),
            Middleware(Sites),
            Middleware(Paths, below=BELOW),
            Middleware(
                Identify,
                authentication=authentication,
                anonymous=anonymous_identity(limits, authentication),
                metrics=metrics.authentication,
                metadata_url=metadata_url(limits),
            ),
            Middleware(
                IntakeGate,
                direct=intake.direct(),
                below=BELOW,
                limits=limits,
                has_sink=graph.sink is not None,
                metrics=metrics.intake,
            ),
            Middleware(Codings),
            Middleware(GZipMiddleware, minimum_size=_GZIP_FROM_BYTES, compresslevel=_GZIP_LEVEL),
            Middleware(Head),
            Middleware(
                Bodies,
                most_bytes=limits.body_max_bytes,
                seconds=limits.body_timeout_seconds,
                most=limits.threads + limits.waiting_max,
                most_of_client=limits.bodies_per_client_max,
            ),
            Middleware(Media, below=BELOW),
            Middleware(Admission, below=BELOW, most=limits.threads + limits.waiting_max),
        ],
    )
    add_handlers(app)
    for router in ROUTERS:
        if router is review.router and not graph.serve.review:
            continue
        # The routes themselves are added, not routers, so that the route in a request's scope has its whole path.
        app.router.routes.extend(router.routes)
    app.state.graph = graph
    app.state.metrics = metrics
    app.state.authentication, app.state.tls = authentication, tls
    app.state.recorder = ReachRecorder(graph)
    app.state.probing = CapacityLimiter(1)
    # One large body and one declaration set at a time: more wouldn't be faster, and would take more memory.
    app.state.decoding, app.state.declaring = CapacityLimiter(1), CapacityLimiter(1)
    _document(app)
    app.router.routes.extend(mcp_routes(openapi_document(), limits))
    app.router.routes.extend(page_routes())
    if authentication.login is not None:
        from headwater_server.routes.login import login_routes

        app.router.routes.extend(login_routes(authentication.login, metrics.authentication))
    metrics.declare(route.path_format for route in app.routes if isinstance(route, Route))
    return app


def _document(app: FastAPI) -> None:
    whole = openapi_document()
    app.state.query_names = query_names(whole)

    async def openapi(_request: Request) -> Response:
        return JSONResponse(whole, headers={"Cache-Control": "no-cache"})

    app.openapi_schema = whole  # the result of `app.openapi()`
    app.router.routes.append(ScopedRoute("/openapi.json", openapi, needs=Access.OPEN, recorded=False))


@cache
def openapi_document() -> dict[str, Any]:
    """OpenAPI document of the server, equal for all apps of a process. Building it takes a quarter of a second."""
    return document([route for router in ROUTERS for route in router.routes])
