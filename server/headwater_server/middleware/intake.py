"""Admission of requests with events, declarations or actions on incidents, and their unpacked bodies.

Each of the three needs its own scope (`middleware.identify`). One setting enables events; another one enables
declarations and actions. Before a byte of a body is read, the server must accept such data and have room for the body.
Bodies are read whole. All bodies together, packed and unpacked, take at most `serve.intake_buffer_max_bytes` until
their requests are answered.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater_server.metrics import IntakeMetrics, RequestRejection
from headwater_server.middleware.bodies import (
    CLOSE,
    READ,
    BodyTooLargeError,
    ClientGoneError,
    content_coding,
    in_one_piece,
    is_json,
    media_type,
    read_whole,
)
from headwater_server.problems import ProblemType, problem
from headwater_server.settings import ServeSettings

ONE = "/lineage"
BATCH = "/lineage/batch"
DECLARATIONS = "/declarations"
INCIDENTS = "/incidents"
ACTIONS = "/incidents/{id}/actions"
LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
YAML = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})

# Unpacking more bytes takes longer than a change of threads.
_INLINE_BYTES = 65_536
_INLINE_UNPACKED_BYTES = 1_048_576
_PIECE_BYTES = 262_144


@dataclass(frozen=True, slots=True)
class Door:
    """Path that accepts data.

    Attributes:
        what: name of the data, as the beginning of a sentence: "Events".
        open: True if the server accepts this data.
        setting: name of the setting that enables the path.
        media: accepted media types of the body besides JSON.
        words: accepted types of the body, for people.
    """

    what: str
    open: bool
    setting: str
    media: frozenset[str]
    words: str


def doors(below: str, limits: ServeSettings, *, has_sink: bool) -> dict[str, Door]:
    """Return the doors by path; `{id}` is a non-empty segment."""
    events = ("Events", limits.intake and has_sink, "HEADWATER_SERVE_INTAKE")
    declarations = ("Declarations", limits.declare and has_sink, "HEADWATER_SERVE_DECLARE")
    actions = ("Incidents", limits.declare and has_sink, "HEADWATER_SERVE_DECLARE")
    in_json = "JSON: send `Content-Type: application/json`"
    return {
        f"{below}{INCIDENTS}": Door(*actions, frozenset(), in_json),
        f"{below}{ACTIONS}": Door(*actions, frozenset(), in_json),
        f"{below}{ONE}": Door(*events, frozenset(), in_json),
        f"{below}{BATCH}": Door(*events, LINES, in_json),
        f"{below}{DECLARATIONS}": Door(
            *declarations, YAML, "YAML or JSON: send `Content-Type: application/yaml`, or `application/json`"
        ),
    }


@dataclass(frozen=True, slots=True)
class DirectRoute:
    """Route whose handler needs only the request's scope and body.

    Attributes:
        route: route of the path, for the metrics.
        answer: function from the scope and the body to the response.
    """

    route: BaseRoute
    answer: Callable[[Scope, bytes], Awaitable[Response]]


class IntakeGate:
    """Admits requests with data, or answers with the reason of refusal.

    Args:
        app: the next app; it gets the unpacked body in one piece.
        direct: handlers to call instead of `app`, by path. Requests with query parameters go to `app`, which refuses
            them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        direct: Mapping[str, DirectRoute],
        below: str,
        limits: ServeSettings,
        has_sink: bool,
        metrics: IntakeMetrics,
    ) -> None:
        self._app = app
        self._direct = direct
        self._doors = doors(below, limits, has_sink=has_sink)
        before, after = f"{below}{ACTIONS}".split("{id}")
        self._actions = re.compile(f"{re.escape(before)}[^/]+{re.escape(after)}"), self._doors[f"{below}{ACTIONS}"]
        self._limits = limits
        self._metrics = metrics
        self._under_way = 0  # one event loop, so no other request intervenes
        self._held_bytes = 0
        self._unpacking = CapacityLimiter(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        door = self._door(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if door is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers, door)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        self._under_way += 1
        body = _Body(self)
        try:
            try:
                whole = await self._whole(headers, body, receive)
            except _RefusedError as refused:
                await refused.answer(scope, receive, send)
                return
            except ClientGoneError:
                return
            direct = self._direct.get(scope["path"])
            if direct is not None and not scope.get("query_string"):
                scope["route"] = direct.route
                answer = await direct.answer(scope, whole)
                await answer(scope, receive, send)
                return
            scope[READ] = True
            await self._app(scope, in_one_piece(whole, receive), send)
        finally:
            self._under_way -= 1
            self._held_bytes -= body.held

    def _door(self, path: str) -> Door | None:
        pattern, actions = self._actions
        return self._doors.get(path) or (actions if pattern.fullmatch(path) else None)

    async def _whole(self, headers: Headers, body: _Body, receive: Receive) -> bytes:
        """Return the unpacked body.

        Raises:
            _RefusedError: the body is too large, too slow or broken, or there is no room for it.
            ClientGoneError: the client disconnected.
        """
        try:
            async with asyncio.timeout(self._limits.body_timeout_seconds):
                whole = await read_whole(receive, self._limits.intake_body_max_bytes, body.hold)
        except TimeoutError:
            seconds = self._limits.body_timeout_seconds
            detail = f"A body has {seconds:g} s to arrive (HEADWATER_SERVE_BODY_TIMEOUT_SECONDS)."
            raise _RefusedError(problem(ProblemType.TOO_SLOW, detail, headers=CLOSE)) from None
        except BodyTooLargeError:
            raise _RefusedError(self._too_large()) from None
        if content_coding(headers) == "identity":
            return whole
        return await self._unpacked(whole, body)

    def _refusal(self, headers: Headers, door: Door) -> Response | None:
        """Response that refuses a request before its body is read; None if the body should be read."""
        limits = self._limits
        if not door.open:
            return problem(
                ProblemType.NO_SUCH_PATH,
                f"{door.what} are not accepted here; with {door.setting}=true, this server would accept them.",
                headers=CLOSE,
            )
        media = media_type(headers)
        if not is_json(media) and media not in door.media:
            return problem(
                ProblemType.MEDIA_TYPE,
                f"{door.what} are {door.words}, not {media[:80] or 'nothing'}.",
                headers={"Accept-Post": ", ".join(["application/json", *sorted(door.media)]), **CLOSE},
            )
        coding = content_coding(headers)
        if coding not in {"identity", "gzip", "x-gzip"}:
            return problem(
                ProblemType.MEDIA_TYPE,
                f"{door.what} have to be uncompressed or gzip, not {coding[:80]}.",
                headers={"Accept-Encoding": "gzip", **CLOSE},
            )
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > limits.intake_body_max_bytes:
            return self._too_large()
        if self._under_way >= limits.intake_requests_max:
            self._metrics.rejected(RequestRejection.BUSY)
            return problem(
                ProblemType.BUSY,
                f"{limits.intake_requests_max} requests that write are under way "
                "(HEADWATER_SERVE_INTAKE_REQUESTS_MAX); send again a little later.",
                headers=CLOSE,
            )
        return None

    def hold(self, count: int) -> None:
        """Count more bytes of bodies in memory.

        Raises:
            _RefusedError: all bodies together would be too large.
        """
        if self._held_bytes + count > self._limits.intake_buffer_max_bytes:
            self._metrics.rejected(RequestRejection.BUSY)
            raise _RefusedError(
                problem(
                    ProblemType.BUSY,
                    f"Bodies of {self._limits.intake_buffer_max_bytes:,} bytes are in memory "
                    "(HEADWATER_SERVE_INTAKE_BUFFER_MAX_BYTES); send again a little later.",
                    headers=CLOSE,
                )
            )
        self._held_bytes += count

    def _too_large(self) -> Response:
        return problem(
            ProblemType.TOO_LARGE,
            f"A body can have at most {self._limits.intake_body_max_bytes:,} bytes, unpacked, too "
            "(HEADWATER_SERVE_INTAKE_BODY_MAX_BYTES).",
            headers=CLOSE,
        )

    async def _unpacked(self, packed: bytes, body: _Body) -> bytes:
        most = self._limits.intake_body_max_bytes
        try:
            if len(packed) <= _INLINE_BYTES:
                # The maximum is reserved before unpacking; the unused rest is released.
                body.hold(small := min(most, _INLINE_UNPACKED_BYTES))
                whole = unpacked(packed, most=small)
                body.give_back(small)
                if whole is not None:
                    body.hold(len(whole))
                    return whole
            body.hold(most)
            whole = await to_thread.run_sync(lambda: unpacked(packed, most=most), limiter=self._unpacking)
        except (zlib.error, EOFError) as error:
            raise _RefusedError(
                problem(ProblemType.MEDIA_TYPE, f"`Content-Encoding` is gzip, but the body isn't: {error}.")
            ) from error
        if whole is None:
            raise _RefusedError(self._too_large())
        body.give_back(most - len(whole))
        return whole

    def give_back(self, count: int) -> None:
        """Release reserved bytes."""
        self._held_bytes -= count


class _Body:
    """Body, with the bytes that it reserves from the common limit."""

    def __init__(self, intake: IntakeGate) -> None:
        self._intake = intake
        self.held = 0

    def hold(self, count: int) -> None:
        self._intake.hold(count)
        self.held += count

    def give_back(self, count: int) -> None:
        self._intake.give_back(count)
        self.held -= count


class _RefusedError(Exception):
    """The body is refused.

    Attributes:
        answer: response with the reason.
    """

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


def unpacked(packed: bytes, *, most: int) -> bytes | None:
    """Unpack all members of a gzip file with little more than `most` bytes of memory; None if the content is larger.

    Raises:
        zlib.error: the data isn't gzip.
        EOFError: the data ends too early.
    """
    whole = bytearray()
    while True:
        member = zlib.decompressobj(wbits=31)
        rest = packed
        while rest and not member.eof:
            whole += member.decompress(rest, min(_PIECE_BYTES, most + 1 - len(whole)))
            if len(whole) > most:
                return None
            rest = member.unconsumed_tail
        if not member.eof:
            raise EOFError("it ends before its end")
        packed = member.unused_data.lstrip(b"\0")
        if not packed:
            return bytes(whole)
