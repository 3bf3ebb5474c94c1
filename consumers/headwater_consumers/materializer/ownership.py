"""Which partitions are ours, of which incarnation of the topic, and how far they are committed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from confluent_kafka import TopicPartition

from headwater_consumers.materializer.offsets import Committed, committed_metadata
from headwater_consumers.materializer.records import Partition


class Ownership:
    """Kept up to date by the source's callbacks; all on one thread."""

    def __init__(self) -> None:
        self._owned: dict[tuple[str, int], Partition] = {}
        self._committed: dict[Partition, int] = {}

    @property
    def partitions(self) -> frozenset[Partition]:
        """Those that are ours."""
        return frozenset(self._owned.values())

    def find(self, topic: str | None, number: int | None) -> Partition | None:
        """Ours by name and number; None where it isn't."""
        return self._owned.get((topic or "", -1 if number is None else number))

    def those(self, partitions: Iterable[TopicPartition]) -> frozenset[Partition]:
        """Ours among these."""
        found = (self.find(p.topic, p.partition) for p in partitions)
        return frozenset(partition for partition in found if partition is not None)

    def take(
        self, partitions: Iterable[TopicPartition], topic_id: str, committed: Mapping[tuple[str, int], Committed]
    ) -> frozenset[Partition]:
        """These are ours from now on, in the incarnation `topic_id`."""
        taken = frozenset(Partition(p.topic, p.partition, topic_id) for p in partitions)
        for partition in taken:
            key = (partition.topic, partition.number)
            self._owned[key] = partition
            known = committed.get(key)
            if known is not None and known.topic_id in {"", topic_id}:
                self._committed[partition] = known.offset
        return taken

    def give(self, partitions: Iterable[TopicPartition]) -> None:
        """These aren't ours any more."""
        for partition in partitions:
            owned = self._owned.pop((partition.topic, partition.partition), None)
            if owned is not None:
                self._committed.pop(owned, None)

    def ours(self, offsets: Mapping[Partition, int]) -> dict[Partition, int]:
        """What of these is of partitions that are ours, in the incarnation that is."""
        return {p: offset for p, offset in offsets.items() if self.find(p.topic, p.number) == p}

    def confirm(self, offsets: Mapping[Partition, int]) -> None:
        """These are committed."""
        self._committed.update(self.ours(offsets))

    def behind(self, partition: Partition, begin: int, end: int) -> int:
        """Offsets between what is committed of a partition and its end."""
        return max(0, end - max(begin, self._committed.get(partition, 0)))


def committable(offsets: Mapping[Partition, int]) -> list[TopicPartition]:
    """Offsets as they are committed: with the topic's incarnation beside them."""
    return [TopicPartition(p.topic, p.number, o, committed_metadata(p.topic_id)) for p, o in offsets.items()]
