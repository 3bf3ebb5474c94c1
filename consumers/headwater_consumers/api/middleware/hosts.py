"""Only under a name of this server.

A web site may point a name of its own at 127.0.0.1, and a browser then takes this server for a part of that site (DNS
rebinding). Such a request has the site's name in `Host`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from headwater_consumers.api.problems import ProblemType, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Hosts:
    """Refuses requests for another host.

    Args:
        app: what follows.
        names: in lower case, without ports; None allows any.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str] | None) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "http" and self._names is not None:
            host = host_of(Headers(scope=scope).get("host", ""))
            if host not in self._names:
                refusal = problem(
                    ProblemType.HOST, "This server isn't called that; HEADWATER_SERVE_ALLOWED_HOSTS can name more."
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def host_of(header: str) -> str:
    """`Localhost:8470` ⇒ `localhost`, `[::1]:8470` ⇒ `::1`."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]
