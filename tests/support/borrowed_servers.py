"""The suite's Kafka and Neo4j, lent to a benchmark that would start its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from headwater_benchmarks.ingest.servers import Database
from headwater_graph.connection import Neo4jTarget
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver


class BorrowedServers:
    """One Kafka and one Neo4j, whose database is emptied whenever the benchmark asks for an empty one."""

    def __init__(self, stack: StackUnderTest, driver: Driver) -> None:
        target = Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")
        self._stack = stack
        self._database = Database(target, driver)

    @contextlib.contextmanager
    def kafka(self) -> Iterator[str]:
        """Its bootstrap servers."""
        yield self._stack.bootstrap_servers

    @contextlib.contextmanager
    def neo4j(self) -> Iterator[Database]:
        """Its database."""
        yield self._database
