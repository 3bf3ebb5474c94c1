"""A graph of ours in the stack's Neo4j, empty at the start of each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_graph.write import GraphWriter
from support.graph.layouts import make_segments_small
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

DATABASE = "neo4j"


@pytest.fixture
def graph(clean_database: Driver) -> Driver:
    """The driver, constraints made."""
    GraphWriter(clean_database, DATABASE).ensure_schema()
    return clean_database


@pytest.fixture
def writer(graph: Driver) -> GraphWriter:
    return GraphWriter(graph, DATABASE)


@pytest.fixture
def settings_of_pipeline(
    settings_of_stack: None, stack: StackUnderTest, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands of this process use the stack's Kafka, too, with topics and a consumer group of the test's own."""
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", stack.bootstrap_servers)
    monkeypatch.setenv("HEADWATER_TOPIC_PREFIX", topic_prefix)
    monkeypatch.setenv("HEADWATER_MATERIALIZER_GROUP", topic_prefix)
    monkeypatch.setenv("HEADWATER_MATERIALIZER_HTTP_PORT", "0")


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    make_segments_small(monkeypatch)
