"""Connections of the HTTP server: deadlines, limits and closing.

uvicorn alone sets no time limits for the head of a request, its body and the reading of its answer, and accepts any
number of connections. This module adds limits:

- a head that is incomplete `head_timeout_seconds` after its connection was opened (or, on a kept-alive connection,
  after its first byte) is answered 408;
- a connection is aborted if the client reads nothing of its answer for `send_timeout_seconds`;
- there are at most `connections_max` connections, `connections_per_client_max` of them from one address (for IPv6, from
  one /64). A further connection replaces the one that has been idle for longest. If none is idle, a few more are
  accepted only for `/livez`, `/readyz` and `/metrics`;
- if a request is answered before its body was read, the connection stays half open until the client has read the
  answer. TCP would reset a connection that is closed with unread bytes, and the client would never see the answer.

`middleware.bodies` limits the time for bodies.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Any, cast

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from headwater_server.identity.certificates import PEER_CERTIFICATE
from headwater_server.problems import ProblemType, problem
from headwater_server.settings import ServeSettings

log = logging.getLogger("headwater.serve")

HEALTH_PATHS = frozenset({"/livez", "/readyz", "/metrics"})
RESERVED = 8
"""Number of connections beyond `connections_max`, only for `HEALTH_PATHS`."""

# Limits after an early answer: bytes that the client may still send, and seconds until its connection is aborted.
_LINGER_BYTES = 67_108_864
_LINGER_SECONDS = 5.0
# Plain text, not a problem document: there is no complete request yet.
_LATE = b"The head of the request didn't arrive in time."
_TOO_SLOW = b"\r\n".join(
    (
        b"HTTP/1.1 408 Request Timeout",
        b"Content-Type: text/plain; charset=utf-8",
        b"Content-Length: %d" % len(_LATE),
        b"Connection: close",
        b"",
        _LATE,
    )
)


@dataclass
class Connections:
    """Connections of a server, with their limits.

    Attributes:
        most: maximum number of connections; less than `connections_max` if the process may not open that many files.
        waiting: idle connections, the longest idle first.
        refused: number of connections that were closed at once, because all connections were in use.
        evicted: number of idle connections closed in favour of others.
        late: number of connections whose head didn't arrive in time, or that didn't read their answer.
    """

    settings: ServeSettings
    most: int
    counts: Counter[str] = field(default_factory=Counter)
    waiting: OrderedDict[Connection, None] = field(default_factory=OrderedDict)
    refused: int = 0
    evicted: int = 0
    late: int = 0

    def admit(self, client: str) -> bool:
        """Count a new connection; if there are too many, close an idle connection in its favour.

        Returns:
            True if the connection may request anything; False for a connection of the reserve.
        """
        self.counts[client] += 1
        if self.counts[client] > self.settings.connections_per_client_max and not self._evict(client):
            return False
        return self.counts.total() <= self.most or self._evict(None)

    def full(self) -> bool:
        """True when all connections are in use, including the reserve."""
        return self.counts.total() > self.most + RESERVED

    def forget(self, client: str) -> None:
        """Uncount a closed connection of a client."""
        self.counts[client] -= 1
        if not self.counts[client]:
            del self.counts[client]

    def _evict(self, client: str | None) -> bool:
        found = next((each for each in self.waiting if client in (None, each.of)), None)
        if found is None:
            return False
        self.evicted += 1
        found.evict()
        return True


class Connection(H11Protocol):
    """One connection, as uvicorn drives it, within the limits of `Connections`."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.of = ""
        self._all = connections
        self._settings = connections.settings
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None
        self._unsent = 0
        self._counted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept or refuse the new connection."""
        super().connection_made(cast("asyncio.Transport", _Lingering(transport, self)))
        if (certificate := transport.get_extra_info("peercert")) is not None:
            # The `state` of each request is a copy of this dict.
            self.app_state = {**self.app_state, PEER_CERTIFICATE: certificate}
        self.of = network_of(self.client[0]) if self.client else ""
        self._counted = True
        if not self._all.admit(self.of):
            if self._all.full():
                self._all.refused += 1
                log.warning(
                    "%d connections are open, all with requests under way; further connections are closed.",
                    self._all.most,
                )
                transport.abort()
                return
            self.app = cast("Any", _HealthOnly(cast("ASGIApp", self.app)))
        self._all.waiting[self] = None
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers and uncount the connection."""
        super().connection_lost(exc)
        for timer in (self._head_timer, self._send_timer, cast("_Lingering", self.transport).timer):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()
        self._leave()

    def data_received(self, data: bytes) -> None:
        """Feed received bytes to the parser. Bytes that arrive after the response is complete are discarded."""
        if self.transport.is_closing():
            cast("_Lingering", self.transport).discard(len(data))
            return
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._idle():
            if self.timeout_keep_alive_task is None:
                self._expect_head()
        else:
            self._all.waiting.pop(self, None)
            self._cancel_head_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request; close the connection if this request's body wasn't completely read."""
        unread = self.conn.their_state is h11.SEND_BODY
        self._all.waiting[self] = None
        super().on_response_complete()
        if unread:
            self.transport.close()
        elif not self._idle():  # a pipelined request
            self._all.waiting.pop(self, None)

    def pause_writing(self) -> None:
        """Start the send timer: the client reads its answer slower than it is written."""
        super().pause_writing()
        self._unsent = self.transport.get_write_buffer_size()
        self._send_timer = self.loop.call_later(self._settings.send_timeout_seconds, self._check_sending)

    def resume_writing(self) -> None:
        """Stop the send timer: the client has read most of its answer."""
        super().resume_writing()
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def evict(self) -> None:
        """Close this idle connection in favour of a new one."""
        # Uncounted now, not when it is closed: the loop may accept many more connections before that.
        self._leave()
        self._give_up()

    def _leave(self) -> None:
        self._all.waiting.pop(self, None)
        if self._counted:
            self._counted = False
            self._all.forget(self.of)

    def _idle(self) -> bool:
        # By uvicorn's type the cycle is never None; before the first request it is None.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self._settings.head_timeout_seconds, self._head_is_late)

    def _cancel_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._all.late += 1
        if not self.transport.is_closing() and self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TOO_SLOW)
        self._give_up()

    def _check_sending(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        if unsent >= self._unsent:
            self._all.late += 1
            self._give_up()
            return
        self._unsent = unsent
        self._send_timer = self.loop.call_later(self._settings.send_timeout_seconds, self._check_sending)

    def _give_up(self) -> None:
        cast("_Lingering", self.transport).cut()


class _Lingering:
    """Transport whose `close` lets the client read the written answer, even if the client is still sending."""

    def __init__(self, transport: asyncio.Transport, connection: Connection) -> None:
        self._transport = transport
        self._connection = connection
        self.timer: asyncio.TimerHandle | None = None
        self._discarded = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """True when nothing more is written to the connection."""
        return self.timer is not None or self._transport.is_closing()

    def close(self) -> None:
        """Write the rest and end writing; discard a body that is still arriving."""
        if self.is_closing():
            return
        their_state = self._connection.conn.their_state
        if their_state not in (h11.SEND_BODY, h11.ERROR):
            self._transport.close()
            return
        self.timer = self._connection.loop.call_later(_LINGER_SECONDS, self._transport.abort)
        # TLS can't close only one direction; its client finds the end of the answer by the length.
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._transport.resume_reading()

    def discard(self, received: int) -> None:
        """Count bytes that arrived after the end; abort at the limit."""
        self._discarded += received
        if self._discarded > _LINGER_BYTES:
            self._transport.abort()

    def cut(self) -> None:
        """Close now. Buffered data that can't be sent at once is lost."""
        # A regular close of TLS would wait for the client to close, too.
        if self._transport.get_write_buffer_size() or not self._transport.can_write_eof():
            self._transport.abort()
        else:
            self._transport.close()


class _HealthOnly:
    """ASGI app for connections of the reserve: serves health checks and refuses all other requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in HEALTH_PATHS:
            busy = problem(
                ProblemType.BUSY, "All connections have requests under way.", headers={"Connection": "close"}
            )
            await busy(scope, receive, send)
            return
        await self._app(scope, receive, send)


def network_of(address: str) -> str:
    """Return the client of an address: the address itself; for IPv6 its /64 network, which one machine may own."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
