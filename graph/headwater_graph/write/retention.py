"""Removal of retired micro-batches from their segments, into summaries or without a summary.

In dumps and for late reports, retention takes effect with its event. This module moves the stored micro-batches, some
segments of one query in a transaction. It can stop at any time and be continued by another call. Consumers may run at
the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from headwater_graph.facts.nodes import IntervalFacts, RetentionFacts
from headwater_graph.facts.spans import ranges_of
from headwater_graph.facts.summaries import Horizon, date_text
from headwater_graph.retired import read_retentions
from headwater_graph.segments.segment import Place, Stored
from headwater_graph.statements import statement
from headwater_graph.summaries import batches_of, retired_property
from headwater_graph.write.bolt import bolt_time, from_bolt
from headwater_graph.write.segments import SegmentRows, write_segments
from headwater_graph.write.summaries import Keeping
from headwater_graph.write.transaction import WriteTransaction

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction

SEGMENTS = 16
"""Maximum number of segments in one transaction: at most 8,192 micro-batches, one or two seconds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Moved:
    """Counts of one run of retention.

    Attributes:
        queries: queries with micro-batches that had to be moved.
        micro_batches: micro-batches that were moved into summaries or deleted.
        summaries_dropped: deleted summaries, of days for which nothing is kept.
    """

    queries: int = 0
    micro_batches: int = 0
    summaries_dropped: int = 0


def retentions(driver: Driver, database: str | None) -> list[RetentionFacts]:
    """List the stored retention rules, in order of tenant, namespace and job.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session:
        rules = read_retentions(session).values()
    return sorted(rules, key=lambda one: [str(one.identity.get(name, "")) for name in ("tenant", "namespace", "job")])


def retire(driver: Driver, database: str | None, progress: Callable[[Moved, int], None]) -> Moved:
    """Move all retired micro-batches.

    Args:
        database: name of the database; None: the user's home database.
        progress: called with the counts so far, and the number of queries left.

    Raises:
        SegmentDamagedError: micro-batches of a segment can't be read; earlier transactions stay committed.
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    moved = Moved()
    with driver.session(database=database) as session:
        queries = [record["key"] for record in session.run(statement("read", "retained_queries"))]
        for number, query in enumerate(queries):
            progress(moved, len(queries) - number)
            batches, dropped = session.execute_write(move_some, query)
            moved.queries += bool(batches)
            moved.summaries_dropped += dropped
            while batches:
                moved.micro_batches += batches
                progress(moved, len(queries) - number)
                batches, _ = session.execute_write(move_some, query)
    progress(moved, 0)
    return moved


def move_some(tx: ManagedTransaction, query: str) -> tuple[int, int]:
    """Move retired micro-batches of some segments of a query, in the caller's transaction.

    Returns:
        Number of moved micro-batches (0 if none are left) and of dropped summaries.
    """
    writing = WriteTransaction(tx)
    writing.send_rows("lock_queries", [query])
    keeping = Keeping(writing, [query])
    horizon = keeping.horizons.get(query, Horizon())
    if horizon.kept is None:
        return 0, 0
    dropped = 0
    if horizon.summarized is not None:
        before = date_text(horizon.summarized)
        [dropped] = writing.find("drop_summaries", query=query, before=before) or [0]
    segments = writing.find(
        "old_segments", query=query, before=bolt_time(_EPOCH + timedelta(horizon.kept)), limit=SEGMENTS
    )
    old: list[IntervalFacts] = []
    kept_rows = SegmentRows()
    for properties in segments:
        stored = from_bolt(properties)
        place = Place.of(stored)
        intervals = Stored.of(stored).read(place, kept_rows.names)
        kept, past = horizon.split(intervals.values())
        old += past
        if kept:
            kept_rows.add(place, {interval.batch_id: interval for interval in kept})
    if old:
        keeping.summarize(writing, old)
        retired: Any = retired_property(ranges_of([*keeping.retired[query], *batches_of(old)]))
        writing.send_rows("update_queries", [{"key": query, "properties": {"_retired": retired}}])
        # Kept micro-batches are written again as if they were new, which joins them to their neighbours.
        writing.send_rows("delete_segments", [properties["key"] for properties in segments])
        write_segments(writing, kept_rows)
    _ = writing.summary  # all statements sent have finished
    return len(old), dropped
