"""Interface of the loop to the graph: fold events, apply the result, and check whether the database is healthy.

`GraphStore` is the protocol; `Neo4jGraph` implements it for a Neo4j database.

The driver's exceptions are translated into the tree in `errors`. The driver's retries are off: the loop retries, polls
Kafka meanwhile and reports the state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from headwater_consumers.materializer.errors import FoldFailedError, GraphUnusableError, TooManyLinksError
from headwater_consumers.materializer.neo4j_errors import classify
from headwater_consumers.materializer.progress import PartitionProgress
from headwater_graph.connection import Neo4jTarget, connect
from headwater_graph.limits import MOST_LINKS, LinksExceededError
from headwater_graph.schema import GraphVersionMismatch, SchemaConflict
from headwater_graph.statement_files import load
from headwater_graph.write import GraphWriter, PartsWriter
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.errors import LineageError
from headwater_schemas.events import DatasetRef, LineageEvent

if TYPE_CHECKING:
    from neo4j import Driver


T = TypeVar("T")

Folded = Any
"""Folded events, the argument of `GraphStore.apply`. The loop only passes them on."""

Fold = Callable[[Sequence[LineageEvent]], Folded]


class GraphStore(Protocol):
    """Store of folded events. Called from one thread at a time, perhaps from different threads."""

    def prepare(self) -> None:
        """Make the database ready: constraints, indexes, version. Safe to repeat.

        Raises:
            LineageError: see `errors`.
        """

    def apply(self, folded: Folded) -> WriteCounters:
        """Write a folded batch, committed on return. Applying it again changes nothing.

        The batch is one transaction, or one for each of its parts.

        Raises:
            LineageError: nothing or only some parts were written; or perhaps everything, if the connection broke during
                the commit.
        """

    def report(self, progress: Sequence[PartitionProgress]) -> None:
        """Write the consumer's progress next to the graph, which also checks the connection to the database.

        Raises:
            LineageError: the database can't be reached.
        """

    def probe(self) -> None:
        """Check that the database is healthy, by a small committed write.

        Raises:
            LineageError: the database isn't healthy.
        """

    def close(self) -> None:
        """Close the connections. Never raises: nothing depends on it."""


def checked_fold(fold: Fold, events: Sequence[LineageEvent]) -> Folded:
    """Return `fold(events)`.

    Raises:
        FoldFailedError: folding raised. The error has the name of the exception, but not its text, which may quote a
            payload.
        TooManyLinksError: the micro-batches and declared jobs would have too many relationships; nothing was folded.
    """
    pairs = [pair for event in events for pair in _related(event)]
    # A cheap upper bound first, then distinct pairs: micro-batches of one query repeat the same datasets.
    if _count(pairs) > MOST_LINKS and _count({(frozenset(one), frozenset(other)) for one, other in pairs}) > MOST_LINKS:
        raise TooManyLinksError
    try:
        return fold(events)
    except Exception as error:
        name = type(error).__name__
        raise FoldFailedError(f"Folding failed with {name}.", code=name) from error


_Datasets = Collection[DatasetRef]


def _related(event: LineageEvent) -> Iterator[tuple[_Datasets, _Datasets]]:
    """Yield inputs and outputs that make FEEDS. The FEEDS of a run are built later, from all reports of the run."""
    if (declared := event.job_event or event.declaration_event) is not None:
        yield declared.inputs or (), declared.outputs or ()
    elif event.interval_event is not None:
        for entry in event.interval_event.entries:
            yield [use.dataset for use in entry.inputs], [use.dataset for use in entry.outputs]


def _count(pairs: Iterable[tuple[_Datasets, _Datasets]]) -> int:
    return sum(len(inputs) * len(outputs) for inputs, outputs in pairs)


def writing_driver(target: Neo4jTarget, *, sessions: int = 1) -> Driver:
    """Create a driver for `Neo4jGraph`, without retries.

    Args:
        sessions: number of sessions that write at once.

    Raises:
        GraphUnusableError: the address is invalid.
    """
    try:
        return connect(target, user_agent="headwater-materializer", retry_seconds=0.0, pool_size=sessions + 3)
    except Exception as error:
        raise GraphUnusableError(
            f"{target.uri!r} isn't the address of a Neo4j: {error}", setting="HEADWATER_NEO4J_URI"
        ) from error


class Neo4jGraph:
    """`GraphStore` in one Neo4j database.

    Args:
        driver: driver of the database; closed with this object.
    """

    def __init__(self, target: Neo4jTarget, driver: Driver, writer: GraphWriter | PartsWriter) -> None:
        self._target = target
        self._driver = driver
        self._writer = writer

    def prepare(self) -> None:
        """Make the database ready: constraints, indexes, version.

        Raises:
            LineageError: see `errors`.
        """
        try:
            self._writer.ensure_schema()
        except (GraphVersionMismatch, SchemaConflict) as error:
            raise GraphUnusableError(str(error), setting="HEADWATER_NEO4J_DATABASE") from error
        except Exception as error:
            raise self._classified(error) from error

    def apply(self, folded: Folded) -> WriteCounters:
        """Write a folded batch.

        Raises:
            LineageError: see `errors`.
        """
        return self._translated(lambda: self._writer.apply(folded))

    def report(self, progress: Sequence[PartitionProgress]) -> None:
        """Write the consumer's progress next to the graph.

        Raises:
            LineageError: the database can't be reached.
        """
        self._translated(lambda: self._run("progress", rows=[each.row() for each in progress]))

    def probe(self) -> None:
        """Check that the database is healthy, by a small committed write.

        Raises:
            LineageError: the database isn't healthy.
        """
        self._translated(lambda: self._run("probe"))

    def close(self) -> None:
        """Close the connections. Never raises: nothing depends on it."""
        with contextlib.suppress(Exception):
            self._driver.close()

    def _run(self, statement: str, **parameters: Any) -> None:
        text = load("headwater_consumers.materializer", f"progress/{statement}")
        with self._driver.session(database=self._target.database) as session:
            session.run(text, parameters).consume()

    def _translated(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception as error:
            raise self._classified(error) from error

    def _classified(self, error: Exception) -> LineageError:
        if isinstance(error, LinksExceededError):
            return TooManyLinksError()
        return classify(error, uri=self._target.uri, user=self._target.user, database=self._target.database)
