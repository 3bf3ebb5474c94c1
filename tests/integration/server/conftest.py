"""The HTTP server over the stack's Neo4j, on a free port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.reader import reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from support.api import client_of
from support.openlineage import FakeSink
from support.stack import StackUnderTest

if TYPE_CHECKING:
    import httpx
    from neo4j import Driver


@pytest.fixture
def target(stack: StackUnderTest) -> Neo4jTarget:
    return Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")


@pytest.fixture
def graph(target: Neo4jTarget) -> Graph:
    """Graph of `headwater serve`, with a sink for events. Whoever serves it closes its driver."""
    settings = ServeSettings(port=0, intake=True, declare=True)
    return Graph(reading_driver(target), target, AnalysisSettings(), settings, sink=FakeSink())


@pytest.fixture
def client(graph: Graph) -> Iterator[httpx.Client]:
    """Asks whatever the test has put into the graph."""
    with client_of(graph) as asking:
        yield asking


@pytest.fixture
def demo(demo_graph: Driver, client: httpx.Client) -> httpx.Client:
    """Asks the demo's graph."""
    return client
