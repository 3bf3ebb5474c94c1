"""The HTTP app over a graph that a test makes up."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest

from headwater_analysis.freshness import NOT_REPORTED, GraphState
from headwater_analysis.incidents.answers import IncidentMarks
from headwater_analysis.incidents.marks import MarkingReader
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server.app import create_app
from headwater_server.asking import Graph
from headwater_server.identity import Identity
from headwater_server.routes import lineage as lineage_routes
from headwater_server.server import HttpServer
from headwater_server.settings import ServeSettings
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from fastapi import FastAPI
    from neo4j import Driver
    from starlette.types import ASGIApp, Receive, Scope, Send


NOWHERE = Neo4jTarget("bolt://graph.invalid:7687", "neo4j", "a-secret-password", "neo4j")


@dataclass
class FakeReader:
    """Answers every question alike, without asking it: with nothing, or by raising."""

    raises: Exception | None
    tenant: str
    timeout_seconds: float
    freshness: GraphState = NOT_REPORTED
    filtered: bool = False
    incidents: IncidentMarks | None = None

    def read(self, question: Callable[..., Any], *, timeout_seconds: float | None = None) -> Any:
        if self.raises is not None:
            raise self.raises


@dataclass(frozen=True)
class FakeGraph(Graph):
    """Keeps the readers that were asked for."""

    raises: Exception | None = None
    readers: list[FakeReader] = field(default_factory=list)

    def reader(self, identity: Identity, timeout_seconds: float | None = None, *, operation: str = "") -> MarkingReader:
        real = super().reader(identity, timeout_seconds, operation=operation)
        self.readers.append(FakeReader(self.raises, real.tenant, real.timeout_seconds))
        return cast("MarkingReader", self.readers[-1])


class _NoDriver:
    def close(self) -> None:
        """There is nothing to close."""


def fake_graph(*, raises: Exception | None = None, **serve: Any) -> FakeGraph:
    settings = ServeSettings(**{"port": 0, **serve})
    return FakeGraph(cast("Driver", _NoDriver()), NOWHERE, AnalysisSettings(), settings, raises=raises)


def metrics_with(client: httpx.Client, *lines: str) -> str:
    """Text of /metrics once it has all these lines: a request is counted when its answer has left already."""
    texts: list[str] = []

    def has_all() -> bool:
        texts.append(client.get("/metrics").text)
        return all(line in texts[-1] for line in lines)

    eventually(has_all, expecting=f"{lines} in /metrics")
    return texts[-1]


@contextlib.contextmanager
def held_back(owner: object, name: str) -> Iterator[threading.Event]:
    """Let calls of a function wait until the block ends.

    Args:
        owner: Module or class that has the function.
        name: Name of the function in it.

    Yields:
        An event that is set once the function has been called.
    """
    begun, release, function = threading.Event(), threading.Event(), getattr(owner, name)

    def waiting(*args: Any, **options: Any) -> Any:
        begun.set()
        assert release.wait(patience(60))
        return function(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, waiting)
        try:
            yield begun
        finally:
            release.set()


def slow_lineage(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Semaphore, threading.Event]:
    """Let each question for lineage release the semaphore, and wait for the event before it is answered "done"."""
    begun, release = threading.Semaphore(0), threading.Event()

    def slow(*_: object) -> str:
        begun.release()
        assert release.wait(patience(30))
        return "done"

    monkeypatch.setattr(lineage_routes, "lineage", slow)
    return begun, release


@contextlib.contextmanager
def client_of(graph: Graph, app: ASGIApp | None = None) -> Iterator[httpx.Client]:
    """Asks the server, which listens on a free port of this machine and runs in a thread."""
    with contextlib.closing(HttpServer(graph, app)) as server, _client_of(server) as client:
        yield client


@contextlib.contextmanager
def client_with_login(graph: Graph, **serve: Any) -> Iterator[httpx.Client]:
    """Asks a server that has its own URL as `public_url`, with these settings; its port is known once it listens."""
    app: FastAPI | None = None

    async def late(scope: Scope, receive: Receive, send: Send) -> None:
        assert app is not None
        await app(scope, receive, send)

    with contextlib.closing(HttpServer(graph, late)) as server:
        settings = ServeSettings.model_validate({**dict(graph.serve), "public_url": server.url, **serve})
        app = create_app(replace(graph, serve=settings))
        with _client_of(server) as client:
            yield client


@contextlib.contextmanager
def _client_of(server: HttpServer) -> Iterator[httpx.Client]:
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=patience(60)) as client:
            yield client
    finally:
        server.stop()
        thread.join(patience(30))
