"""Group: how far the consumers have come, as the brokers have it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headwater.errors import HeadwaterError
from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.materializer.accounting import Accounting, account
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.topics import TopicNames

NAME = "soak"
_LOOK_SECONDS = 0.2
_REQUEST_SECONDS = 10.0
_AWAY = (KafkaException, BrokerUnavailableError)


class Group:
    """The consumer group of a soak.

    Args:
        client: librdkafka settings that say where the cluster is.
        topics: that it reads and writes.
        settle_seconds: how long to wait for anything.
    """

    def __init__(self, client: Mapping[str, Any], topics: TopicNames, settle_seconds: float) -> None:
        self._client = client
        self._topics = topics
        self._settle_seconds = settle_seconds

    def accounting(self) -> Accounting:
        """Account for the end of every record of the topic."""
        return account(self._client, self._topics, NAME)

    def members(self) -> dict[str, int]:
        """Client id of each member that the brokers have in the group ⇒ how many partitions it has.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        found: dict[str, int] = {}

        def asked() -> bool:
            admin = AdminClient(dict(self._client))
            described = admin.describe_consumer_groups([NAME], request_timeout=_REQUEST_SECONDS)[NAME].result()
            found.update({one.client_id: len(one.assignment.topic_partitions) for one in described.members})
            return True

        self.until(asked, "answer about the group's members")
        return found

    def topic_ids(self) -> set[str]:
        """The events topic's id: one, but for a topic without partitions.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        return {position.partition.topic_id for position in self._positions(self._topics.events)}

    def letters(self) -> int:
        """Records that the dead-letter topic was ever given.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        return sum(position.end for position in self._positions(self._topics.dead_letters))

    def _positions(self, topic: str) -> list[PartitionOffsets]:
        found: list[PartitionOffsets] = []

        def asked() -> bool:
            found[:] = self._reader().positions(topic, timeout_seconds=_REQUEST_SECONDS)
            return True

        self.until(asked, f"positions of {topic}")
        return found

    def ends(self) -> dict[int, int]:
        """The offset after the last record, by partition.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        return {position.partition.number: position.end for position in self._positions(self._topics.events)}

    def until_committed(self, ends: Mapping[int, int], also: Callable[[], bool], described: Callable[[], str]) -> None:
        """Wait until the group has committed all that, and something else holds.

        Args:
            ends: the offsets, by partition.
            also: the something else.
            described: how things stand, for an error.

        Raises:
            HeadwaterError: it doesn't come to that.
        """
        reader = self._reader()

        def recovered() -> bool:
            positions = reader.positions(self._topics.events, timeout_seconds=_REQUEST_SECONDS)
            committed = {position.partition.number: position.committed or 0 for position in positions}
            return all(committed.get(number, 0) >= end for number, end in ends.items()) and also()

        self.until(recovered, "recovery", described=lambda: f"{self._described()}\n{described()}")

    def until(self, condition: Callable[[], bool], what: str, *, described: Callable[[], str] = str) -> None:
        """Wait for it; a broker that comes back needs a moment.

        Raises:
            HeadwaterError: it doesn't come to that.
        """
        deadline = time.monotonic() + self._settle_seconds
        while True:
            try:
                if condition():
                    return
            except _AWAY:
                pass
            if time.monotonic() > deadline:
                raise HeadwaterError(f"No {what} after {self._settle_seconds:.0f} s.\n{described()}")
            time.sleep(_LOOK_SECONDS)

    def _reader(self) -> OffsetReader:
        return OffsetReader(self._client, group=NAME)

    def _described(self) -> str:
        try:
            positions = self._reader().positions(self._topics.events, timeout_seconds=_REQUEST_SECONDS)
        except _AWAY as error:
            return f"positions: {error}"
        return "\n".join(f"{one.partition} {one.partition.topic_id}: {one.committed} of {one.end}" for one in positions)
