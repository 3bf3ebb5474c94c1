"""One transaction: runs statements by name and adds up what they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_consumers.graph.statements import statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neo4j import ManagedTransaction, Record


@dataclass(frozen=True, slots=True)
class WriteSummary:
    """What one transaction did.

    Attributes:
        nodes_created, nodes_deleted, relationships_created, relationships_deleted, properties_set: as Neo4j counts.
        statements: how many were sent.
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


class Transaction:
    """The statements of `cypher/write`, in one managed transaction."""

    def __init__(self, tx: ManagedTransaction) -> None:
        self._tx = tx
        self._counts = dict.fromkeys(WriteSummary.__dataclass_fields__, 0)

    def run(self, name: str, **parameters: Any) -> list[Record]:
        """Run a statement and read all that it returns.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
        """
        result = self._tx.run(statement("write", name), parameters)
        records = list(result)
        counters = result.consume().counters
        for field in ("nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted"):
            self._counts[field] += getattr(counters, field)
        self._counts["properties_set"] += counters.properties_set
        self._counts["statements"] += 1
        return records

    def rows(self, name: str, rows: Sequence[dict[str, Any]], **parameters: Any) -> list[Record]:
        """Run a statement over `$rows`; without rows it isn't sent."""
        return self.run(name, rows=rows, **parameters) if rows else []

    @property
    def summary(self) -> WriteSummary:
        """What was done so far."""
        return WriteSummary(**self._counts)


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
