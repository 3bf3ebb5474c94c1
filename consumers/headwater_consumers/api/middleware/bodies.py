"""No body larger than allowed, whatever its `Content-Length` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from headwater_consumers.api.problems import ProblemType, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _TooLargeError(Exception):
    """More has come than may."""


class Bodies:
    """Refuses larger ones, and closes the connection: the rest isn't read.

    Args:
        app: what follows.
        most_bytes: the largest body.
    """

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said = Headers(scope=scope).get("content-length", "")
        received = int(said) if said.isdecimal() and len(said) < 20 else 0
        if received <= self._most:
            received = 0

            async def counted() -> Message:
                nonlocal received
                message = await receive()
                received += len(message.get("body", b""))
                if received > self._most:
                    raise _TooLargeError
                return message

            async def unless_too_large(message: Message) -> None:
                # The framework tells of an error while it reads the body in its own way; ours is told instead.
                if received <= self._most:
                    await send(message)

            try:
                await self._app(scope, counted, unless_too_large)
            except Exception:
                if received <= self._most:
                    raise
        if received > self._most:
            refusal = problem(
                ProblemType.TOO_LARGE,
                f"A body may have {self._most:,} bytes (HEADWATER_SERVE_BODY_MAX_BYTES).",
                headers={"Connection": "close"},
            )
            await refusal(scope, receive, send)
