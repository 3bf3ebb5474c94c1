"""A service that takes messages over HTTP, on this machine, and answers as a test says."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.waiting import patience


@dataclass(slots=True)
class MessageService:
    """Whatever was sent to it.

    Attributes:
        place: host and port.
        posts: path and document of each request, in order.
        statuses: statuses of the next answers by path; then, and for other paths, 200.
    """

    place: str
    posts: list[tuple[str, Any]] = field(default_factory=list)
    statuses: dict[str, list[int]] = field(default_factory=dict)

    def taken(self) -> list[tuple[str, Any]]:
        """Requests since the last call."""
        found, self.posts = self.posts, []
        return found


@contextlib.contextmanager
def message_service() -> Iterator[MessageService]:
    """Run a service, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.posts.append((self.path, document))
            statuses = found.statuses.get(self.path)
            self.send_response(statuses.pop(0) if statuses else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = MessageService(f"127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join(patience(30))
