"""GraphWriter: one GraphDelta, one transaction.

The algebra is Python's alone. The transaction locks the anchors that the delta touches, reads their state, joins it
with the delta and writes what that changes. Whatever else it touches belongs to one anchor (an Interval to its Query,
a Column to its Dataset …), so two transactions that have anything in common follow one another, and a read after the
locks is the latest there is.

Rows of everything, as if all of it were new, are made ahead (`prepare_delta`), on the thread that decodes and folds:
while one batch is written, the next only has to be sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from neo4j import unit_of_work
from neo4j.exceptions import Neo4jError

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.graph.schema import ensure_schema
from headwater_consumers.materializer.write.columns import write_columns
from headwater_consumers.materializer.write.intervals import IntervalRows, interval_rows, write_intervals, write_next
from headwater_consumers.materializer.write.links import LinkRows, write_aliases, write_declared
from headwater_consumers.materializer.write.nodes import NodeRows, QueryRows, VersionRows, dataset_rows, job_rows
from headwater_consumers.materializer.write.plans import plan_rows, write_edges, write_plans
from headwater_consumers.materializer.write.runs import RunRows, run_rows, write_runs
from headwater_consumers.materializer.write.transaction import WriteCounters, WriteTransaction

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


_LONGEST = 8.0
"""Times what is configured: a consumer that stands still holds locks for so long."""


class Patience:
    """How long Neo4j may take for the next transaction: longer after each that ran out of time.

    A database that has just started plans every statement anew, and ends a transaction in the middle of that as in the
    middle of anything else; the next attempt would begin where this one did. On a machine that is busy enough, none
    would ever be committed.

    Args:
        seconds: what is configured; None: no limit of ours.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._times = 1.0

    @property
    def seconds(self) -> float | None:
        """Of the next transaction."""
        return None if self._seconds is None else self._seconds * self._times

    def committed(self) -> None:
        """What is configured is enough."""
        self._times = 1.0

    def ran_out(self) -> None:
        """It wasn't: twice as long next time, up to eight times what is configured."""
        self._times = min(_LONGEST, 2 * self._times)


@dataclass(frozen=True, slots=True)
class PreparedDelta:
    """A delta with its rows. Writing it changes nothing in it, so that it can be written again."""

    delta: GraphDelta
    jobs: NodeRows
    datasets: NodeRows
    queries: QueryRows
    versions: VersionRows
    runs: RunRows
    plans: list[dict[str, Any]]
    intervals: IntervalRows
    links: LinkRows


def prepare_delta(delta: GraphDelta) -> PreparedDelta:
    """The rows of a delta."""
    return PreparedDelta(
        delta,
        job_rows(delta),
        dataset_rows(delta),
        QueryRows(delta),
        VersionRows(delta),
        run_rows(delta),
        plan_rows(delta),
        interval_rows(delta),
        LinkRows(delta),
    )


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

    def apply(self, what: GraphDelta | PreparedDelta) -> WriteCounters:
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
        delta = what.delta if isinstance(what, PreparedDelta) else what
        return replace(summary, duplicates=delta.duplicates, stale=delta.stale)


def write(tx: ManagedTransaction, what: GraphDelta | PreparedDelta) -> WriteCounters:
    """The statements of one transaction, in the order that keeps two of them from deadlock: labels, then keys."""
    run = WriteTransaction(tx)
    rows = what if isinstance(what, PreparedDelta) else prepare_delta(what)
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
