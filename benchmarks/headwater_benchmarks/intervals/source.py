"""The consumer's source: encoded events of one query, made by another process while they are consumed.

Instead of Kafka, whose broker and producer would take more processor time than the consumer itself.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import time
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection

from headwater_benchmarks.intervals.traces import Sought
from headwater_benchmarks.workload.company import Query
from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.kafka.source import Polled, SourceListener
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key

_PARTITION = Partition("generated", 0)
_PART = 500
"""Events that are sent at once."""


class GeneratedSource:
    """One partition with so many events (`RecordSource`).

    Args:
        connection: brings them; at the end of it, the records that were sought.
        count: how many there are.
    """

    def __init__(self, connection: Connection, count: int) -> None:
        self._connection = connection
        self._count = count
        self._next = 0
        self._committed = 0
        self._waiting: list[bytes] = []
        self._key = b""
        self._listener: SourceListener | None = None
        self._assigned = self._paused = self._answered = False

    def sought(self) -> list[Sought]:
        """The records that were to be sought, once all events were read."""
        found: list[Sought] = self._connection.recv()
        return found

    def subscribe(self, listener: SourceListener) -> None:
        """Implement `RecordSource.subscribe`."""
        self._listener = listener

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Implement `RecordSource.poll`."""
        if self._listener is None:
            # The loop polls while the graph is made ready.
            time.sleep(timeout_seconds)
            return Polled()
        if not self._assigned:
            self._assigned = True
            self._listener.assigned(frozenset({_PARTITION}))
        if self._answered:
            self._answered = False
            self._listener.committed(None)
        if self._paused or self._next == self._count:
            # As Kafka's poll does. Without the wait the loop's thread would spin while the database is written to.
            time.sleep(timeout_seconds)
            return Polled()
        if not self._waiting:
            if not self._connection.poll(timeout_seconds):
                return Polled()
            self._key, self._waiting = self._connection.recv()
        size = 0
        taken: list[FetchedRecord] = []
        for value in self._waiting[:max_records]:
            if size >= max_bytes:
                break
            taken.append(FetchedRecord(_PARTITION, self._next + len(taken), value, self._key))
            size += len(value)
        del self._waiting[: len(taken)]
        self._next += len(taken)
        return Polled(tuple(taken), {_PARTITION: self._count} if self._next == self._count else {})

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Implement `RecordSource.commit`."""
        self.commit_now(offsets)
        self._answered = True

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Implement `RecordSource.commit_now`."""
        self._committed = offsets.get(_PARTITION, self._committed)

    def pause(self) -> None:
        """Implement `RecordSource.pause`."""
        self._paused = True

    def resume(self) -> None:
        """Implement `RecordSource.resume`."""
        self._paused = False

    def positions(self) -> list[PartitionOffsets]:
        """Implement `RecordSource.positions`."""
        return [PartitionOffsets(_PARTITION, 0, self._count, self._committed)]

    def standing(self) -> list[PartitionOffsets]:
        """Implement `RecordSource.standing`."""
        return self.positions()

    @property
    def reachable(self) -> bool:
        """Always."""
        return True

    def close(self) -> None:
        """Implement `RecordSource.close`."""
        if self._listener is not None and self._assigned:
            self._listener.revoked(frozenset({_PARTITION}))


@contextlib.contextmanager
def generated(seed: int, count: int, sought: frozenset[int]) -> Iterator[GeneratedSource]:
    """A source of a query's first micro-batches; a process makes them while the block runs.

    Args:
        seed: of the query.
        count: of micro-batches.
        sought: batch ids of which a record is sought.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_generate, args=(theirs, seed, count, sought), daemon=True)
    process.start()
    theirs.close()
    try:
        yield GeneratedSource(ours, count)
    finally:
        ours.close()
        process.terminate()
        process.join()


def _generate(connection: Connection, seed: int, count: int, sought: frozenset[int]) -> None:
    query = Query(0, random.Random(seed), irregular=True)  # noqa: S311  no secret
    records: list[Sought] = []
    with contextlib.suppress(BrokenPipeError):
        for first in range(0, count, _PART):
            events = [query.next() for _ in range(first, min(first + _PART, count))]
            records += [read_by(event, at) for at, event in enumerate(events, first) if at in sought]
            connection.send((record_key(events[0]), list(map(encode, events))))
        connection.send(records)


def read_by(event: LineageEvent, batch_id: int) -> Sought:
    """The last record that the micro-batch read of one of its partitions."""
    assert event.interval_event is not None  # noqa: S101  for the type checker
    use = event.interval_event.entries[0].inputs[0]
    assert use.position is not None and use.position.kafka is not None  # noqa: S101, PT018  for the type checker
    ranges = use.position.kafka.ranges
    part = ranges[batch_id % len(ranges)]
    return Sought(batch_id, use.dataset, part.partition, part.to_exclusive - 1)
