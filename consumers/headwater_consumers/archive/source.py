"""ArchiveSource: reads an archive instead of the topic. Commits stay in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import islice

from headwater_consumers.archive.archive import Archive, Kept
from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import Partition, Record
from headwater_consumers.kafka.source import Polled, SourceListener


class ArchiveSource:
    """A `materializer.source.Source` of all that is in an archive: one member, and every partition is its own.

    Args:
        archive: archive to read.

    Attributes:
        kept: archived offsets.
    """

    reachable = True

    def __init__(self, archive: Archive) -> None:
        self.kept: list[Kept] = archive.kept()
        self._records: Iterator[Record] = archive.records()
        self._committed: dict[Partition, int] = {}
        self._listener: SourceListener | None = None
        self._assigned = self._paused = self._asked = False

    def subscribe(self, listener: SourceListener) -> None:
        """Everything is assigned with the first poll."""
        self._listener = listener

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """The next records; none once all have been read.

        Raises:
            ArchiveError: it can't be read.
        """
        if self._listener is not None and not self._assigned:
            self._assigned = True
            self._listener.assigned(frozenset(kept.partition for kept in self.kept))
        if self._listener is not None and self._asked:
            self._asked = False
            self._listener.committed(None)
        records: list[Record] = []
        size = 0
        for record in () if self._paused else islice(self._records, max_records):
            records.append(record)
            size += record.size
            if size >= max_bytes:
                break
        if not records:
            time.sleep(timeout_seconds)  # what a poll does that brings nothing
        return Polled(tuple(records))

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Remember them; the listener is called with the next poll."""
        self.commit_now(offsets)
        self._asked = True

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Remember them."""
        # A partition's records may be a little out of order where they were published around midnight.
        for partition, offset in offsets.items():
            self._committed[partition] = max(offset, self._committed.get(partition, 0))

    def pause(self) -> None:
        """Bring no records."""
        self._paused = True

    def resume(self) -> None:
        """Bring records again."""
        self._paused = False

    def positions(self) -> list[PartitionOffsets]:
        """Return the archived offsets of each partition, with how many are done."""
        return [
            PartitionOffsets(kept.partition, kept.begin, kept.end, self._committed.get(kept.partition))
            for kept in self.kept
        ]

    def standing(self) -> list[PartitionOffsets]:
        """Return `positions`, since all partitions are this reader's."""
        return self.positions()

    def close(self) -> None:
        """Give everything back."""
        if self._listener is not None and self._assigned:
            self._listener.revoked(frozenset(kept.partition for kept in self.kept))
