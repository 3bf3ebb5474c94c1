"""A graph in the stack's Neo4j, empty at the start of each test that asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_graph.write import GraphWriter

if TYPE_CHECKING:
    from neo4j import Driver


@pytest.fixture
def writer(clean_database: Driver) -> GraphWriter:
    """Constraints made."""
    made = GraphWriter(clean_database, "neo4j")
    made.ensure_schema()
    return made
