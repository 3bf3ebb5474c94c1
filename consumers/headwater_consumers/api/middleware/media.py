"""Bodies are JSON as it is: other media types and codings are refused, rather than misread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from headwater_consumers.api.problems import ProblemType, problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Media:
    """Answers 415 to a body of another type.

    Args:
        app: what follows.
        below: the path under which it does.
    """

    def __init__(self, app: ASGIApp, below: str) -> None:
        self._app = app
        self._below = f"{below}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(self._below):
            why = _refusal(Headers(scope=scope))
            if why is not None:
                headers = {"Accept-Post": "application/json", "Connection": "close"}
                await problem(ProblemType.MEDIA_TYPE, why, headers=headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refusal(headers: Headers) -> str | None:
    """Why a body isn't taken; None where it is, or there is none."""
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return None
    coding = headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        return f"A body is taken as it is, not as {coding[:80]}: leave `Content-Encoding` out."
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
        return f"A body is JSON: say `Content-Type: application/json`, not {media[:80] or 'nothing'}."
    return None
