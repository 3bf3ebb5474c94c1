"""A graph of version 3, with a node for each micro-batch, becomes one of this version, with segments.

Each transaction moves the micro-batches of one segment. So it can end at any time and is continued by doing it again.
From its first transaction to its last, neither the old release nor this one writes into the graph or reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headwater_consumers.facts.nodes import IntervalFacts
from headwater_consumers.graph.schema import (
    GRAPH_VERSION,
    MIGRATES_FROM,
    GraphVersionMismatch,
    ensure_schema,
    make_schema,
)
from headwater_consumers.graph.segments import segment
from headwater_consumers.graph.segments.segment import Place, at
from headwater_consumers.graph.segments.slots import Names
from headwater_consumers.graph.statements import names, statement
from headwater_consumers.materializer.write.segments import SegmentRows, write_segments
from headwater_consumers.materializer.write.state import read_variant
from headwater_consumers.materializer.write.transaction import WriteTransaction

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


def migrate(driver: Driver, database: str | None, progress: Callable[[int, int], None]) -> int:
    """Migrate a graph of version 3; one of this version stays as it is.

    Args:
        driver: of the database.
        database: its name; None: the user's home database.
        progress: called with how many micro-batches are moved, and of how many in all.

    Returns:
        How many micro-batches were moved.

    Raises:
        GraphVersionMismatch: the graph is of neither version; nothing was changed.
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        record = session.run(statement("read", "graph_version")).single()
        found = GRAPH_VERSION if record is None else record["version"]
        if found == GRAPH_VERSION:
            ensure_schema(driver, database)
            return 0
        if found != MIGRATES_FROM:
            raise GraphVersionMismatch(found)
        session.run(statement("migrate", "begin"), version=GRAPH_VERSION).consume()
        make_schema(driver, database)
        total = session.run(statement("migrate", "intervals_left")).single(strict=True)["count"]
        moved = 0
        progress(moved, total)
        while count := session.execute_write(_move_segment):
            moved += count
            progress(moved, total)
        for name in names("migrate"):
            if name.startswith("drop_"):
                session.run(statement("migrate", name)).consume()
        session.run(statement("migrate", "end")).consume()
    return moved


def _move_segment(tx: ManagedTransaction) -> int:
    """Move the first micro-batches that are left; returns how many, 0 where none are."""
    first = tx.run(statement("migrate", "first_interval")).single()
    if first is None:
        return 0
    place = Place(first["tenant"], first["query_id"], first["query"], at(first["batch_id"]).segment)
    stretch = {"query": place.query, "first": place.start, "last": place.start + segment.SIZE - 1}
    rows = SegmentRows()
    intervals: dict[int, IntervalFacts] = {}
    for record in tx.run(statement("migrate", "intervals"), stretch):
        digest, variant = read_variant(record["properties"], record["uses"])
        batch_id = record["batch_id"]
        interval = intervals.setdefault(batch_id, place.interval(batch_id))
        interval.variants[digest] = variant
        rows.names.update({key: Names(namespace, name) for key, namespace, name in record["names"]})
    rows.add(place, intervals)
    writing = WriteTransaction(tx)
    write_segments(writing, rows)
    _ = writing.summary  # what was sent is through
    tx.run(statement("migrate", "delete_intervals"), stretch).consume()
    return len(intervals)
