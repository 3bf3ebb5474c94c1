"""GraphWriter: one GraphDelta, one transaction.

The algebra is Python's alone. The transaction locks the anchors that the delta touches, reads their state, joins it
with the delta and writes what that changes. Whatever else it touches belongs to one anchor (an Interval to its Query,
a Column to its Dataset …), so two transactions that have anything in common follow one another, and a read after the
locks is the latest there is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from neo4j import unit_of_work
from neo4j.exceptions import Neo4jError

from headwater_consumers.graph.schema import GraphVersionMismatch, ensure_schema
from headwater_consumers.materializer.write.chains import write_next
from headwater_consumers.materializer.write.columns import write_columns
from headwater_consumers.materializer.write.intervals import write_intervals
from headwater_consumers.materializer.write.links import write_aliases, write_declared
from headwater_consumers.materializer.write.patience import Patience
from headwater_consumers.materializer.write.plans import write_edges, write_plans
from headwater_consumers.materializer.write.ready import Ready, ready
from headwater_consumers.materializer.write.runs import write_runs
from headwater_consumers.materializer.write.transaction import Transaction, WriteCounters

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction

    from headwater_consumers.facts.delta import GraphDelta

__all__ = ["GraphVersionMismatch", "GraphWriter", "WriteCounters", "write"]


class GraphWriter:
    """Writes deltas into one database. Safe to use from several threads and processes at once.

    Args:
        driver: to it.
        database: its name; None: the user's home database.
        timeout_seconds: after which Neo4j ends a transaction; None: as Neo4j is configured. A process that stands still
            in the middle of one would hold its locks, and with them every other writer, for ever. After a transaction
            that ran out of it, the next may take longer (`Patience`).
    """

    def __init__(self, driver: Driver, database: str | None = None, *, timeout_seconds: float | None = None) -> None:
        self._driver = driver
        self._database = database
        self._patience = Patience(timeout_seconds)

    def ensure_schema(self) -> None:
        """Make constraints, indexes and the version node, and wait for them. Safe to repeat.

        Raises:
            GraphVersionMismatch: the graph is of another version; nothing was changed.
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
        """
        ensure_schema(self._driver, self._database)

    def apply(self, what: GraphDelta | Ready) -> WriteCounters:
        """Write a delta in one transaction, committed on return. Applying it again changes nothing.

        Args:
            what: the delta, with its rows if they were made ahead.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them, once its own retries of transient
                errors (a deadlock, a leader switch) are at an end. Nothing was written, or, where the connection broke
                during the commit, maybe all of it.
        """
        within = unit_of_work(timeout=self._patience.seconds)(write)
        try:
            with self._driver.session(database=self._database) as session:
                summary = session.execute_write(within, what)
        except Neo4jError as error:
            if "TransactionTimedOut" in (error.code or ""):
                self._patience.ran_out()
            raise
        self._patience.committed()
        delta = what.delta if isinstance(what, Ready) else what
        return replace(summary, duplicates=delta.duplicates, stale=delta.stale)


def write(tx: ManagedTransaction, what: GraphDelta | Ready) -> WriteCounters:
    """The statements of one transaction, in the order that keeps two of them from deadlock: labels, then keys."""
    run = Transaction(tx)
    rows = what if isinstance(what, Ready) else ready(what)
    delta = rows.delta

    # Step 1: anchors that others hang on, with their registers.
    jobs = rows.jobs.write(run)
    datasets = rows.datasets.write(run)
    rows.queries.write(run)

    # Step 2: what belongs to datasets.
    write_aliases(run, delta, datasets)
    write_columns(run, delta, datasets)
    rows.versions.write(run)

    # Step 3: the other anchors, and what belongs to queries.
    run_links, job_names = write_runs(run, delta, rows.runs)
    new_plans = write_plans(run, delta, rows.plans)
    intervals, new_intervals = write_intervals(run, delta, rows.intervals)

    # Step 4: relationships that only have a span; edges of plans.
    rows.links.write(run, run_links, job_names)
    write_edges(run, new_plans)

    # Step 5: what else is derived.
    write_declared(run, delta, jobs)
    write_next(run, intervals, new_intervals)
    return run.summary
