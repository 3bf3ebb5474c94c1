"""Offsets stored by the brokers: beginning and end of each partition, and the group's committed offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_STORED,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from headwater_consumers.kafka.backoff import Deadline
from headwater_consumers.kafka.records import Partition
from headwater_schemas.kafka.client import answer, quiet

_T = TypeVar("_T")
_COORDINATOR_MOVES = frozenset(
    {KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
)
_LEADER_MOVES = frozenset({KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE})
_PAUSE_SECONDS = 0.1
_METADATA = "headwater topic-id "
_ATTEMPTS = " attempts "
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """Committed offset of a group in one partition.

    Attributes:
        offset: offset of the record to consume next.
        topic_id: incarnation of the topic for which the offset was committed; empty if the committer recorded none.
        begun_by: processes that began the record in vain (`attempts`).
    """

    offset: int
    topic_id: str = ""
    begun_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """Offsets of one partition, and the group's committed offset.

    Attributes:
        end: offset of the partition's next record.
        committed: offset that the group consumes next; None if the group has committed none for this incarnation.
    """

    partition: Partition
    begin: int
    end: int
    committed: int | None = None

    @property
    def pending(self) -> int:
        """Number of offsets that exist and aren't committed."""
        return max(0, self.end - max(self.begin, self.committed or 0))


def committed_metadata(topic_id: str, begun_by: Iterable[str] = ()) -> str:
    """Metadata to commit with an offset: the topic's id and the processes that began its record in vain."""
    if not topic_id:
        return ""
    processes = " ".join(begun_by)
    return f"{_METADATA}{topic_id}{_ATTEMPTS}{processes}" if processes else _METADATA + topic_id


def read_metadata(metadata: str | None) -> tuple[str, tuple[str, ...]]:
    """Parse the topic's id and the processes in an offset's metadata; empty if another program committed the offset."""
    if metadata is None or not metadata.startswith(_METADATA):
        return "", ()
    topic_id, _, processes = metadata.removeprefix(_METADATA).partition(_ATTEMPTS)
    return topic_id, tuple(processes.split())


def committable(
    offsets: Mapping[Partition, int], begun_by: Callable[[Partition], Iterable[str]] = lambda _: ()
) -> list[TopicPartition]:
    """Convert offsets for a commit: with the topic's id, and the processes that began their records in vain."""
    return [
        TopicPartition(p.topic, p.number, offset, committed_metadata(p.topic_id, begun_by(p)))
        for p, offset in offsets.items()
    ]


def start_offset(committed: CommittedOffset | None, topic_id: str) -> int:
    """Offset to start from in the topic's current incarnation: the committed offset, else the beginning."""
    if committed is None:
        return OFFSET_STORED
    if committed.topic_id and topic_id and committed.topic_id != topic_id:
        return OFFSET_BEGINNING
    return committed.offset


class OffsetReader:
    """Reader of offsets of any partition, without joining the group.

    Every method raises KafkaException if the brokers don't answer in time or refuse.
    """

    def __init__(self, client: Mapping[str, Any], *, group: str) -> None:
        self._client = quiet({**client, "client.id": "headwater-offsets"})
        self._group = group
        self._admin = AdminClient(self._client)
        self._consumer: Consumer | None = None

    def topic_id(self, topic: str, *, timeout_seconds: float) -> str:
        """Return the id of the topic's current incarnation; empty from a broker older than topic ids."""
        description = self._describe(topic, timeout_seconds)
        topic_id = getattr(description, "topic_id", None)
        return "" if topic_id is None else str(topic_id)

    def committed(
        self, partitions: Iterable[TopicPartition], *, timeout_seconds: float
    ) -> dict[tuple[str, int], CommittedOffset]:
        """Return the group's committed offsets; partitions without a committed offset are left out."""
        asked = [TopicPartition(p.topic, p.partition) for p in partitions]
        if not asked:
            return {}
        # A consumer that never joins sends the request. AdminClient.list_consumer_group_offsets would crash the process
        # with SIGSEGV (librdkafka 2.16 at least, its issue 5040) if the broker isn't the group's coordinator yet, as in
        # the first seconds of a new group.
        if self._consumer is None:
            self._consumer = Consumer({**self._client, "group.id": self._group, "enable.auto.commit": False})
        found: dict[tuple[str, int], CommittedOffset] = {}
        for partition in self._committed(self._consumer, asked, timeout_seconds):
            if partition.error is not None:
                raise KafkaException(partition.error)
            if partition.offset >= 0:
                found[partition.topic, partition.partition] = CommittedOffset(
                    partition.offset, *read_metadata(partition.metadata)
                )
        return found

    def _committed(
        self, consumer: Consumer, asked: list[TopicPartition], timeout_seconds: float
    ) -> list[TopicPartition]:
        try:
            # A new group gets its coordinator with the first request about it.
            return _while_moving(
                _COORDINATOR_MOVES, lambda seconds: list(consumer.committed(asked, timeout=seconds)), timeout_seconds
            )
        except KafkaException as error:
            # If the user may not read the group, the request times out here; the reason is in the consumer's queue.
            refusal = consumer.poll(0)
            if refusal is not None and (reason := refusal.error()) is not None:
                raise KafkaException(reason) from error
            raise

    def positions(self, topic: str, *, timeout_seconds: float) -> list[PartitionOffsets]:
        """List the topic's partitions, by number, with the group's committed offsets."""
        return self._positions(topic, timeout_seconds, of_group=True)

    def bounds(self, topic: str, *, timeout_seconds: float) -> list[PartitionOffsets]:
        """List the topic's partitions, by number, without the group's offsets."""
        return self._positions(topic, timeout_seconds, of_group=False)

    def _positions(self, topic: str, timeout_seconds: float, *, of_group: bool) -> list[PartitionOffsets]:
        description = self._describe(topic, timeout_seconds)
        topic_id = "" if description.topic_id is None else str(description.topic_id)
        partitions = [TopicPartition(topic, info.id) for info in description.partitions]
        # The group's offsets first. In the other order, an offset committed in between could be after the end.
        committed = self.committed(partitions, timeout_seconds=timeout_seconds) if of_group else {}
        begins = self._list(partitions, _EARLIEST, timeout_seconds)
        ends = self._list(partitions, _LATEST, timeout_seconds)
        found = []
        for partition in sorted(partitions, key=lambda p: p.partition):
            number = partition.partition
            known = committed.get((topic, number))
            if known is not None and known.topic_id not in ("", topic_id):
                known = None
            found.append(
                PartitionOffsets(
                    Partition(topic, number, topic_id),
                    begin=begins[number],
                    end=ends[number],
                    committed=None if known is None else known.offset,
                )
            )
        return found

    def _describe(self, topic: str, timeout_seconds: float) -> Any:
        futures = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_seconds)
        return answer(futures[topic], timeout_seconds)

    def _list(self, partitions: list[TopicPartition], spec: OffsetSpec, timeout_seconds: float) -> dict[int, int]:
        # A newly elected leader, for example of a new topic, may not know yet that it is the leader.
        return _while_moving(_LEADER_MOVES, lambda seconds: self._listed(partitions, spec, seconds), timeout_seconds)

    def _listed(self, partitions: list[TopicPartition], spec: OffsetSpec, timeout_seconds: float) -> dict[int, int]:
        futures = self._admin.list_offsets(
            dict.fromkeys(partitions, spec),
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=timeout_seconds,
        )
        return {partition.partition: answer(future, timeout_seconds).offset for partition, future in futures.items()}


def _while_moving(moves: Collection[int], ask: Callable[[float], _T], timeout_seconds: float) -> _T:
    """Make a request, and repeat it while the brokers move the leader or coordinator.

    Args:
        moves: librdkafka's errors for such a move.
        ask: function that makes the request, with its time limit in seconds.
        timeout_seconds: time limit of all attempts.

    Raises:
        KafkaException: another error, or an error of `moves` after the time limit.
    """
    deadline = Deadline(timeout_seconds, time.monotonic)
    while True:
        try:
            return ask(max(_PAUSE_SECONDS, deadline.remaining_seconds))
        except KafkaException as error:
            if error.args[0].code() not in moves or deadline.passed:
                raise
        time.sleep(_PAUSE_SECONDS)
