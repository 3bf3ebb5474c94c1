"""Attempts at records, to find a record that ends every consumer process that reads it.

A killed process, for example by the OOM killer, can't report its end. So before a partition's first records are
processed, their offset is committed again; its metadata has the ids of the processes that began the records. The first
commit of progress removes the ids. The next owner of the partition counts the other processes in the metadata:

    other processes   records passed on at once   for the next
    0, 1              as many as fit              all records
    2                 256                         12,288 records, more than three batches
    3                 16                          256 records
    4, 5              1                           16 records, 1 record
    6                 1, as a dead letter         1 record

With a limit, records are passed on only after the previous ones were committed, and each such commit keeps the ids. So
the record is found once six processes have ended, and an idle partition has no ids. A normal stop of a consumer removes
its ids.

Only ends that a record causes count. A process that loses its session, for example because the brokers are unavailable,
keeps its id, so each living process counts once. A process that didn't poll for `max.poll.interval.ms` was held up by a
record: it takes another id (`stalled`), as if it had ended.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from headwater_consumers.kafka.records import FetchedRecord, Partition

_CAREFUL: Mapping[int, tuple[int, int]] = {2: (256, 12_288), 3: (16, 256), 4: (1, 16), 5: (1, 1), 6: (1, 1)}
"""For each number of earlier attempts: number of records passed on at once, and number of records with this limit."""
SET_ASIDE_AFTER = 6
"""Number of attempts in vain after which a record becomes a dead letter."""


@dataclass(slots=True)
class _Attempt:
    """Attempts at an assigned partition.

    Attributes:
        begun_by: other processes that began the first records.
        left: number of further records to pass on with a limit of `_CAREFUL`.
        careful: True until all records under this limit have been passed on and committed.
        uncommitted_end: offset after the last uncommitted record that was passed on; None if all are committed.
        begun: True if this process's attempt is recorded.
    """

    begun_by: tuple[str, ...]
    left: int
    careful: bool
    uncommitted_end: int | None = None
    begun: bool = False

    @property
    def before(self) -> int:
        return len(self.begun_by)


class Attempts:
    """Attempts at the first record of each assigned partition. All calls come from one thread.

    Args:
        new_id: function that makes a process id.
    """

    def __init__(self, new_id: Callable[[], str] = lambda: secrets.token_hex(4)) -> None:
        self._by_partition: dict[Partition, _Attempt] = {}
        self._new_id = new_id
        self._process = new_id()

    def assigned(self, partition: Partition, begun_by: Iterable[str]) -> None:
        """Track a newly assigned partition, whose first records these processes began in vain."""
        others = tuple(process for process in begun_by if process != self._process)[:SET_ASIDE_AFTER]
        self._by_partition[partition] = _Attempt(others, _CAREFUL.get(len(others), (0, 0))[1], len(others) in _CAREFUL)

    def stalled(self) -> None:
        """Count this process's attempts as if it had ended, because its current records have held it up."""
        self._process = self._new_id()

    def forget(self, partition: Partition) -> None:
        """Drop a partition that was revoked."""
        self._by_partition.pop(partition, None)

    @property
    def at_once(self) -> int | None:
        """Maximum number of records to pass on now.

        0: no record until the previous records are committed; None: no limit.
        """
        careful = [each for each in self._by_partition.values() if each.careful]
        if not careful:
            return None
        if any(each.uncommitted_end is not None for each in self._by_partition.values()):
            return 0
        return min(_CAREFUL[each.before][0] for each in careful)

    def begins(self, records: Iterable[FetchedRecord]) -> dict[Partition, int]:
        """Find partitions whose first records since their assignment are in this batch, with the first offset."""
        first: dict[Partition, int] = {}
        for record in records:
            attempt = self._by_partition.get(record.partition)
            if attempt is not None and not attempt.begun:
                first.setdefault(record.partition, record.offset)
        return first

    def handing(self, records: Iterable[FetchedRecord]) -> list[FetchedRecord]:
        """Return the records to pass on now; a record that has to become a dead letter is marked."""
        handed = []
        for record in records:
            attempt = self._by_partition.get(record.partition)
            if attempt is not None:
                if not attempt.begun and attempt.before >= SET_ASIDE_AFTER:
                    record = replace(record, ends_consumers=True)  # noqa: PLW2901
                attempt.begun, attempt.uncommitted_end = True, record.end
                attempt.left = max(0, attempt.left - 1)
            handed.append(record)
        return handed

    def at_end(self, partition: Partition) -> bool:
        """Record that the end of a partition was reached: the limit doesn't apply to later records.

        Return True if the ids have to be removed, because no further commit will remove them.
        """
        attempt = self._by_partition.get(partition)
        if attempt is None or attempt.left == 0:
            return False
        attempt.left, attempt.careful = 0, attempt.uncommitted_end is not None
        return attempt.uncommitted_end is None and attempt.begun

    def committed(self, offsets: Mapping[Partition, int]) -> None:
        """Record committed offsets."""
        for partition, offset in offsets.items():
            attempt = self._by_partition.get(partition)
            if attempt is not None and attempt.uncommitted_end is not None and offset >= attempt.uncommitted_end:
                attempt.uncommitted_end = None
                attempt.careful = attempt.left > 0

    def beginning(self, partition: Partition) -> tuple[str, ...]:
        """Return the process ids to commit before a partition's first record is processed, including this process's."""
        attempt = self._by_partition.get(partition)
        return (*(() if attempt is None else attempt.begun_by), self._process)

    def begun_by(self, partition: Partition) -> tuple[str, ...]:
        """Return the process ids to commit with progress; empty if no limit of `_CAREFUL` applies."""
        attempt = self._by_partition.get(partition)
        return self.beginning(partition) if attempt is not None and attempt.begun and attempt.left > 0 else ()

    def is_recorded(self, partition: Partition) -> bool:
        """Return True if the partition's committed metadata may have process ids."""
        attempt = self._by_partition.get(partition)
        return attempt is not None and attempt.begun and (attempt.uncommitted_end is not None or attempt.left > 0)
