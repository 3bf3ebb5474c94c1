"""Naive and sink: one statement that merges raw events as they come, committed event by event, or 1,000 at a time.

It is what a person who knows Cypher writes for a sink connector that takes a statement: composite constraints, so that
every MERGE has an index; the last event wins. It keeps no stamps, so late and repeated events can spoil its graph.
It makes a node of each micro-batch.

They get what Headwater gets: the same records, encoded, as many of them, on a server that was warmed up with as many,
and `replan=skip`, so that Neo4j doesn't plan anew while the graph grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_benchmarks.ingest.servers import Database, empty, with_schema
from headwater_benchmarks.ingest.turn import Stopwatch, Turn
from headwater_graph import statement_files
from headwater_schemas.codec import Decoder

if TYPE_CHECKING:
    from neo4j import ManagedTransaction


NAIVE, SINK = 1, 1_000
"""Events in a transaction."""
KEEP_PLAN = "CYPHER replan=skip\n"
"""Prefix of statements as Headwater's own have it (`materializer/write/transaction.py`)."""
_PACKAGE = "headwater_benchmarks.ingest"


def prepared(database: Database) -> AbstractContextManager[Database]:
    """The database with the sink's constraints, which are gone after the block."""
    return with_schema(database, "sink_schema")


def write_events(database: Database, values: Sequence[bytes], size: int) -> Turn:
    """Decode and commit them, so many in a transaction. The database is empty again afterwards.

    Args:
        database: that was prepared.
        values: encoded events, in the order of their offsets.
        size: how many in a transaction.
    """
    decoder = Decoder()
    with database.driver.session(database=database.target.database) as session:
        watch = Stopwatch(database)
        for at in range(0, len(values), size):
            session.execute_write(
                _merge, [msgspec.to_builtins(decoder.decode(each)) for each in values[at : at + size]]
            )
        took = watch.stop()
    empty(database)
    return took


def _merge(tx: ManagedTransaction, events: Sequence[dict[str, Any]]) -> None:
    tx.run(KEEP_PLAN + statement_files.load(_PACKAGE, "sink/events"), events=events).consume()
