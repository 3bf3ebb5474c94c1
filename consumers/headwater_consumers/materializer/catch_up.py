"""Knowing when the group has caught up with where the topic ended at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_schemas.errors import BrokerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_consumers.materializer.records import Partition
    from headwater_consumers.materializer.source import Source

_EVERY_SECONDS = 0.25


class CatchUp:
    """Compares the group's committed offsets, whoever committed them, with the end offsets at the first look.

    A partition that is gone since (its topic was deleted) counts as caught up: nothing of it is left to read.

    Args:
        source: answers for all partitions of the topic, not only this consumer's.
        clock: monotonic seconds.
    """

    def __init__(self, source: Source, clock: Callable[[], float]) -> None:
        self._source = source
        self._clock = clock
        self._goal: dict[Partition, int] | None = None
        self._next = 0.0

    def done(self) -> bool:
        """Whether it has; asks the brokers now and then. False where they don't answer."""
        if self._clock() < self._next:
            return False
        self._next = self._clock() + _EVERY_SECONDS
        try:
            positions = self._source.positions()
        except BrokerUnavailableError:
            return False
        if self._goal is None:
            self._goal = {position.partition: position.end for position in positions}
        reached = {position.partition: max(position.begin, position.committed or 0) for position in positions}
        return all(reached.get(partition, goal) >= goal for partition, goal in self._goal.items())
