"""Which incarnation of the events topic there is. One that was deleted and created again has another topic id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from confluent_kafka import TopicPartition

    from headwater_consumers.materializer.kafka_callbacks import ClientCallbacks
    from headwater_consumers.materializer.offsets import Committed, OffsetReader
    from headwater_consumers.materializer.records import Partition

# How soon a topic that was deleted and created again is noticed. One small request.
CHECK_SECONDS = 15.0
_REQUEST_SECONDS = 5.0


class Incarnation:
    """Looks the topic's id up: when partitions are assigned, and every `CHECK_SECONDS`.

    Args:
        topic: the events topic.
        offsets: asks the brokers.
        callbacks: report brokers that do not answer.
        clock: monotonic seconds.
    """

    def __init__(
        self, topic: str, offsets: OffsetReader, callbacks: ClientCallbacks, clock: Callable[[], float]
    ) -> None:
        self._topic = topic
        self._offsets = offsets
        self._callbacks = callbacks
        self._clock = clock
        self._next_check = 0.0

    def of(self, partitions: Iterable[TopicPartition]) -> tuple[str, dict[tuple[str, int], Committed]]:
        """The topic's id now, and what is committed of these partitions."""
        try:
            topic_id = self._offsets.topic_id(self._topic, timeout_seconds=_REQUEST_SECONDS)
            return topic_id, self._offsets.committed(partitions, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException as error:
            # Start as librdkafka would, and look again soon: the id "" then counts as another incarnation.
            self._callbacks.notice(error, "looking up the topic's id")
            self._next_check = self._clock()
            return "", {}

    def is_another_than(self, partitions: Iterable[Partition]) -> bool:
        """Whether the topic was made anew since these were assigned. Looks only now and then; False where unknown."""
        ours = frozenset(partition.topic_id for partition in partitions)
        if not ours or self._clock() < self._next_check:
            return False
        self._next_check = self._clock() + CHECK_SECONDS
        try:
            return ours != {self._offsets.topic_id(self._topic, timeout_seconds=_REQUEST_SECONDS)}
        except KafkaException:
            return False
