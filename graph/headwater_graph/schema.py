"""Constraints, indexes and version of the graph's model (stored in one node), and emptying of the graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from neo4j.exceptions import Neo4jError

from headwater_graph.statements import names, statement

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


GRAPH_VERSION = 1
"""Version of the graph's model. From release 0.1.0 on, it rises whenever the stored form of events changes. A graph of
another version has to be rebuilt."""

_AWAIT_SECONDS = 300
_CONSTRAINED_TYPE = re.compile(r"FOR .*:(\w+)[)\]]")


def version_mismatch(found: int, *, verb: str, at: str = "") -> str:
    """Return the error message for a graph of another version.

    Args:
        verb: this release's use of the graph, "reads" or "writes".
        at: address of the graph, with a space before it.
    """
    return (
        f"The graph{at} was made with version {found} of the graph's model; this release {verb} version "
        f"{GRAPH_VERSION}. Run `headwater graph rebuild`, or use the release that made it."
    )


class SchemaConflict(Exception):  # noqa: N818 - as below
    """Nodes or relationships of other applications violate a constraint that Headwater needs: fatal.

    Attributes:
        of: label or relationship type of the constraint.
    """

    def __init__(self, of: str) -> None:
        super().__init__(
            f"Several nodes or relationships of {of} have the same `key`, so the constraint that keys are unique "
            "can't be created. Other applications wrote them, and Headwater doesn't change them."
        )
        self.of = of


class GraphVersionMismatch(Exception):  # noqa: N818 - named for the fault, like the materializer's errors
    """The graph was made with another version of the model: fatal, nothing was written."""

    def __init__(self, found: int) -> None:
        super().__init__(version_mismatch(found, verb="writes"))
        self.found = found
        self.expected = GRAPH_VERSION


def ensure_schema(driver: Driver, database: str | None) -> None:
    """Make the graph's version node, constraints and indexes, and wait for them. Safe to repeat, also concurrently.

    Raises:
        GraphVersionMismatch: the graph is of another version.
        SchemaConflict: other applications' data violates a constraint.
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        session.execute_write(_run, names("schema")[0])
        version = session.execute_write(_version)
        if version != GRAPH_VERSION:
            raise GraphVersionMismatch(version)
    make_schema(driver, database)


def require_version(driver: Driver, database: str | None) -> None:
    """Check that a graph has the version of this release, or is empty.

    Raises:
        GraphVersionMismatch: the graph has another version.
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session:
        record = session.run(statement("read", "graph_version")).single()
    if record is not None and record["version"] != GRAPH_VERSION:
        raise GraphVersionMismatch(record["version"])


def make_schema(driver: Driver, database: str | None) -> None:
    """Make the constraints and indexes, and wait for them, at any version of the graph. Safe to repeat.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        # After the first start, all constraints and indexes exist; creating each again would take over 40 transactions.
        existing = session.execute_read(_existing)
        for name in names("schema"):
            if f"headwater_{name}" not in existing:
                session.execute_write(_run, name)
        session.execute_write(_await)


def _run(tx: ManagedTransaction, name: str) -> None:
    text = statement("schema", name)
    try:
        tx.run(text).consume()
    except Neo4jError as error:
        of = _CONSTRAINED_TYPE.search(text)
        if of is None or not (error.code or "").endswith(".ConstraintCreationFailed"):
            raise
        raise SchemaConflict(of[1]) from None  # the server's message contains values of properties


def _existing(tx: ManagedTransaction) -> set[str]:
    return {record["name"] for kind in ("constraints", "indexes") for record in tx.run(statement("whole", kind))}


def _version(tx: ManagedTransaction) -> int:
    record = tx.run(statement("write", "graph_version"), version=GRAPH_VERSION).single(strict=True)
    return int(record["version"])


def _await(tx: ManagedTransaction) -> None:
    tx.run(statement("write", "await_indexes"), seconds=_AWAIT_SECONDS).consume()


def writing_groups(driver: Driver, database: str | None) -> list[str]:
    """Consumer groups that have reported their progress to this graph, in order.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session:
        return [str(record["name"]) for record in session.run(statement("whole", "groups"))]


def graph_offsets(driver: Driver, database: str | None, topic: str) -> dict[tuple[int, str], int]:
    """Read the consumer's progress in a topic: the first offset that may be missing, by partition and topic id.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session:
        return {
            (int(row["number"]), str(row["topic_id"])): int(row["next_offset"])
            for row in session.run(statement("whole", "progress"), topic=topic)
        }


def wipe(driver: Driver, database: str | None) -> int:
    """Delete every node, constraint and index of Headwater; other applications' data stays.

    Works in transactions of 2,000 nodes, so it may stop half-way: call it again.

    Returns:
        Number of deleted nodes.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        # Dropping a constraint also drops its index.
        for listing, drop in (("constraints", "drop_constraint"), ("indexes", "drop_index")):
            for name in [record["name"] for record in session.run(statement("whole", listing))]:
                session.run(statement("whole", drop), name=name).consume()
        return session.run(statement("whole", "wipe")).consume().counters.nodes_deleted
