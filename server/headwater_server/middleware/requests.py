"""Outermost middleware: counts, times and limits requests, turns defects into problems, and keeps paths escaped.

uvicorn passes unescaped paths, in which `kafka%3A%2F%2Fbroker%2Forders` would be four segments. Below the API's path,
routes see the path as sent, and each parameter is unescaped separately (`parameters.unescaped`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater_audit.audit import request_id
from headwater_schemas.tracing import in_request, span
from headwater_schemas.visible import visible
from headwater_server.asking import REQUEST_ID
from headwater_server.metrics import ServeMetrics
from headwater_server.middleware.bodies import READ
from headwater_server.problems import ProblemType, problem

log = logging.getLogger("headwater.serve")
_MOST_OF_A_PATH = 200
_REFUSED = frozenset({400, 401, 403, 408, 413, 415, 421, 422})
"""Statuses of wrong and forbidden requests, which are logged with the client."""


class Measure:
    """Reports each request to `metrics` when its answer is complete or aborted; logs refused clients."""

    def __init__(self, app: ASGIApp, metrics: ServeMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        began = time.monotonic()
        # A tool's question keeps the id of the request that called the tool.
        scope[REQUEST_ID] = own = scope.get(REQUEST_ID) or request_id()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", own.encode())]}
            await send(message)

        with self._metrics.under_way(), in_request(own), span("request", carrier=_trace_context(scope)) as traced:
            try:
                await self._app(scope, receive, watched)
            finally:
                # The router has written the route into the scope.
                route = getattr(scope.get("route"), "path_format", None)
                self._metrics.answered(route, status, time.monotonic() - began)
                if traced is not None:
                    _describe(traced, scope["method"], route, status, own)
                if status in _REFUSED:
                    host, *_ = scope.get("client") or ("an unknown address",)
                    log.warning("refused with %d: %s %s of %s", status, scope["method"], _shown(scope["path"]), host)


def _trace_context(scope: Scope) -> dict[str, str]:
    """Return the headers of W3C Trace Context; without them the span begins a trace."""
    return {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in scope["headers"]
        if name in (b"traceparent", b"tracestate")
    }


def _describe(traced: Any, method: str, route: str | None, status: int, request: str) -> None:
    traced.update_name(f"{method[:20]} {route or 'unknown'}")
    traced.set_attributes({"http.response.status_code": status, "headwater.request": request})
    if route is not None:
        traced.set_attributes({"http.request.method": method, "http.route": route})


def _shown(path: str) -> str:
    return visible(path[:_MOST_OF_A_PATH])


class Unforeseen:
    """Answers a defect with 500 if no answer has begun.

    Otherwise the connection is closed, so that an incomplete answer doesn't look complete.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            # The server is being stopped, and the drain time is over.
            if begun:
                raise
            await problem(ProblemType.BUSY, "The server is being stopped.")(scope, receive, send)
        except Exception:
            log.exception("%s %s", scope["method"], _shown(scope["path"]))
            if begun:
                raise
            answer = problem(
                ProblemType.DEFECT,
                "The server failed to answer; its log has the error under the id in `instance`.",
                instance=scope[REQUEST_ID],
            )
            await answer(scope, receive, send)


class Admission:
    """Limits the number of requests in progress below a path, including waiting ones.

    Args:
        below: path; other requests aren't counted.
    """

    def __init__(self, app: ASGIApp, below: str, most: int) -> None:
        self._app = app
        self._below = below
        self._most = most
        self._under_way = 0  # one event loop, so no other request intervenes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http" or scope.get(READ) or not scope["path"].startswith(self._below):
            await self._app(scope, receive, send)
            return
        if self._under_way >= self._most:
            refusal = problem(
                ProblemType.BUSY, f"{self._most} questions are being answered or wait; ask again a little later."
            )
            await refusal(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1


class Paths:
    """Lets routes see the path as sent.

    Args:
        below: path; other requests keep the unescaped path.
    """

    def __init__(self, app: ASGIApp, below: str) -> None:
        self._app = app
        self._below = below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] == "http" and scope["path"].startswith(self._below):
            raw = scope.get("raw_path")
            scope["path"] = raw.decode("latin-1") if raw is not None else quote(scope["path"])
        await self._app(scope, receive, send)
