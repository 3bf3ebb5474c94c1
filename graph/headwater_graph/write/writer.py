"""GraphWriter: writes one GraphDelta in one transaction.

Values are joined in Python, never in Cypher. The transaction locks the anchors (jobs, datasets, queries, runs …) that
the delta touches, reads their state, joins it with the delta and writes the changes. Every other node belongs to one
anchor (a Segment to its Query, a Column to its Dataset …). So transactions with a common anchor run one after the
other, and reads after the locks see the latest state.

`prepare_delta` makes all rows in advance, as if everything were new, on the thread that decodes and folds. So the rows
of the next batch are ready while a batch is written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from neo4j import unit_of_work
from neo4j.exceptions import Neo4jError

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.schema import ensure_schema
from headwater_graph.write.columns import write_columns
from headwater_graph.write.declarations import lock_declarations, write_consumers, write_declarations
from headwater_graph.write.incidents import lock_incidents, write_incidents
from headwater_graph.write.links import LinkRows, write_aliases, write_declared
from headwater_graph.write.nodes import (
    NodeRows,
    OfDatasetRows,
    QueryRows,
    dataset_rows,
    job_rows,
    schema_rows,
    version_rows,
)
from headwater_graph.write.plans import plan_rows, write_edges, write_plans
from headwater_graph.write.runs import RunRows, run_rows, write_runs
from headwater_graph.write.segments import SegmentRows, segment_rows, write_segments
from headwater_graph.write.summaries import without_retired, write_late, write_retentions
from headwater_graph.write.transaction import WriteCounters, WriteTransaction

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


_LONGEST = 8.0
"""Largest multiple of the configured limit. A suspended consumer holds its locks for up to this time."""


class Patience:
    """Time limit of the next transaction; each timeout doubles the limit.

    A database that has just started plans every statement first. If the limit ends a transaction during planning, the
    next attempt begins from the start. With a fixed limit, a busy machine might never commit a transaction.

    Args:
        seconds: the configured limit; None: no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._times = 1.0

    @property
    def seconds(self) -> float | None:
        """Limit of the next transaction; None: no limit."""
        return None if self._seconds is None else self._seconds * self._times

    def committed(self) -> None:
        """Record a commit: reset to the configured limit."""
        self._times = 1.0

    def ran_out(self) -> None:
        """Record a timeout: double the limit, up to eight times the configured limit."""
        self._times = min(_LONGEST, 2 * self._times)


@dataclass(frozen=True, slots=True)
class PreparedDelta:
    """A delta with its rows. Writing doesn't change the rows, so they can be written again."""

    delta: GraphDelta
    jobs: NodeRows
    datasets: NodeRows
    queries: QueryRows
    versions: OfDatasetRows
    schemas: OfDatasetRows
    runs: RunRows
    plans: list[dict[str, Any]]
    segments: SegmentRows
    links: LinkRows


def prepare_delta(delta: GraphDelta) -> PreparedDelta:
    """Make the rows of a delta."""
    return PreparedDelta(
        delta,
        job_rows(delta),
        dataset_rows(delta),
        QueryRows(delta),
        version_rows(delta),
        schema_rows(delta),
        run_rows(delta),
        plan_rows(delta),
        segment_rows(delta),
        LinkRows(delta),
    )


class GraphWriter:
    """Writes deltas into one database. Safe to use from several threads and processes at once.

    Args:
        database: name of the database; None: the user's home database.
        timeout_seconds: time limit after which Neo4j ends a transaction; None: Neo4j's configured limit. Without any
            limit, a process suspended within a transaction would keep its locks and block every other writer. After a
            timeout the next transaction gets a longer limit (`Patience`).
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
        """Write a delta in one transaction, committed on return. Applying the delta again changes nothing.

        Args:
            what: the delta, with its rows if they were made in advance.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: as the driver raises them, after its own retries of transient
                errors (a deadlock, a leader switch). Nothing was written, unless the connection broke during the
                commit: then the whole delta may have been written.
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
    """Run the statements of one transaction, ordered by label and then by key to avoid deadlocks between writers."""
    run = WriteTransaction(tx)
    rows = what if isinstance(what, PreparedDelta) else prepare_delta(what)
    delta = rows.delta

    # Step 1: anchors that other nodes refer to, with their registers.
    changes = lock_declarations(run, delta)
    incidents = lock_incidents(run, delta)
    jobs = rows.jobs.write(run, changes.subjects("job"))
    datasets = rows.datasets.write(run)
    write_consumers(run, delta, changes.subjects("consumer"))
    retired = rows.queries.write(run)

    # Step 2: nodes that belong to datasets.
    write_aliases(run, delta, datasets)
    schemas = rows.schemas.write(run)
    write_columns(run, delta, datasets, schemas)
    rows.versions.write(run)

    # Step 3: the other anchors, and nodes that belong to queries.
    run_links, job_names = write_runs(run, delta, rows.runs)
    new_plans = write_plans(run, delta, rows.plans)
    segments, late = without_retired(rows.segments, retired)
    write_segments(run, segments)
    write_late(run, late)
    write_retentions(run, delta.retentions)

    # Step 4: relationships with only a span; edges of plans.
    rows.links.write(run, run_links, job_names)
    write_edges(run, new_plans)

    # Step 5: further derived facts.
    write_declared(run, delta, jobs)
    write_declarations(run, delta, changes)
    write_incidents(run, incidents)
    return run.summary
