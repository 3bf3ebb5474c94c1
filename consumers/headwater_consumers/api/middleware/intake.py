"""The door for events: who may send them, how many at a time, and their bodies, unpacked.

It is apart from that of questions. Before a byte of a body is read, these have to hold: events are accepted here, the
sender has a token, there is room. A body is read whole; with all others together it takes no more than
`serve.intake_buffer_max_bytes`, packed and unpacked, until its request is answered.
"""

from __future__ import annotations

import asyncio
import hmac
import zlib
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers

from headwater_consumers.api.metrics import IntakeMetrics
from headwater_consumers.api.middleware.bodies import CLOSE, READ, in_one_piece
from headwater_consumers.api.problems import ProblemType, problem
from headwater_consumers.api.settings import ServeSettings

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

ONE = "/lineage"
BATCH = "/lineage/batch"
LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})

# To unpack more than this takes longer than a change of threads.
_INLINE_BYTES = 65_536
_INLINE_UNPACKED_BYTES = 1_048_576
_PIECE_BYTES = 262_144


class Intake:
    """Lets events in, or answers why not.

    Args:
        app: what follows; it gets the body in one piece, unpacked.
        below: the path of the API.
        limits: the settings.
        open_: whether events are accepted.
        metrics: what it counts on.
    """

    def __init__(self, app: ASGIApp, *, below: str, limits: ServeSettings, open_: bool, metrics: IntakeMetrics) -> None:
        self._app = app
        self._paths = {f"{below}{ONE}": False, f"{below}{BATCH}": True}
        self._limits = limits
        self._tokens = limits.intake_tokens()
        self._open = open_
        self._metrics = metrics
        self._under_way = 0  # one event loop, so nothing comes in between
        self._held_bytes = 0
        self._unpacking = CapacityLimiter(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers, batch=self._paths[scope["path"]])
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
            except _GoneError:
                return
            scope[READ] = True
            await self._app(scope, in_one_piece(whole, receive), send)
        finally:
            self._under_way -= 1
            self._held_bytes -= body.held

    async def _whole(self, headers: Headers, body: _Body, receive: Receive) -> bytes:
        """The body, unpacked.

        Raises:
            _RefusedError: it is too large, too slow or broken, or there is no room for it.
            _GoneError: the client went.
        """
        try:
            async with asyncio.timeout(self._limits.body_timeout_seconds):
                whole = await body.read(receive)
        except TimeoutError:
            seconds = self._limits.body_timeout_seconds
            detail = f"A body has {seconds:g} s to arrive (HEADWATER_SERVE_BODY_TIMEOUT_SECONDS)."
            raise _RefusedError(problem(ProblemType.TOO_SLOW, detail, headers=CLOSE)) from None
        if headers.get("content-encoding", "identity").strip().lower() == "identity":
            return whole
        return await self._unpacked(whole, body)

    def _refusal(self, headers: Headers, *, batch: bool) -> Response | None:
        """Why a request's body isn't even read; None: it is."""
        limits = self._limits
        if not self._open:
            return problem(
                ProblemType.NO_SUCH_PATH,
                "Events are not accepted here; HEADWATER_SERVE_INTAKE=true would accept them.",
                headers=CLOSE,
            )
        if self._tokens and not self._known(headers.get("authorization", "")):
            self._metrics.unauthorized()
            return problem(
                ProblemType.TOKEN,
                "Send `Authorization: Bearer …` with the token of HEADWATER_SERVE_INTAKE_TOKEN.",
                headers={"WWW-Authenticate": 'Bearer realm="lineage"', **CLOSE},
            )
        media = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_json = media == "application/json" or (media.startswith("application/") and media.endswith("+json"))
        if not is_json and not (batch and media in LINES):
            return problem(
                ProblemType.MEDIA_TYPE,
                f"Events are JSON: say `Content-Type: application/json`, not {media[:80] or 'nothing'}.",
                headers={"Accept-Post": "application/json" + ", application/x-ndjson" * batch, **CLOSE},
            )
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding not in {"identity", "gzip", "x-gzip"}:
            return problem(
                ProblemType.MEDIA_TYPE,
                f"Events are taken as they are or as gzip, not as {coding[:80]}.",
                headers={"Accept-Encoding": "gzip", **CLOSE},
            )
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > limits.intake_body_max_bytes:
            return self.too_large()
        if self._under_way >= limits.intake_requests_max:
            self._metrics.busy()
            return problem(
                ProblemType.BUSY,
                f"{limits.intake_requests_max} requests with events are under way "
                "(HEADWATER_SERVE_INTAKE_REQUESTS_MAX); send again a little later.",
                headers=CLOSE,
            )
        return None

    def _known(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        given = token.strip().encode("latin-1", "replace")
        # Each is compared, so that the time taken says nothing of any.
        found = [hmac.compare_digest(given, known) for known in self._tokens]
        return scheme.lower() == "bearer" and any(found)

    def hold(self, count: int) -> None:
        """So many more bytes of bodies are in memory.

        Raises:
            _RefusedError: they would be too many.
        """
        if self._held_bytes + count > self._limits.intake_buffer_max_bytes:
            self._metrics.busy()
            raise _RefusedError(
                problem(
                    ProblemType.BUSY,
                    f"Bodies of {self._limits.intake_buffer_max_bytes:,} bytes are being taken "
                    "(HEADWATER_SERVE_INTAKE_BUFFER_MAX_BYTES); send again a little later.",
                    headers=CLOSE,
                )
            )
        self._held_bytes += count

    def too_large(self) -> Response:
        """The answer to a body that is larger than it may be."""
        return problem(
            ProblemType.TOO_LARGE,
            f"A body of events may have {self._limits.intake_body_max_bytes:,} bytes, also once it is unpacked "
            "(HEADWATER_SERVE_INTAKE_BODY_MAX_BYTES).",
            headers=CLOSE,
        )

    @property
    def most_bytes(self) -> int:
        """Of one body."""
        return self._limits.intake_body_max_bytes

    async def _unpacked(self, packed: bytes, body: _Body) -> bytes:
        most = self._limits.intake_body_max_bytes
        try:
            if len(packed) <= _INLINE_BYTES:
                # The most that it may become is held before a byte of it is there; what it doesn't is given back.
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
                problem(ProblemType.MEDIA_TYPE, f"The body is not gzip, as `Content-Encoding` says: {error}.")
            ) from error
        if whole is None:
            raise _RefusedError(self.too_large())
        body.give_back(most - len(whole))
        return whole

    def give_back(self, count: int) -> None:
        """So many bytes are in memory no more."""
        self._held_bytes -= count


class _Body:
    """A body, and how many bytes it holds of what all may."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.held = 0

    def hold(self, count: int) -> None:
        self._intake.hold(count)
        self.held += count

    def give_back(self, count: int) -> None:
        self._intake.give_back(count)
        self.held -= count

    async def read(self, receive: Receive) -> bytes:
        whole = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _GoneError
            piece = message.get("body", b"")
            self.hold(len(piece))
            whole += piece
            if len(whole) > self._intake.most_bytes:
                raise _RefusedError(self._intake.too_large())
            if not message.get("more_body", False):
                return bytes(whole)


class _RefusedError(Exception):
    """The body isn't taken.

    Attributes:
        answer: why.
    """

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


class _GoneError(Exception):
    """The client went before its body was whole."""


def unpacked(packed: bytes, *, most: int) -> bytes | None:
    """The content of gzip's bytes, of all members; None where it is larger than `most`. Never holds much more.

    Raises:
        zlib.error: it isn't gzip.
        EOFError: it ends too early.
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
