"""The source, as the loop sees it: records of the events topic, as a member of a consumer group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_schemas.errors import BrokerUnavailableError


@dataclass(frozen=True, slots=True)
class Polled:
    """Result of one poll.

    Attributes:
        records: in order within each partition; only those of partitions that are assigned now.
        reached: partitions whose end was met, with the offset to consume next there.
    """

    records: tuple[FetchedRecord, ...] = ()
    reached: Mapping[Partition, int] = field(default_factory=dict)


class SourceListener(Protocol):
    """Callbacks of a source within `poll` and `close`: assigned, revoked or lost partitions, committed offsets."""

    def assigned(self, partitions: frozenset[Partition]) -> None:
        """Handle newly assigned partitions; they are read from their committed offset on."""

    def revoked(self, partitions: frozenset[Partition]) -> None:
        """Handle partitions that will be revoked on return; until then their offsets can be committed."""

    def lost(self, partitions: frozenset[Partition]) -> None:
        """Handle partitions that another member has already: drop what is in flight, commit nothing."""

    def committed(self, error: BrokerUnavailableError | None) -> None:
        """Handle the result of the last `commit`; None: it succeeded."""


class RecordSource(Protocol):
    """Source of records. All calls come from one thread."""

    def subscribe(self, listener: SourceListener) -> None:
        """Join the group. Returns at once; partitions come with later polls."""

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Return records, as soon as there are any; empty after the timeout. Also keeps the membership alive.

        Args:
            max_records: maximum number of records.
            max_bytes: stop when there are so many; may be exceeded by what librdkafka holds in its queue.
            timeout_seconds: longest wait for the first record.

        Raises:
            FatalError: credentials refused.
        """

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Start to commit; the listener is called with the result in a later poll. One commit at a time.

        Partitions that are no longer assigned are left out.
        """

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Commit, and return once the brokers have: for the listener, before partitions go.

        Raises:
            BrokerUnavailableError: they haven't, or not certainly.
            FatalError: they never will.
        """

    def pause(self) -> None:
        """Let polls bring no records, until `resume`; membership stays. Also holds for partitions assigned later."""

    def resume(self) -> None:
        """End a pause. Safe to call without one."""

    def positions(self) -> list[PartitionOffsets]:
        """Return the offsets of every partition of the topic and those of the group, whoever owns it.

        Raises:
            BrokerUnavailableError: the brokers don't answer now.
            FatalError: it may not be asked.
        """

    def standing(self) -> list[PartitionOffsets]:
        """Bounds of our partitions and the group's offsets in them, as of the last fetch; asks no broker.

        Partitions of which the end isn't known yet are left out.
        """

    @property
    def reachable(self) -> bool:
        """True if a broker was connected at the last check."""

    def close(self) -> None:
        """Leave the group. Assigned partitions are revoked first."""
