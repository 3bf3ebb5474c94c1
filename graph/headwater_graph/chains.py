"""Check of each streaming query's chain of intervals (micro-batches): none is missing, and neighbours fit together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_graph.statements import statement

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


@dataclass(frozen=True, slots=True)
class Chain:
    """Counts of one query's intervals.

    Attributes:
        query_id: Spark's id of the query.
        name: name for people: the query's name, else its id.
        intervals: number of micro-batches that are stored individually.
        retired: number of micro-batches that retention has removed from the segments. They don't count as missing, and
            aren't compared with their neighbours.
        first_batch: lowest known batch id; None without intervals.
        last_batch: highest known batch id; None without intervals.
        missing_batches: number of batches from 0 to `last_batch` that were never reported.
        offset_gaps: number of partitions with skipped offsets, counted for each pair of neighbouring batches.
        overlaps: number of partitions with offsets read twice, counted for each pair of neighbouring batches.
        conflicts: number of reports of a batch with other offsets than the interval's.
    """

    key: str
    tenant: str
    query_id: str
    name: str
    intervals: int
    retired: int
    first_batch: int | None
    last_batch: int | None
    missing_batches: int
    offset_gaps: int
    overlaps: int
    conflicts: int

    @property
    def gaps(self) -> int:
        """Missing batches and offset gaps together."""
        return self.missing_batches + self.offset_gaps

    @property
    def is_sound(self) -> bool:
        """True if no micro-batch is missing, overlaps another or is in conflict."""
        return not (self.gaps or self.overlaps or self.conflicts)


def check_chains(driver: Driver, database: str | None = None) -> list[Chain]:
    """Return the chain of every query, in order of key. A query without intervals yet has an empty chain.

    Missing batches are counted from the intervals themselves, not from NEXT. Batch ids begin at 0, so intervals that
    were purged before anyone reported them are missing too.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        return session.execute_read(_chains)


def _chains(tx: ManagedTransaction) -> list[Chain]:
    faults = {row["key"]: row for row in tx.run(statement("read", "chain_faults"))}
    chains = []
    for row in tx.run(statement("read", "chains")):
        fault = faults.get(row["key"])
        last = row["last_batch"]
        chains.append(
            Chain(
                key=row["key"],
                tenant=row["tenant"],
                query_id=row["query_id"],
                name=row["name"],
                intervals=row["intervals"],
                retired=row["retired"],
                first_batch=row["first_batch"],
                last_batch=last,
                missing_batches=0 if last is None else last + 1 - row["intervals"] - row["retired"],
                offset_gaps=fault["gaps"] if fault else 0,
                overlaps=fault["overlaps"] if fault else 0,
                conflicts=row["conflicts"],
            )
        )
    return chains
