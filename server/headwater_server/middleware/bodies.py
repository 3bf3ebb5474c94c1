"""Reader of complete JSON bodies before the request is handled, with limits of size and time.

A request whose body is still arriving doesn't count as a waiting question. Media types and codings other than plain
JSON are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater_server.connections import network_of
from headwater_server.problems import ProblemType, problem

READ = "headwater.body_read"
"""Key in a request's scope, set if `middleware.intake` has read the body: the request isn't a question."""

# The rest of the body isn't read: `connections` discards it.
CLOSE = {"Connection": "close"}


class Bodies:
    """Reads the body, or answers with the reason of refusal.

    Args:
        app: the next app; it gets the body in one piece.
        seconds: longest time that a body may take to arrive.
        most: maximum number of bodies that arrive at the same time. For a further body, the oldest one is dropped: a
            body usually follows its head at once, so an old one is more likely malicious.
        most_of_client: maximum number of bodies from one address.
    """

    def __init__(self, app: ASGIApp, *, most_bytes: int, seconds: float, most: int, most_of_client: int) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._most = most
        self._most_of_client = most_of_client
        # The oldest first.
        self._arriving: dict[asyncio.Timeout, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http" or scope.get(READ) or not has_body(headers := Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > self._most_bytes:
            await self._too_large()(scope, receive, send)
            return
        timeout = asyncio.timeout(self._seconds)
        try:
            async with timeout:
                self._make_room(timeout, network_of(scope["client"][0]) if scope.get("client") else "")
                try:
                    body = await read_whole(receive, self._most_bytes)
                finally:
                    del self._arriving[timeout]
        except TimeoutError:
            refusal = problem(
                ProblemType.TOO_SLOW,
                f"A body has {self._seconds:g} s to arrive (HEADWATER_SERVE_BODY_TIMEOUT_SECONDS), or less if more "
                f"than {self._most_of_client} bodies arrive from one address at the same time "
                "(HEADWATER_SERVE_BODIES_PER_CLIENT_MAX).",
                headers=CLOSE,
            )
            await refusal(scope, receive, send)
            return
        except BodyTooLargeError:
            await self._too_large()(scope, receive, send)
            return
        except ClientGoneError:
            return
        await self._app(scope, in_one_piece(body, receive), send)

    def _make_room(self, timeout: asyncio.Timeout, client: str) -> None:
        theirs = [each for each, of in self._arriving.items() if of == client]
        if len(theirs) >= self._most_of_client:
            self._give_up(theirs[0])
        elif len(self._arriving) >= self._most:
            self._give_up(next(iter(self._arriving)))
        self._arriving[timeout] = client

    def _give_up(self, timeout: asyncio.Timeout) -> None:
        if not timeout.expired():
            timeout.reschedule(asyncio.get_running_loop().time())

    def _too_large(self) -> Response:
        return problem(
            ProblemType.TOO_LARGE,
            f"A body can have at most {self._most_bytes:,} bytes (HEADWATER_SERVE_BODY_MAX_BYTES).",
            headers=CLOSE,
        )


class BodyTooLargeError(Exception):
    """The body is larger than the limit."""


class ClientGoneError(Exception):
    """The client disconnected before its body was whole."""


async def read_whole(receive: Receive, most_bytes: int, hold: Callable[[int], None] = lambda _: None) -> bytes:
    """Read a body to its end.

    Args:
        receive: source of the body's pieces.
        hold: called with the size of each piece before it is kept; an exception ends the reading.

    Raises:
        BodyTooLargeError: the body is larger than `most_bytes`.
        ClientGoneError: the client disconnected.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        piece = message.get("body", b"")
        hold(len(piece))
        body += piece
        if len(body) > most_bytes:
            raise BodyTooLargeError
        if not message.get("more_body", False):
            return bytes(body)


def has_body(headers: Headers) -> bool:
    """True when a request has a body."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def media_type(headers: Headers) -> str:
    """Media type of a body, in lower case and without parameters; empty if not stated."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(media: str) -> bool:
    """Return True for `application/json` and types based on it, such as `application/ld+json`."""
    return media == "application/json" or (media.startswith("application/") and media.endswith("+json"))


def content_coding(headers: Headers) -> str:
    """Content coding of a body, in lower case; `identity` if not stated."""
    return headers.get("content-encoding", "identity").strip().lower()


def in_one_piece(body: bytes, receive: Receive) -> Receive:
    """Make the `receive` of the next app, which returns the read body in one message."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_whole() -> Message:
        return left.pop() if left else await receive()

    return receive_whole


class Media:
    """Answers 415 to a body that isn't plain JSON.

    Args:
        below: path; only bodies of requests below this path are checked.
    """

    def __init__(self, app: ASGIApp, below: str) -> None:
        self._app = app
        self._below = f"{below}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        of_question = scope["type"] == "http" and not scope.get(READ)
        if of_question and scope["method"] == "POST" and scope["path"].startswith(self._below):
            why = _refusal(Headers(scope=scope))
            if why is not None:
                headers = {"Accept-Post": "application/json", "Connection": "close"}
                await problem(ProblemType.MEDIA_TYPE, why, headers=headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refusal(headers: Headers) -> str | None:
    """Reason for refusing a request's body, from its headers; None if the body is accepted or absent."""
    if not has_body(headers):
        return None
    coding = content_coding(headers)
    if coding != "identity":
        return f"A body has to be uncompressed, not {coding[:80]}: leave `Content-Encoding` out."
    media = media_type(headers)
    if not is_json(media):
        return f"A body has to be JSON: send `Content-Type: application/json`, not {media[:80] or 'nothing'}."
    return None
