"""The app behind a socket, until it is stopped.

Stopping, in this order: no new connections; requests under way go on for `serve.drain_seconds`, then they are answered
503; the driver is closed. A question that is still being asked then holds the process until its time limit ends it.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

import uvicorn

from headwater_consumers.analysis.errors import GraphUnreachableError
from headwater_consumers.api.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

    from headwater_consumers.api.asking import Graph

# A name of 10 KB, every byte of it escaped, eight times over. What is longer is answered 400 before we see it.
_LONGEST_HEAD_BYTES = 262_144
_BACKLOG = 128
_CHECK_SECONDS = 5.0


class Server:
    """Listens from the start, serves in `run`.

    Args:
        graph: to ask; its driver is closed with this object.
        app: what answers; by default `create_app(graph)`.

    Raises:
        OSError: the address can't be listened on.
    """

    def __init__(self, graph: Graph, app: ASGIApp | None = None) -> None:
        self._graph = graph
        self._socket = _listening(graph.serve.host, graph.serve.port)
        self._server = _Uvicorn(
            uvicorn.Config(
                app or create_app(graph),
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                h11_max_incomplete_event_size=_LONGEST_HEAD_BYTES,
                timeout_graceful_shutdown=graph.serve.drain_seconds,
            )
        )

    @property
    def url(self) -> str:
        """Where it is reached."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def check(self) -> bool:
        """Whether Neo4j answers now; that it doesn't is no reason not to serve.

        Raises:
            GraphRefusedError: it refuses user, password or database, and goes on doing so until a setting is changed.
        """
        try:
            self._graph.reader().read(lambda tx: tx.rows("service/ping"), timeout_seconds=_CHECK_SECONDS)
        except GraphUnreachableError:
            return False
        return True

    def run(self) -> None:
        """Serve until `stop`."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Drain and end; from any thread or signal handler."""
        self._server.should_exit = True

    def close(self) -> None:
        """Let go of the port and the connections to Neo4j."""
        self._socket.close()
        self._graph.driver.close()


class _Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the command, which ends with status 0; uvicorn would raise them again afterwards."""
        yield


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A server that is started again needn't wait for the last one's connections to be forgotten.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
