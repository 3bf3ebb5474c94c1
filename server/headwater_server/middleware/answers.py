"""Answers: headers for browsers, HEAD without a body, and gzip if `Accept-Encoding` asks for it (RFC 9110 §12.5.3).

There are no CORS headers: scripts of other sites can't read any answer.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Browsers must not run, draw or frame anything in a JSON document.
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
# The page loads nothing from elsewhere. The layout runs in a worker; the drawing sets styles on elements.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def _raw(policy: str) -> tuple[tuple[bytes, bytes], ...]:
    headers = {**_ALWAYS, "Content-Security-Policy": policy}
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())


# No route sets any of these headers itself.
_DATA_HEADERS, _PAGE_HEADERS = _raw(_DATA_POLICY), _raw(_PAGE_POLICY)
# Browsers then use only HTTPS for this host, for a year.
_ONLY_HTTPS = (b"strict-transport-security", b"max-age=31536000")
_DATA_PATHS = ("/api/", "/mcp", "/.well-known/", "/openapi.json", "/livez", "/readyz", "/metrics")


class SecurityHeaders:
    """Adds security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        added = _DATA_HEADERS if scope["path"].startswith(_DATA_PATHS) else _PAGE_HEADERS
        if scope.get("scheme") == "https":
            added = (*added, _ONLY_HTTPS)

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, adding)


class Head:
    """Answers HEAD: passes it on as GET, and drops the body of the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        scope["method"] = "GET"

        async def bodiless(message: Message) -> None:
            if message["type"] == "http.response.body":
                if message.get("more_body", False):
                    return
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, bodiless)
        finally:
            # The method is restored: if outer middleware answers, for example a defect, the server then drops the body.
            scope["method"] = "HEAD"


_NAME = b"accept-encoding"


class Codings:
    """Replaces `Accept-Encoding` by `gzip`, or removes it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] == "http":
            accepted = ",".join(Headers(scope=scope).getlist("accept-encoding"))
            others = [(name, value) for name, value in scope["headers"] if name != _NAME]
            # Changed in place: outer middleware reads the route that the router writes into this scope.
            scope["headers"] = [*others, (_NAME, b"gzip")] if wants_gzip(accepted) else others
        await self._app(scope, receive, send)


def wants_gzip(accepted: str) -> bool:
    """Return True for `gzip`, `br, gzip;q=0.5` and `*`; False for nothing, `gzip;q=0` and `identity, gzip;q=0.5`."""
    weights: dict[str, float] = {}
    for item in accepted.lower().split(","):
        coding, _, parameters = item.partition(";")
        weights[coding.strip()] = _weight(parameters)
    gzip = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weight(parameters: str) -> float:
    """Quality value of an `Accept-Encoding` entry: 1 without a `q=`, 0 if its value can't be parsed."""
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    try:
        weight = float(value.strip()) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
