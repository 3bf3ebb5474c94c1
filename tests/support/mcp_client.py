"""Clients of the tools: the official SDK's, and a bare request."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from support.waiting import patience

if TYPE_CHECKING:
    import httpx
    from mcp.client.stdio import StdioServerParameters

T = TypeVar("T")
MODES = ("legacy", "auto")
"""Protocols of 2025, which begin with a handshake, and of 2026."""
_ACCEPTED = {"Accept": "application/json, text/event-stream"}


def talk(
    where: str | StdioServerParameters,
    about: Callable[[Client], Awaitable[T]],
    *,
    token: str | None = None,
    mode: str = "auto",
) -> T:
    """Result of a conversation with the server at a URL, or with one that is started as a process."""

    async def conversation() -> T:
        async with contextlib.AsyncExitStack() as stack:
            server: Any = where
            if isinstance(where, str):
                headers = {} if token is None else {"Authorization": f"Bearer {token}"}
                http = httpx2.AsyncClient(trust_env=False, headers=headers, timeout=patience(60))
                server = streamable_http_client(where, http_client=await stack.enter_async_context(http))
            return await about(await stack.enter_async_context(Client(server, mode=mode)))

    return asyncio.run(conversation())


def post(client: httpx.Client, method: str, headers: Mapping[str, str] | None = None, **params: Any) -> httpx.Response:
    """Response to one message of the protocol, as a client of 2025 sends it."""
    # Dumped here, so that half of a character is sent as its escape.
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    sent = {"Content-Type": "application/json", **_ACCEPTED, **(headers or {})}
    return client.post("/mcp", content=message, headers=sent)


def call(client: httpx.Client, tool: str, arguments: Mapping[str, Any], **headers: str) -> dict[str, Any]:
    """Result of a call of a tool."""
    answer = post(client, "tools/call", headers, name=tool, arguments=arguments)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result
