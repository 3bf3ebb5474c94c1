"""Check that the events topic wasn't recreated since its partitions were assigned.

librdkafka doesn't report that a topic was deleted and created again. librdkafka continues to fetch in the new topic, at
the old offset or from the beginning, and records don't have the topic's id. So the brokers are asked for the id before
each commit. If the id is still that of the assigned partitions, all records fetched until then are from that topic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from confluent_kafka import KafkaException, TopicPartition

from headwater_consumers.kafka.offsets import CommittedOffset, OffsetReader
from headwater_consumers.kafka.records import Partition

_REQUEST_SECONDS = 5.0
# Interval of checks if the topic was deleted and created again. A check is one small request.
CHECK_SECONDS = 15.0


class Incarnation:
    """Looks the topic's id up: when partitions are assigned, before commits, and at least every `CHECK_SECONDS`.

    Args:
        offsets: reader that asks the brokers.
        notice: called when brokers don't answer, with the error and the attempted operation.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        topic: str,
        offsets: OffsetReader,
        notice: Callable[[KafkaException, str], None],
        clock: Callable[[], float],
    ) -> None:
        self._topic = topic
        self._offsets = offsets
        self._notice = notice
        self._clock = clock
        self._next_check = 0.0

    def of(self, partitions: Iterable[TopicPartition]) -> tuple[str, dict[tuple[str, int], CommittedOffset]]:
        """Read the topic's id, and the committed offsets of these partitions."""
        try:
            topic_id = self._offsets.topic_id(self._topic, timeout_seconds=_REQUEST_SECONDS)
            return topic_id, self._offsets.committed(partitions, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException as error:
            # Start at the offsets that librdkafka finds, with the id "". The next check sees a different id, and so
            # restarts the partitions.
            self._notice(error, "looking up the topic's id")
            self._next_check = self._clock()
            return "", {}

    def was_recreated(self, partitions: Collection[Partition]) -> bool:
        """Return True if the topic was recreated since these partitions were assigned.

        Raises:
            KafkaException: the brokers don't answer in time, or refuse.
        """
        if not partitions:
            return False
        self._next_check = self._clock() + CHECK_SECONDS
        ours = {partition.topic_id for partition in partitions}
        recreated = ours != {self._offsets.topic_id(self._topic, timeout_seconds=_REQUEST_SECONDS)}
        if recreated:
            self._next_check = self._clock()  # so that the next `check` asks again
        return recreated

    def check(self, partitions: Collection[Partition]) -> bool:
        """Return `was_recreated` every `CHECK_SECONDS`; False in between, and if the brokers don't answer."""
        try:
            return self._clock() >= self._next_check and self.was_recreated(partitions)
        except KafkaException:
            return False
