"""The graph for real: a Neo4j database, with the driver's exceptions translated into our tree.

The driver's own retries are off: the loop retries, keeps polling Kafka meanwhile and reports what is going on.
"""

from __future__ import annotations

import contextlib
from importlib import resources
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from headwater_consumers.graph.connection import Neo4jTarget, connect
from headwater_consumers.materializer.errors import GraphUnusableError
from headwater_consumers.materializer.neo4j_errors import classify

if TYPE_CHECKING:
    from collections.abc import Callable

    from neo4j import Driver

    from headwater_consumers.materializer.graph import Folded, WriteSummary
    from headwater_schemas.errors import LineageError

T = TypeVar("T")


def writing_driver(target: Neo4jTarget) -> Driver:
    """A driver for `Neo4jGraph`, without retries of its own.

    Raises:
        GraphUnusableError: the address is none.
    """
    try:
        return connect(target, user_agent="headwater-materializer", retry_seconds=0.0, pool_size=4)
    except Exception as error:
        raise GraphUnusableError(
            f"{target.uri!r} is no address of a Neo4j: {error}", setting="HEADWATER_NEO4J_URI"
        ) from error


class Writer(Protocol):
    """The part of `write.GraphWriter` that is called here."""

    def ensure_schema(self) -> None:
        """Bring constraints and indexes into being; GraphVersionMismatch where the graph is of another release."""

    def apply(self, delta: Any) -> WriteSummary:
        """Write a delta in one transaction; the driver's exceptions."""


class Neo4jGraph:
    """A `graph.Graph` in one database.

    Args:
        target: where it is.
        driver: to it; closed with this object.
        writer: knows the statements.
        version_mismatch: what the writer raises for a graph of another release.
    """

    def __init__(
        self, target: Neo4jTarget, driver: Driver, writer: Writer, *, version_mismatch: type[Exception]
    ) -> None:
        self._target = target
        self._driver = driver
        self._writer = writer
        self._version_mismatch = version_mismatch

    def prepare(self) -> None:
        """Make the database ready: constraints, indexes, version.

        Raises:
            LineageError: by the tree of `errors`.
        """
        try:
            self._writer.ensure_schema()
        except self._version_mismatch as error:
            raise GraphUnusableError(str(error), setting="HEADWATER_NEO4J_DATABASE") from error
        except Exception as error:
            raise self._meaning(error) from error

    def apply(self, folded: Folded) -> WriteSummary:
        """Write it in one transaction.

        Raises:
            LineageError: by the tree of `errors`.
        """
        return self._translated(lambda: self._writer.apply(folded))

    def ping(self) -> None:
        """See whether the database can be reached.

        Raises:
            LineageError: it can't.
        """
        self._translated(lambda: self._run("ping"))

    def probe(self) -> None:
        """See whether the database is well, by a small committed write.

        Raises:
            LineageError: it isn't.
        """
        self._translated(lambda: self._run("probe"))

    def close(self) -> None:
        """Let go of the connections. Never raises: nothing hangs on it."""
        with contextlib.suppress(Exception):
            self._driver.close()

    def _run(self, statement: str) -> None:
        text = resources.files(__package__).joinpath("cypher", f"{statement}.cypher").read_text(encoding="utf-8")
        with self._driver.session(database=self._target.database) as session:
            session.run(text).consume()

    def _translated(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception as error:
            raise self._meaning(error) from error

    def _meaning(self, error: Exception) -> LineageError:
        return classify(error, uri=self._target.uri, user=self._target.user, database=self._target.database)
