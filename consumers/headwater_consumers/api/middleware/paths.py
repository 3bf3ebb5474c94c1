"""An escaped slash in a path stays a part of its name.

A server hands paths on unescaped, so that `kafka%3A%2F%2Fbroker%2Forders` couldn't be told from four segments. Below
the API's path, routes see the path as it was sent, and parameters are unescaped one by one (`parameters.unescaped`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Paths:
    """Routes by the path as it was sent.

    Args:
        app: what follows.
        below: the path below which this is done.
    """

    def __init__(self, app: ASGIApp, below: str) -> None:
        self._app = app
        self._below = below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "http" and scope["path"].startswith(self._below):
            raw = scope.get("raw_path")
            scope["path"] = raw.decode("latin-1") if raw is not None else quote(scope["path"])
        await self._app(scope, receive, send)
