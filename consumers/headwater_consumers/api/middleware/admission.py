"""No more questions at once than allowed: beyond them, saying so at once is kinder than a queue without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.api.problems import ProblemType, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Admission:
    """Lets so many requests below a path be under way, waiting ones included.

    Args:
        app: what follows.
        below: the path; others aren't counted.
        most: how many.
    """

    def __init__(self, app: ASGIApp, below: str, most: int) -> None:
        self._app = app
        self._below = below
        self._most = most
        self._under_way = 0  # one event loop, so nothing comes in between

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http" or not scope["path"].startswith(self._below):
            await self._app(scope, receive, send)
            return
        if self._under_way >= self._most:
            refusal = problem(
                ProblemType.BUSY, f"{self._most} questions are being answered or wait; ask again a little later."
            )
            await refusal(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
