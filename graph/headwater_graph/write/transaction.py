"""Transaction that runs statements by name and counts their changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_graph.statements import statement

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Result

# Neo4j plans a statement again whenever the graph's counts have changed enough. In a growing graph this takes seconds
# at a time, and a third of the processor time of small batches. Each statement of `cypher/write` has one good plan,
# independent of the counts; a test checks that an empty graph gets this plan. A restarted server plans again.
# https://neo4j.com/docs/cypher-manual/5/planning-and-tuning/query-tuning/#cypher-replanning
_KEEP_PLAN = "CYPHER replan=skip\n"


@dataclass(frozen=True, slots=True)
class WriteCounters:
    """Counters of one transaction.

    Attributes:
        nodes_created, nodes_deleted, relationships_created, relationships_deleted, properties_set: Neo4j's counters.
        duplicates, stale: numbers of repeated and superseded events in the delta (`GraphDelta`).
    """

    nodes_created: int = 0
    nodes_deleted: int = 0
    relationships_created: int = 0
    relationships_deleted: int = 0
    properties_set: int = 0
    statements: int = 0
    duplicates: int = 0
    stale: int = 0


class WriteTransaction:
    """The statements of `cypher/write`, in one managed transaction.

    Statements without a result are sent without waiting: while the database runs a statement, the next statement is
    built and sent. So a later call, or `summary`, may raise a statement's error.
    """

    def __init__(self, tx: ManagedTransaction) -> None:
        self._tx = tx
        self._counts = dict.fromkeys(WriteCounters.__dataclass_fields__, 0)
        self._sent: list[Result] = []

    def find(self, name: str, **parameters: Any) -> list[Any]:
        """Run a statement and read the list that it returns as its only row.

        The statement returns a single row, because the driver takes 50 µs for each row, and times as microseconds,
        because the driver takes over 100 µs for each time.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
        """
        result = self._run(name, parameters)
        rows: list[Any] = next((record[0] for record in result), [])
        self._count(result)
        return rows

    def send(self, name: str, **parameters: Any) -> None:
        """Send a statement that returns nothing.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: from the driver, for this statement or an earlier one.
        """
        self._sent.append(self._run(name, parameters))

    def _run(self, name: str, parameters: dict[str, Any]) -> Result:
        # The driver's result keeps its parameters and is in a reference cycle, so the rows of a batch would stay in
        # memory until the next garbage collection. So the driver gets copies of the lists. They have been sent when
        # `run` returns, and are emptied then.
        lent = {key: list(value) if isinstance(value, list) else value for key, value in parameters.items()}
        # One map of all parameters, so that Neo4j caches one plan for all sizes of lists (decisions: one-parameter).
        result = self._tx.run(_KEEP_PLAN + statement("write", name), {"batch": lent})
        for value in lent.values():
            if isinstance(value, list):
                value.clear()
        return result

    def _count(self, result: Result) -> None:
        counters = result.consume().counters
        for field in ("nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted"):
            self._counts[field] += getattr(counters, field)
        self._counts["properties_set"] += counters.properties_set
        self._counts["statements"] += 1

    def find_rows(self, name: str, rows: Sequence[Any], **parameters: Any) -> list[Any]:
        """Run a statement over `$batch.rows` and read the list that it returns; without rows it isn't sent."""
        return self.find(name, rows=rows, **parameters) if rows else []

    def send_rows(self, name: str, rows: Sequence[Any], **parameters: Any) -> None:
        """Run a statement over `$batch.rows` that returns nothing; without rows it isn't sent."""
        if rows:
            self.send(name, rows=rows, **parameters)

    @property
    def summary(self) -> WriteCounters:
        """Return the counters so far, once every statement sent has succeeded.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: from the driver, for an earlier statement.
        """
        for result in self._sent:
            self._count(result)
        self._sent = []
        return WriteCounters(**self._counts)


class Index:
    """Keys of hot nodes (to which many rows refer).

    Rows have a key's index, so a statement looks each node up only once.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def at(self, key: str) -> int:
        """Index of a key, which is added if needed."""
        return self._places.setdefault(key, len(self._places))

    @property
    def keys(self) -> list[str]:
        """Keys in order of their index."""
        return list(self._places)


class IndexedRows:
    """Rows of one statement, and the hot nodes that they refer to by index.

    Args:
        indexes: names of the statement's parameters that hold the hot nodes' keys.
    """

    def __init__(self, *indexes: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self.indexes = {name: Index() for name in indexes}

    def find(self, tx: WriteTransaction, name: str) -> list[Any]:
        """Run the statement and read its result; see `WriteTransaction.find_rows`."""
        return tx.find_rows(name, self.rows, **{name: index.keys for name, index in self.indexes.items()})

    def send(self, tx: WriteTransaction, name: str) -> None:
        """Send the statement; see `WriteTransaction.send_rows`."""
        tx.send_rows(name, self.rows, **{name: index.keys for name, index in self.indexes.items()})
