"""Records in flight: read from the topic and not yet committed, at one of three stages.

    fetched   records, some of them decoded
    prepared  the next batch, decoded and folded
    current   the batch that is being written, or waits for another attempt

At most three batches are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.kafka.source import Polled
from headwater_consumers.materializer.batch import EarlyDecoder, RecordBatch
from headwater_consumers.materializer.checkpoint import BatchCheckpoint
from headwater_consumers.materializer.limits import BatchLimit


class InFlight:
    """Buffer of the records in flight at the three stages; removes a partition from all of them at once.

    Args:
        early: decoder of fetched records that aren't in a batch yet.
    """

    def __init__(self, limit: BatchLimit, early: EarlyDecoder) -> None:
        self._limit = limit
        self._early = early
        self._fetched: list[FetchedRecord] = []
        self._bytes = 0
        self._reached: dict[Partition, int] = {}
        self._scheduled: dict[Partition, int] = {}
        self.prepared: RecordBatch | None = None
        self.current: BatchCheckpoint | None = None

    @property
    def fetched_records(self) -> int:
        """Number of fetched records that aren't in a batch yet."""
        return len(self._fetched)

    @property
    def free_records(self) -> int:
        """Number of records that may still be fetched."""
        return self._limit.records - len(self._fetched)

    @property
    def free_bytes(self) -> int:
        """Number of bytes of records that may still be fetched."""
        return self._limit.bytes - self._bytes

    @property
    def full(self) -> bool:
        """True if a whole batch has been fetched."""
        return self.free_records <= 0 or self.free_bytes <= 0

    @property
    def overfull(self) -> bool:
        """True if the fetched bytes are twice the maximum of a batch."""
        return self._bytes >= 2 * self._limit.bytes

    @property
    def anything_fetched(self) -> bool:
        """True if a batch can be built: there are fetched records, or a reached end after them."""
        return bool(self._fetched or self._reached)

    @property
    def empty(self) -> bool:
        """True if nothing is in flight at any stage."""
        return not self.anything_fetched and self.prepared is None and self.current is None

    @property
    def records(self) -> int:
        """Number of records at all stages."""
        prepared = len(self.prepared.records) if self.prepared else 0
        current = len(self.current.batch.records) if self.current else 0
        return len(self._fetched) + prepared + current

    @property
    def held(self) -> int:
        """Number of unfinished records, including those of a lost partition that `current` still writes."""
        prepared = len(self.prepared.records) if self.prepared else 0
        return len(self._fetched) + prepared + (self.current.size if self.current else 0)

    def add(self, polled: Polled) -> None:
        """Buffer the records of a poll."""
        self._fetched += polled.records
        self._bytes += sum(record.size for record in polled.records)
        for record in polled.records:
            self._scheduled[record.partition] = record.end
        # A reached end needs a separate commit only if control records are between the last record and the end.
        for partition, offset in polled.reached.items():
            if offset > self._scheduled.get(partition, 0):
                self._scheduled[partition] = offset
                self._reached[partition] = offset

    def decode_early(self) -> None:
        """Decode a few more of the fetched records."""
        self._early.decode_more(self._fetched)

    def prepare(self, make: Callable[[list[FetchedRecord], dict[Partition, int], EarlyDecoder], RecordBatch]) -> None:
        """Build the next batch from as many fetched records as fit. If `make` raises, nothing changes.

        Args:
            make: function that makes a batch of records, reached ends and the early decoder.
        """
        count = self._fitting()
        part, rest = self._fetched[:count], self._fetched[count:]
        # A reached end is after all earlier fetched records. It counts only if no later record was fetched: a later
        # record may have been committed, and offsets must never go back.
        ends = {} if rest else self._reached
        reached = {partition: end for partition, end in ends.items() if end == self._scheduled.get(partition)}
        self.prepared = make(part, reached, self._early)
        self._early.taken(count)
        self._fetched = rest
        self._bytes = sum(record.size for record in rest)
        if not rest:
            self._reached = {}

    def _fitting(self) -> int:
        """Number of fetched records for the next batch; at least one, of any size."""
        size = 0
        for count, record in enumerate(self._fetched[: self._limit.records]):
            size += record.size
            if count and size > self._limit.bytes:
                return count
        return min(len(self._fetched), self._limit.records)

    def drop(self, partitions: Iterable[Partition], *, writing: bool) -> int:
        """Drop all records of these partitions; return the number of dropped records.

        Args:
            writing: True if `current` is being written now. If so, it isn't dropped, but its commit leaves these
                partitions out.
        """
        before = self.held
        gone = frozenset(partitions)
        if self.current is not None and not writing and not gone.isdisjoint(self.current.batch.offsets):
            current, self.current = self.current, None
            self._requeue(self.prepared)
            self.prepared = None
            self._requeue(current.batch)
        elif self.current is not None:
            self.current.disown(gone)
        if self.prepared is not None and not gone.isdisjoint(self.prepared.offsets):
            self._requeue(self.prepared)
            self.prepared = None
        self._fetched = [record for record in self._fetched if record.partition not in gone]
        self._early.forget(gone)
        self._bytes = sum(record.size for record in self._fetched)
        self._reached = {p: offset for p, offset in self._reached.items() if p not in gone}
        self._scheduled = {p: offset for p, offset in self._scheduled.items() if p not in gone}
        return before - self.held

    def _requeue(self, batch: RecordBatch | None) -> None:
        """Put a batch's records back before later fetched records, to keep the order within partitions."""
        if batch is not None:
            self._reached = {**batch.reached, **self._reached}
            self._fetched[:0] = batch.records
            self._early.clear()
