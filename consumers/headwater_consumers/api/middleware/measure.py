"""Each request, counted and timed by its route."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from headwater_consumers.api.metrics import ServeMetrics


class Measure:
    """Tells `metrics` of each request when its answer is sent, or was given up."""

    def __init__(self, app: ASGIApp, metrics: ServeMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        began = time.monotonic()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._metrics.under_way():
            try:
                await self._app(scope, receive, watched)
            finally:
                # The router writes the route that it found into the scope.
                route = getattr(scope.get("route"), "path_format", None)
                self._metrics.answered(route, status, time.monotonic() - began)
