"""`/mcp`: the tools over streamable HTTP, without sessions; each answer is one JSON document.

A call of a tool becomes a request to an operation within the process (`asks.InProcess`), which the audit records with
the tool's name. The request to `/mcp` itself is only recorded if it is refused or asks no operation.

A client that isn't logged in gets the answer 401 with the URL of this resource's metadata (RFC 9728). The metadata name
the OIDC provider that gives tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from headwater_audit.record import LONGEST_VALUE
from headwater_schemas.visible import visible
from headwater_server.asking import FILTERS, RECORDED
from headwater_server.mcp.asks import Answer, InProcess
from headwater_server.mcp.tools import bound_tools
from headwater_server.scoped import Access, ScopedRoute
from headwater_server.settings import ServeSettings

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from headwater_server.mcp.protocol import Context

PATH = "/mcp"
OPERATION = "mcp"
"""`operation_id` of requests to `/mcp` in the audit."""
METADATA_PATH = "/.well-known/oauth-protected-resource"
_HOST = re.compile(r"[A-Za-z0-9.\-]+(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?")


def mcp_routes(document: Mapping[str, Any], serve: ServeSettings) -> list[Route]:
    """Make the routes of `/mcp` and its metadata."""
    endpoint = McpEndpoint(document, serve)
    routes: list[Route] = [_McpRoute(PATH, endpoint, needs=Access.IDENTIFIED, method="POST")]
    if has_metadata(serve):

        async def metadata(request: Request) -> Response:
            return JSONResponse(resource_metadata(request.scope, serve), headers={"Cache-Control": "no-store"})

        routes += [
            ScopedRoute(path, metadata, needs=Access.OPEN, recorded=False)
            for path in (METADATA_PATH, f"{METADATA_PATH}{PATH}")
        ]
    return routes


class _McpRoute(ScopedRoute):
    operation_id = OPERATION

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; metrics count it under this path."""
        scope["route"] = self
        await super().handle(scope, receive, send)


def has_metadata(serve: ServeSettings) -> bool:
    """True if clients can get tokens for this server from an OIDC provider."""
    return serve.oidc_issuer is not None and serve.oidc_audience is not None


def metadata_url(serve: ServeSettings) -> Callable[[Scope], str | None]:
    """Make the function from a refused request to the metadata's URL; it returns None for other paths than `/mcp`."""

    def of(scope: Scope) -> str | None:
        base = _base(scope, serve) if has_metadata(serve) and scope["path"] == PATH else None
        return None if base is None else f"{base}{METADATA_PATH}{PATH}"

    return of


def resource_metadata(scope: Scope, serve: ServeSettings) -> dict[str, Any]:
    """Metadata of this server as a protected resource (RFC 9728, section 2)."""
    base = _base(scope, serve)
    return {
        "resource": PATH if base is None else f"{base}{PATH}",
        "resource_name": "Headwater",
        "authorization_servers": [serve.oidc_issuer],
        "scopes_supported": serve.oidc_login_scopes.split(),
        "bearer_methods_supported": ["header"],
    }


def _base(scope: Scope, serve: ServeSettings) -> str | None:
    """URL of this server for a client; None if the request has no valid `Host`."""
    if serve.public_url is not None:
        return serve.public_url.rstrip("/")
    host = Headers(scope=scope).get("host", "")
    return f"{scope['scheme']}://{host}" if _HOST.fullmatch(host) else None


class McpEndpoint:
    """ASGI app of `/mcp`. It keeps no state between requests."""

    def __init__(self, document: Mapping[str, Any], serve: ServeSettings) -> None:
        self._document = document
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        server = await to_thread.run_sync(self._loaded)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        scope[RECORDED] = False

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                scope[RECORDED] = True
            await send(message)

        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=self._serve.body_max_bytes
        )
        async with manager.run():
            await manager.handle_request(scope, receive, watched)

    def _loaded(self) -> Server[Any]:
        return self._server

    @cached_property
    def _server(self) -> Server[Any]:
        # Importing the SDK takes a second: it is imported at the first request, not on the thread of the event loop.
        from headwater_server.mcp.protocol import mcp_server

        tools = bound_tools(self._document)
        return mcp_server(tools, _asks_of, most_bytes=self._serve.mcp_answer_max_bytes)


def _asks_of(context: Context, name: str) -> _RecordedAsks:
    """Make the `Asks` of a tool's call, with the sender of its request. The audit records a call that asks nothing."""
    request = context.request
    if not isinstance(request, Request):
        raise TypeError("a call of a tool came without its HTTP request")
    scope = request.scope
    scope[RECORDED] = True
    scope[FILTERS] = [("tool", visible(name[:LONGEST_VALUE]))]
    return _RecordedAsks(scope, name)


class _RecordedAsks(InProcess):
    def __init__(self, scope: Scope, tool: str) -> None:
        super().__init__(scope["app"], scope, tool)
        self._scope = scope

    async def __call__(self, method: str, path: str, parameters: Sequence[tuple[str, str]], body: Any) -> Answer:
        """Ask an operation."""
        # The operation has its own audit record.
        self._scope[RECORDED] = False
        return await super().__call__(method, path, parameters, body)
