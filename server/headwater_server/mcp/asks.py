"""`Asks`: interface between the tools and the API that answers them.

`InProcess` asks an app of this process. Clients of a remote server implement the same protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote, urlencode

from starlette.types import ASGIApp, Message, Scope

from headwater_server.asking import REQUEST_ID, TOOL


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of an operation.

    Attributes:
        content: JSON document: the answer, or a problem.
    """

    status: int
    content: bytes


class Asks(Protocol):
    """Function that asks an operation of the API, for one call of a tool."""

    async def __call__(self, method: str, path: str, parameters: Sequence[tuple[str, str]], body: Any) -> Answer:
        """Ask an operation.

        Args:
            path: path below the server's URL, with escaped parameters.
            parameters: names and values of the query.
            body: content of the request's body; None without a body.
        """


_OF_THE_CARRIER = frozenset({b"connection", b"expect", b"range", b"te", b"trailer", b"transfer-encoding", b"upgrade"})
_OF_THE_MESSAGE = (b"accept", b"content-", b"if-", b"mcp-")
_KEPT = ("asgi", "http_version", "scheme", "server", "client", "root_path", "state", "extensions", REQUEST_ID)


class InProcess:
    """Asks an app of this process as the sender of another request (`Asks`).

    The question has the address, the client certificate and the headers of the other request, so that its credential
    counts. Headers about the body and the form of the answer are left out.

    Args:
        app: the whole app, with its middleware.
        sender: ASGI scope of the other request.
        tool: name of the tool, for the audit.
    """

    def __init__(self, app: ASGIApp, sender: Mapping[str, Any], tool: str) -> None:
        self._app = app
        self._sender = sender
        self._tool = tool

    async def __call__(self, method: str, path: str, parameters: Sequence[tuple[str, str]], body: Any) -> Answer:
        """Ask an operation without a body.

        Raises:
            ValueError: the question has a body, which isn't supported.
        """
        if body is not None:
            raise ValueError("a question in this process has no body")
        asked: Scope = {
            **{name: self._sender[name] for name in _KEPT if name in self._sender},
            "type": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "query_string": urlencode(parameters).encode("ascii"),
            "headers": [(name, value) for name, value in self._sender["headers"] if _is_kept(name)],
            TOOL: self._tool,
        }
        return await _answer(self._app, asked)


def _is_kept(header: bytes) -> bool:
    return header not in _OF_THE_CARRIER and not header.startswith(_OF_THE_MESSAGE)


async def _answer(app: ASGIApp, asked: Scope) -> Answer:
    status, content = 500, bytearray()
    unread: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]
    answered = asyncio.Event()

    async def receive() -> Message:
        if unread:
            return unread.pop()
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            content.extend(message.get("body", b""))
            if not message.get("more_body", False):
                answered.set()

    await app(asked, receive, send)
    return Answer(status, bytes(content))
