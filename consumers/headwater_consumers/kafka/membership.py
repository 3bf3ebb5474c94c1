"""Membership of a consumer group: assigned partitions and offsets to commit, for loops that use only `commit_now`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headwater_consumers.kafka.records import Partition
from headwater_consumers.kafka.source import RecordSource
from headwater_schemas.errors import BrokerUnavailableError

POLL_SECONDS = 0.2
_POSITIONS_SECONDS = 1.0


class CatchUp:
    """Check that the group has caught up with the topic's end offsets at the first call.

    Compares the committed offsets of all members with these end offsets. A partition of a deleted topic counts as
    caught up.

    Args:
        source: source whose `positions` has all partitions of the topic, not only this consumer's.
        clock: monotonic seconds.
        every_seconds: pause between requests to the brokers.
        trouble: called with the error if the brokers don't answer.
    """

    def __init__(
        self,
        source: RecordSource,
        clock: Callable[[], float],
        *,
        every_seconds: float,
        trouble: Callable[[BrokerUnavailableError], None] = lambda _: None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._every_seconds = every_seconds
        self._trouble = trouble
        self._goal: dict[Partition, int] | None = None
        self._next = 0.0

    def done(self) -> bool:
        """Return True once the group has caught up; False if the brokers don't answer. Asks them periodically."""
        if self._clock() < self._next:
            return False
        self._next = self._clock() + self._every_seconds
        try:
            positions = self._source.positions()
        except BrokerUnavailableError as error:
            self._trouble(error)
            return False
        if self._goal is None:
            self._goal = {position.partition: position.end for position in positions}
        reached = {position.partition: max(position.begin, position.committed or 0) for position in positions}
        return all(reached.get(partition, goal) >= goal for partition, goal in self._goal.items())


class Membership:
    """Assigned partitions of one group member, and its offsets; listener of the source.

    Args:
        clock: monotonic seconds.
        not_committed: called with the error of a failed commit.
        trouble: called with the error if the group's positions can't be read.
        gone: called with partitions that are no longer assigned.
    """

    def __init__(
        self,
        source: RecordSource,
        clock: Callable[[], float],
        *,
        not_committed: Callable[[BrokerUnavailableError], None],
        trouble: Callable[[BrokerUnavailableError], None],
        gone: Callable[[frozenset[Partition]], None] = lambda _: None,
    ) -> None:
        self._source = source
        self._clock = clock
        self._not_committed = not_committed
        self._gone = gone
        self._uncommitted: dict[Partition, int] = {}
        self._committed: dict[Partition, int] = {}
        self._catch_up = CatchUp(source, clock, every_seconds=_POSITIONS_SECONDS, trouble=trouble)
        self.partitions: frozenset[Partition] = frozenset()

    # Callbacks of the source, within `poll` and `close`.

    def assigned(self, partitions: frozenset[Partition]) -> None:
        """Take over newly assigned partitions."""
        self.partitions |= partitions

    def revoked(self, partitions: frozenset[Partition]) -> None:
        """Forget revoked partitions. Their next owner reads uncommitted records again."""
        self.lost(partitions)

    def lost(self, partitions: frozenset[Partition]) -> None:
        """Forget lost partitions."""
        self.partitions -= partitions
        self._gone(partitions)
        for partition in partitions:
            self._uncommitted.pop(partition, None)
            self._committed.pop(partition, None)

    def committed(self, error: BrokerUnavailableError | None) -> None:
        """Do nothing: offsets are only committed by `commit_now`."""

    # Offsets

    def dealt_with(self, offsets: Mapping[Partition, int]) -> None:
        """Commit offsets of processed records. Offsets that can't be committed now are committed with later ones."""
        self._uncommitted.update(
            {
                partition: offset
                for partition, offset in offsets.items()
                if partition in self.partitions and offset != self._committed.get(partition, 0)
            }
        )
        self._commit()

    def commit_the_last(self, seconds: float) -> None:
        """Retry commits that failed because other members left the group, as at a stop of all members.

        Args:
            seconds: time limit. Records of offsets that are still uncommitted will be read again.
        """
        until = self._clock() + seconds
        self._source.pause()
        while self._uncommitted:
            self._commit()
            if not self._uncommitted or self._clock() >= until:
                return
            # The group rebalances during polls; offsets of revoked partitions must no longer be committed.
            self._source.poll(max_records=1, max_bytes=1, timeout_seconds=POLL_SECONDS)

    def caught_up(self) -> bool:
        """Return True once the offsets that were pending at the first call are committed, by any member."""
        return self._catch_up.done()

    def _commit(self) -> None:
        if not self._uncommitted:
            return
        try:
            self._source.commit_now(self._uncommitted)
        except BrokerUnavailableError as error:
            self._not_committed(error)
        else:
            self._committed.update(self._uncommitted)
            self._uncommitted = {}
