"""An error nobody foresaw becomes a problem; the log gets all of it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING

from headwater_consumers.api.problems import ProblemType, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("headwater.serve")


class Unforeseen:
    """Answers 500 where nothing was answered yet.

    Else the connection is closed, so that half an answer isn't taken for a whole one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            # The server is being stopped, and waited for this as long as it does.
            if begun:
                raise
            await problem(ProblemType.BUSY, "The server is being stopped.")(scope, receive, send)
        except Exception:
            instance = uuid.uuid4().urn
            log.exception("%s: %s %.200s", instance, scope["method"], scope["path"])
            if begun:
                raise
            answer = problem(
                ProblemType.DEFECT, "The server failed at this; its log has it under `instance`.", instance=instance
            )
            await answer(scope, receive, send)
