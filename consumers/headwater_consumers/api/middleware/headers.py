"""What browsers are told not to do with an answer. No CORS headers: another site's script may not read any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Nothing in a JSON document is to be run, drawn or framed.
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
# The page brings all that it needs. The layout runs in a worker; the drawing sets styles on elements.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_DATA_PATHS = ("/api/", "/openapi.json", "/livez", "/readyz", "/metrics")


class Headers:
    """Adds them to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        policy = _DATA_POLICY if scope["path"].startswith(_DATA_PATHS) else _PAGE_POLICY

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_ALWAYS)
                headers["Content-Security-Policy"] = policy
            await send(message)

        await self._app(scope, receive, adding)
