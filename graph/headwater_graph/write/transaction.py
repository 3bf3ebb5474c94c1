"""One transaction: runs statements by name and adds up what they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_graph.statements import statement

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Result

# Neo4j plans a statement anew whenever its counts have moved enough, which in a graph that grows takes a third of the
# processor time of small batches, and seconds at a time. There is one good way to run each of these, whatever the
# counts: a test sees to it that the plan made on an empty graph is that way. A server that is restarted plans again.
# https://neo4j.com/docs/cypher-manual/5/planning-and-tuning/query-tuning/#cypher-replanning
_KEEP_PLAN = "CYPHER replan=skip\n"


@dataclass(frozen=True, slots=True)
class WriteCounters:
    """Counters of one transaction.

    Attributes:
        nodes_created, nodes_deleted, relationships_created, relationships_deleted, properties_set: Neo4j's counters.
        statements: number of statements sent.
        duplicates, stale: events of the delta that added nothing another of them had not (`GraphDelta`).
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

    Those that return nothing are sent without waiting for their end: while the database is at one, the next is made and
    sent. The result of one may arrive with a later one, or with `summary`.
    """

    def __init__(self, tx: ManagedTransaction) -> None:
        self._tx = tx
        self._counts = dict.fromkeys(WriteCounters.__dataclass_fields__, 0)
        self._sent: list[Result] = []

    def find(self, name: str, **parameters: Any) -> list[Any]:
        """Run a statement and read the list that it returns as its only row.

        One row, because the driver takes 50 µs for each; and times in it as microseconds, because it takes 100 µs and
        more for each time.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
        """
        result = self._run(name, parameters)
        found: list[Any] = next((record[0] for record in result), [])
        self._count(result)
        return found

    def send(self, name: str, **parameters: Any) -> None:
        """Send a statement that returns nothing.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them, of this one or of one sent before.
        """
        self._sent.append(self._run(name, parameters))

    def _run(self, name: str, parameters: dict[str, Any]) -> Result:
        # The driver's result keeps its parameters, and is in a cycle: the rows of a batch would stay until the garbage
        # collector looks. They are on their way when `run` returns, so it gets lists of its own that are emptied then.
        lent = {key: list(value) if isinstance(value, list) else value for key, value in parameters.items()}
        # All in one map, so that Neo4j makes one plan, not one for each size of the lists (decisions: one-parameter).
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
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them, of a statement that was sent before.
        """
        for result in self._sent:
            self._count(result)
        self._sent = []
        return WriteCounters(**self._counts)


class Index:
    """Keys of hot nodes in a list, sent once; rows refer to them by place, so each is looked up once a statement."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def at(self, key: str) -> int:
        """The place of a key, added if need be."""
        return self._places.setdefault(key, len(self._places))

    @property
    def keys(self) -> list[str]:
        """The keys by place."""
        return list(self._places)


class IndexedRows:
    """Rows of one statement, and the hot nodes that they refer to by place.

    Args:
        indexes: names of the statement's parameters that hold the hot nodes' keys.

    Attributes:
        rows: rows of the statement.
        indexes: indexes by name.
    """

    def __init__(self, *indexes: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self.indexes = {name: Index() for name in indexes}

    def find(self, tx: WriteTransaction, name: str) -> list[Any]:
        """Run the statement and read what it returns, as `WriteTransaction.find_rows`."""
        return tx.find_rows(name, self.rows, **{name: index.keys for name, index in self.indexes.items()})

    def send(self, tx: WriteTransaction, name: str) -> None:
        """Send the statement, as `WriteTransaction.send_rows`."""
        tx.send_rows(name, self.rows, **{name: index.keys for name, index in self.indexes.items()})
