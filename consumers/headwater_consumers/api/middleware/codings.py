"""Whether an answer may be compressed, as RFC 9110 §12.5.3 reads `Accept-Encoding`.

What compresses next looks for the word gzip alone, which `gzip;q=0` has as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_NAME = b"accept-encoding"


class Codings:
    """Hands `Accept-Encoding` on as `gzip`, or not at all."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "http":
            said = ",".join(Headers(scope=scope).getlist("accept-encoding"))
            others = [(name, value) for name, value in scope["headers"] if name != _NAME]
            # In place: what counts requests reads the route that the router writes into the scope.
            scope["headers"] = [*others, (_NAME, b"gzip")] if wants_gzip(said) else others
        await self._app(scope, receive, send)


def wants_gzip(said: str) -> bool:
    """`gzip`, `br, gzip;q=0.5` and `*` do; nothing, `gzip;q=0` and `identity, gzip;q=0.5` don't."""
    weights: dict[str, float] = {}
    for item in said.lower().split(","):
        coding, _, parameters = item.partition(";")
        weights[coding.strip()] = _weight(parameters)
    gzip = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weight(parameters: str) -> float:
    """Of `q=0.5`; 1 where there is none, 0 where it is no weight: what can't be read isn't agreed to."""
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    try:
        weight = float(value.strip()) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
