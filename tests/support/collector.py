"""An OpenLineage collector for tests: keeps what it is sent, and answers as it is set to."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.waiting import patience

Answer = tuple[int, Mapping[str, str]]


class TestCollector(ThreadingHTTPServer):
    """Listens on a free port of this machine.

    Attributes:
        answers: for the next requests, one each; then 201. A status of 0 closes the connection without an answer.
        bodies: of the requests that were answered 2xx.
        requests: path and headers of all.
    """

    __test__ = False
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: deque[Answer] = deque()
        self.bodies: list[bytes] = []
        self.requests: list[tuple[str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is turned away is not logged."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: TestCollector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers)))
        status, headers = self.server.answers.popleft() if self.server.answers else (201, {})
        if not status:
            self.close_connection = True
            return
        if 200 <= status < 300:
            self.server.bodies.append(body)
        answer = b"the answer"
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


@contextlib.contextmanager
def collecting(tls: ssl.SSLContext | None = None) -> Iterator[TestCollector]:
    """A collector that is gone at the end of the block."""
    server = TestCollector()
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(patience(10))
        server.server_close()
