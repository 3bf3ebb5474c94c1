"""Interface between the loop and its source: records of the events topic, as a member of a consumer group."""

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
        records: records of assigned partitions, in order within each partition.
        reached: partitions whose end was reached, with the next offset to consume.
    """

    records: tuple[FetchedRecord, ...] = ()
    reached: Mapping[Partition, int] = field(default_factory=dict)


class SourceListener(Protocol):
    """Callbacks of a source within `poll` and `close`: assigned, revoked or lost partitions, committed offsets."""

    def assigned(self, partitions: frozenset[Partition]) -> None:
        """Handle newly assigned partitions, which are read from their committed offset."""

    def revoked(self, partitions: frozenset[Partition]) -> None:
        """Handle partitions that will be revoked when this method returns; it can still commit their offsets."""

    def lost(self, partitions: frozenset[Partition]) -> None:
        """Handle partitions that another member already owns: drop their in-flight records, commit nothing."""

    def committed(self, error: BrokerUnavailableError | None) -> None:
        """Handle the result of the last `commit`; None: it succeeded."""


class RecordSource(Protocol):
    """Source of records. All calls come from one thread."""

    def subscribe(self, listener: SourceListener) -> None:
        """Join the group. Returns at once; partitions are assigned during later polls."""

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Return records, as soon as there are any; empty after the timeout. Also keeps the membership alive.

        Args:
            max_records: maximum number of records.
            max_bytes: no further record is added once the records reach this size; the total may exceed it.
            timeout_seconds: longest wait for the first record.

        Raises:
            FatalError: credentials refused.
        """

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Start a commit; the listener is called with the result in a later poll. One commit at a time.

        Partitions that are no longer assigned, or whose topic was recreated, are left out.
        """

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Commit and wait for the brokers' confirmation; for the listener, before partitions are revoked.

        Raises:
            BrokerUnavailableError: the brokers haven't confirmed the commit.
            FatalError: the brokers refuse the commit for good.
        """

    def pause(self) -> None:
        """Let polls return no records until `resume`, but stay in the group. Also for partitions assigned later."""

    def resume(self) -> None:
        """End a pause. Safe to call without a `pause`."""

    def positions(self) -> list[PartitionOffsets]:
        """Return the bounds and the group's offsets of all partitions of the topic, assigned or not.

        Raises:
            BrokerUnavailableError: the brokers don't answer now.
            FatalError: the user may not read them.
        """

    def standing(self) -> list[PartitionOffsets]:
        """Return the bounds of the assigned partitions and the group's offsets at the last fetch, without a request.

        Partitions with an unknown end are left out.
        """

    @property
    def reachable(self) -> bool:
        """True if a broker was connected at the last check."""

    def close(self) -> None:
        """Leave the group. Assigned partitions are revoked first."""
