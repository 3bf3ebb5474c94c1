"""The stack's Neo4j as the settings name it, and readers of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.reader import Reader, reading_driver
from headwater_graph.connection import Neo4jTarget
from headwater_schemas.events import LineageEvent
from support.graph.layouts import make_segments_small
from support.graph.writing import store
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver


@pytest.fixture
def asked_demo(read_demo: Driver, settings_of_stack: None) -> None:
    """The demo's graph, for commands to ask."""


@pytest.fixture
def target(stack: StackUnderTest) -> Neo4jTarget:
    return Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")


@pytest.fixture(params=[pytest.param("8 blocks of 64", marks=pytest.mark.nightly), "2 blocks of 2"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Segments as they are, and smaller ones."""
    if request.param == "2 blocks of 2":
        make_segments_small(monkeypatch)
    return str(request.param)


@pytest.fixture
def fill(clean_database: Driver) -> Callable[[Iterable[LineageEvent]], object]:
    """Writes events into a graph that is empty before."""
    return partial(store, clean_database)


@pytest.fixture
def quiet_driver(target: Neo4jTarget) -> Iterator[Driver]:
    """Driver of readers."""
    with reading_driver(target) as driver:
        yield driver


@pytest.fixture
def reader(quiet_driver: Driver, target: Neo4jTarget) -> Reader:
    """Asks whatever the test has put into the graph, and waits for the answer on a slow machine too."""
    return Reader(quiet_driver, target, timeout_seconds=300)


@pytest.fixture
def demo_reader(read_demo: Driver, reader: Reader) -> Reader:
    """Asks the demo's graph."""
    return reader
