"""Writes a graph by each shape (a way to cut it into statements and transactions), and finds the fastest."""

from __future__ import annotations

import contextlib
import gc
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_benchmarks.ingest.floor.graph import FinalGraph
from headwater_benchmarks.ingest.floor.shapes import SHAPES, Commit, Phase, Shape
from headwater_benchmarks.ingest.servers import Database, empty, with_schema
from headwater_benchmarks.ingest.turn import Stopwatch, Turn
from headwater_graph.schema import ensure_schema

if TYPE_CHECKING:
    from neo4j import ManagedTransaction


@dataclass(frozen=True, slots=True)
class Trial:
    """One shape with one batch size.

    Attributes:
        shape: the shape that was tried.
        rows: rows in a transaction.
        seconds: the median time of its tries.
    """

    shape: Shape
    rows: int
    seconds: float


def write_graph(database: Database, phases: list[Phase], sessions: int) -> Turn:
    """Commit everything, from the first statement to the last commit.

    The driver retries transient errors, such as a deadlock of two sessions.
    """
    with _sessions(database, sessions) as commit_all, _without_collections():
        watch = Stopwatch(database)
        for phase in phases:
            commit_all(phase)
        return watch.stop()


def trials(
    database: Database,
    graph: FinalGraph,
    batch_rows: Sequence[int],
    tries: int,
    tried: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Try every shape with every batch size, in turns; the fastest comes first. Leaves the database empty.

    Args:
        database: an empty database.
        graph: the graph to write; a small one is enough.
        batch_rows: the batch sizes, as rows in a transaction.
        tries: how often to try each; the median counts. One more try, before these, doesn't count.
        tried: called after each try, `trial_count(batch_rows, tries)` times in all.
    """
    seconds: dict[tuple[Shape, int], list[float]] = {(shape, rows): [] for shape in SHAPES for rows in batch_rows}
    for number in range(tries + 1):
        for (shape, rows), each in seconds.items():
            with prepared(database):
                took = write_graph(database, shape.phases(graph, rows), shape.sessions).seconds
                empty(database)
            if number:  # the first round warms up
                each.append(took)
            tried()
    found = [Trial(shape, rows, statistics.median(each)) for (shape, rows), each in seconds.items()]
    return sorted(found, key=lambda trial: trial.seconds)


@contextlib.contextmanager
def prepared(database: Database) -> Iterator[Database]:
    """The database with Headwater's constraints and indexes, and those for a node of each micro-batch.

    The latter are gone after the block.
    """
    ensure_schema(database.driver, database.target.database)
    with with_schema(database, "floor_schema"):
        yield database


def trial_count(batch_rows: Sequence[int], tries: int) -> int:
    """Number of times that `trials` writes the graph."""
    return (tries + 1) * len(SHAPES) * len(batch_rows)


@contextlib.contextmanager
def _sessions(database: Database, count: int) -> Iterator[Callable[[Phase], None]]:
    """A function that commits a phase from `count` threads, each with a session of its own."""
    with contextlib.ExitStack() as stack:
        sessions = [
            stack.enter_context(database.driver.session(database=database.target.database)) for _ in range(count)
        ]
        pool = stack.enter_context(ThreadPoolExecutor(count))

        def work(share: tuple[int, Phase]) -> None:
            place, phase = share
            for commit in phase:
                sessions[place].execute_write(_run, commit)

        def commit_all(phase: Phase) -> None:
            list(pool.map(work, [(place, phase[place::count]) for place in range(count)]))

        yield commit_all


def _run(tx: ManagedTransaction, commit: Commit) -> None:
    tx.run(commit.text, commit.parameters).consume()


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Turns Python's collector off: rows are millions of objects, which it would examine again and again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
