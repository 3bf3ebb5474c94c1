"""A server on loopback that plays the gate of `headwater serve`, by the answer of its documented example."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from support.waiting import patience

EXAMPLE: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "server" / "headwater_server" / "examples" / "gate.json").read_text(encoding="utf-8")
)
HOLD: dict[str, Any] = EXAMPLE["answer"]["holds"][0]
NOT_FOUND = {"type": "urn:headwater:not-found", "title": "Not found", "status": 404, "nearest": []}

Scripted = tuple[int, dict[str, str], bytes]


class PlayedGate(ThreadingHTTPServer):
    """Gate that holds the datasets that a test names; every other one is free.

    Attributes:
        held: holds by dataset, spelled as it is asked about.
        partitions: of a held dataset, the partitions with bad data; without an entry all of them have some.
        unknown: datasets that the graph doesn't have.
        scripted: answers to the next questions, before all of these: status, headers, body.
        stalls: True: no question is answered before the server ends.
        questions: parameters of the questions so far.
        tokens: their Authorization.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.held: dict[str, list[dict[str, Any]]] = {}
        self.partitions: dict[str, set[str]] = {}
        self.unknown: set[str] = set()
        self.scripted: deque[Scripted] = deque()
        self.stalls = False
        self.questions: list[dict[str, str]] = []
        self.tokens: list[str | None] = []
        self.ends = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def asked(self) -> list[str]:
        """Datasets of the questions, with the partition behind a `#`."""
        return [each["dataset"] + (f"#{each['partition']}" if "partition" in each else "") for each in self.questions]

    def hold(self, path: Path, *partitions: str, **other: Any) -> None:
        """Let an incident hold a folder, or partitions of it; `other` replaces members of the documented hold."""
        name = folder(path)
        self.held[name] = [{**HOLD, **other}]
        if partitions:
            self.partitions[name] = set(partitions)

    def answer(self, question: dict[str, str]) -> Scripted:
        name, partition = question["dataset"], question.get("partition")
        if self.scripted:
            return self.scripted.popleft()
        if name in self.unknown:
            return 404, {"Content-Type": "application/problem+json"}, json.dumps(NOT_FOUND).encode()
        holds = self.held.get(name, [])
        if partition is not None and partition not in self.partitions.get(name, {partition}):
            holds = []
        body = {**EXAMPLE["answer"], "partition": partition, "holds": holds, "is_free": not holds}
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is not logged."""


def folder(path: Path) -> str:
    """Spelling by which a local folder is asked about."""
    return f"file/{path}"


class _Handler(BaseHTTPRequestHandler):
    server: PlayedGate

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        assert parts.path.endswith("/api/v1/gate")
        question = dict(parse_qsl(parts.query, strict_parsing=True))
        self.server.questions.append(question)
        self.server.tokens.append(self.headers.get("Authorization"))
        if self.server.stalls:
            self.server.ends.wait(patience(60))
            return
        status, headers, body = self.server.answer(question)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


@contextlib.contextmanager
def playing() -> Iterator[PlayedGate]:
    """A gate that is gone at the end of the block."""
    with PlayedGate() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.ends.set()
            server.shutdown()
            thread.join(patience(10))
