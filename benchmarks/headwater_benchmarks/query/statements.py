"""The hand-written statements: what a person who knows Cypher types into Neo4j Browser for the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neo4j import unit_of_work
from neo4j.exceptions import Neo4jError

from headwater_benchmarks.rounds import TooLong
from headwater_graph.statement_files import load

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction, Record


class Statements:
    """Runs them.

    Args:
        driver: to the database.
        timeout_seconds: for one statement.
    """

    def __init__(self, driver: Driver, timeout_seconds: float) -> None:
        self._driver = driver
        self._timeout_seconds = timeout_seconds

    def rows(self, name: str, **parameters: Any) -> list[Record]:
        """All rows of `query/cypher/hand_written.cypher` by name.

        Raises:
            TooLong: the time limit ended it.
        """

        @unit_of_work(timeout=self._timeout_seconds)
        def work(tx: ManagedTransaction) -> list[Record]:
            return list(tx.run(load("headwater_benchmarks.query", f"hand_written/{name}"), parameters))

        try:
            with self._driver.session(default_access_mode="READ") as session:
                return session.execute_read(work)
        except Neo4jError as error:
            if "TransactionTimedOut" in (error.code or ""):
                raise TooLong from error
            raise
