"""A graph of ours in the stack's Neo4j, empty at the start of each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_consumers.materializer.write import GraphWriter

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
