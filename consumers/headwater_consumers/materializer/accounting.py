"""Accounting: acknowledged = applied + dead-lettered + expired + pending, for every partition, from durable facts.

| figure        | is                                                                               |
|---------------|----------------------------------------------------------------------------------|
| acknowledged  | the partition's end offset: number of records that the partition has received    |
| dead_lettered | distinct source offsets on the dead-letter topic below the committed offset      |
| applied       | committed offset minus dead_lettered                                             |
| expired       | offsets that retention deleted before the group had committed them: lost         |
| pending       | all other offsets                                                                |

The figures don't come from counters, so they are right after any crash: a batch or letter that was written twice counts
once. Offsets without a record (a transaction's markers) count as applied.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException

from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.kafka.records import Partition
from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_consumers.materializer.dead_letters.letter import RecordCoordinates, coordinate
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import kafka_failure
from headwater_schemas.topics import TopicNames

_REQUEST_SECONDS = 10.0
# Time limit for the brokers' answer, and pause between requests.
_ANSWER_SECONDS = 20.0
_PAUSE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class PartitionAccount:
    """Figures of one partition (see the module's table)."""

    partition: Partition
    acknowledged: int
    applied: int
    dead_lettered: int
    expired: int
    pending: int


@dataclass(frozen=True, slots=True)
class Accounting:
    """Figures of a topic: those of each partition, and their sums."""

    partitions: tuple[PartitionAccount, ...]

    @property
    def acknowledged(self) -> int:
        """Number of all records that the topic has received."""
        return sum(account.acknowledged for account in self.partitions)

    @property
    def applied(self) -> int:
        """Number of records whose effect is in the graph."""
        return sum(account.applied for account in self.partitions)

    @property
    def dead_lettered(self) -> int:
        """Number of records on the dead-letter topic."""
        return sum(account.dead_lettered for account in self.partitions)

    @property
    def expired(self) -> int:
        """Number of records that retention deleted before they were read."""
        return sum(account.expired for account in self.partitions)

    @property
    def pending(self) -> int:
        """Number of records that are neither applied nor dead-lettered yet."""
        return sum(account.pending for account in self.partitions)

    @property
    def closed(self) -> bool:
        """True if acknowledged = applied + dead-lettered: no record is pending, none is lost."""
        return self.pending == 0 and self.expired == 0


def account(client: Mapping[str, Any], topics: TopicNames, group: str) -> Accounting:
    """Account for the events topic, for one consumer group.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        topics: names of the events topic and of the dead-letter topic.
        group: consumer group whose committed offsets count.

    Raises:
        BrokerUnavailableError: the brokers don't answer in time, or a topic doesn't exist.
        FatalError: the brokers refuse.
    """
    client = quiet(client)
    deadline = time.monotonic() + _ANSWER_SECONDS
    while True:
        try:
            return _account(client, topics, group)
        except BrokerUnavailableError:
            # A new or moved partition has no leader for a moment.
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def _account(client: Mapping[str, Any], topics: TopicNames, group: str) -> Accounting:
    try:
        positions = OffsetReader(client, group=group).positions(topics.events, timeout_seconds=_REQUEST_SECONDS)
        # Read after the offsets: a letter is acknowledged before its offset is committed, so no letter can be missing.
        letters = _coordinates(client, topics.dead_letters)
    except KafkaException as error:
        servers = str(client.get("bootstrap.servers", ""))
        raise kafka_failure(error, servers=servers, doing="reading offsets") from error
    return settle(positions, letters)


def settle(positions: Iterable[PartitionOffsets], letters: Iterable[RecordCoordinates]) -> Accounting:
    """Compute the figures, from the brokers' offsets and letters.

    Args:
        positions: offsets of every partition of the topic.
        letters: source coordinates of all dead letters, with repetitions.
    """
    sources: dict[Partition, set[RecordCoordinates]] = defaultdict(set)
    for source in letters:
        sources[source.partition].add(source)
    return Accounting(tuple(_settled(position, sources[position.partition]) for position in positions))


def _settled(position: PartitionOffsets, letters: set[RecordCoordinates]) -> PartitionAccount:
    committed = position.committed or 0
    dead, reached = 0, 0
    for letter in sorted(letters, key=lambda letter: (letter.offset, letter.end)):
        end = min(letter.end, committed)
        dead += max(0, end - max(letter.offset, reached))
        reached = max(reached, end)
    expired = max(0, position.begin - committed)
    return PartitionAccount(
        position.partition,
        acknowledged=position.end,
        applied=committed - dead,
        dead_lettered=dead,
        expired=expired,
        pending=position.end - committed - expired,
    )


def _coordinates(client: Mapping[str, Any], topic: str) -> list[RecordCoordinates]:
    """Source coordinates of every letter on the dead-letter topic."""
    letters = records_to_end(client, topic)
    return [source for letter in letters if (source := coordinate(letter.headers)) is not None]
