"""Server of the app.

A stop has three steps. No new connections are accepted. Current requests continue for `serve.drain_seconds`, then they
are answered 503. The driver is closed. A question that is still running then keeps the process alive until its time
limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
from collections.abc import Iterator
from functools import partial
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from headwater_analysis.errors import GraphUnreachableError, TimeLimitError
from headwater_server.app import create_app
from headwater_server.asking import Graph
from headwater_server.connections import RESERVED, Connection, Connections
from headwater_server.identity import SERVER
from headwater_server.settings import ServeSettings
from headwater_server.tls import HANDSHAKES_MAX, ServerTls, TlsConnections

log = logging.getLogger("headwater.serve")

# Room for eight names of 10 KB, all bytes escaped. uvicorn answers longer heads with 400.
_LONGEST_HEAD_BYTES = 262_144
_BACKLOG = 128
_CHECK_SECONDS = 5.0
# Open files besides clients' connections: Neo4j's connections, log, libraries, and connections that one turn of the
# loop accepts before they can be refused.
_OTHER_FILES = 128 + 2 * _BACKLOG
_FEWEST_CONNECTIONS = 16


class HttpServer:
    """HTTP server of the app: listens from its creation on, serves requests in `run`.

    Args:
        graph: the graph that requests query; `close` closes its driver.
        app: the ASGI app; by default `create_app(graph)`.
        tls: TLS of all connections; None: plain HTTP.

    Raises:
        OSError: the server can't listen on the address.
    """

    def __init__(self, graph: Graph, app: ASGIApp | None = None, tls: ServerTls | None = None) -> None:
        self._graph = graph
        self._socket = _listening(graph.serve.host, graph.serve.port)
        self.connections = Connections(graph.serve, _connections_max(graph.serve, tls))
        self.tls_connections = None if tls is None else TlsConnections(self.connections, tls)
        protocol = self.tls_connections or partial(Connection, connections=self.connections)
        self._server = _Uvicorn(
            self.tls_connections,
            uvicorn.Config(
                app or create_app(graph),
                http=cast("type[asyncio.Protocol]", protocol),
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=_BACKLOG,
                h11_max_incomplete_event_size=_LONGEST_HEAD_BYTES,
                timeout_keep_alive=graph.serve.keep_alive_seconds,
                timeout_graceful_shutdown=graph.serve.drain_seconds,
            ),
        )

    @property
    def url(self) -> str:
        """URL of the server."""
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if self.tls_connections is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def check(self) -> bool:
        """Return True if Neo4j answers now. If it doesn't, or is slow, the server may start nevertheless.

        Raises:
            GraphRefusedError: Neo4j refuses user, password or database, or its graph is of another version. This lasts
                until a setting is changed.
        """
        try:
            self._graph.reader(SERVER).read(lambda tx: tx.rows("service/ping"), timeout_seconds=_CHECK_SECONDS)
        except (GraphUnreachableError, TimeLimitError):
            return False
        return True

    def run(self) -> None:
        """Serve until `stop`."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let current requests finish, then end. Safe from any thread and signal handler."""
        self._server.should_exit = True

    def close(self) -> None:
        """Close the socket and the connections to Neo4j."""
        self._socket.close()
        self._graph.driver.close()


class _Uvicorn(uvicorn.Server):
    def __init__(self, tls: TlsConnections | None, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._tls = tls

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down; handshakes in progress are aborted, not waited for."""
        if self._tls is not None:
            self._tls.abort()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command, which exits with status 0; uvicorn would raise them again afterwards."""
        yield


def _connections_max(settings: ServeSettings, tls: ServerTls | None) -> int:
    """Return the number of connections that the process may hold; raise the process's limit of open files if allowed.

    A server without free files can't even refuse connections: they stay in the queue, and the event loop spins.
    """
    handshakes = 0 if tls is None else HANDSHAKES_MAX
    wanted = settings.connections_max + RESERVED + settings.threads + _OTHER_FILES + handshakes
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return settings.connections_max
    granted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    possible = min(settings.connections_max, max(_FEWEST_CONNECTIONS, settings.connections_max - (wanted - soft)))
    if possible < settings.connections_max:
        log.warning(
            "At most %d connections are accepted, not the %d of HEADWATER_SERVE_CONNECTIONS_MAX: the process can open "
            "only %d files. Raise the process's limit (`ulimit -n`, `LimitNOFILE=`).",
            possible,
            settings.connections_max,
            soft,
        )
    return possible


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A restarted server needn't wait until the system has forgotten the previous server's connections.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
