"""Skipping a record that stops a group: its letter is sent, then the group's offset moves past it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_consumers.kafka.group import commit
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_consumers.kafka.records import FetchedRecord
from headwater_consumers.kafka.topic_reader import record_at
from headwater_consumers.materializer.dead_letters.letter import DeadLetter, DeadLetterStage
from headwater_consumers.materializer.dead_letters.topic import KafkaDeadLetters
from headwater_consumers.materializer.errors import DeadLetterReason

_REQUEST_SECONDS = 10.0


class NotNextError(Exception):
    """The record isn't the next one of the group: skipping it would skip other records, or none.

    Attributes:
        next_offset: offset that the group consumes next; None if the topic lacks the partition.
    """

    def __init__(self, next_offset: int | None) -> None:
        super().__init__(next_offset)
        self.next_offset = next_offset


def skip(
    client: Mapping[str, Any], *, group: str, dead_letters: str, topic: str, number: int, offset: int
) -> FetchedRecord:
    """Set aside the record that a group consumes next, and return it. The group must have no members.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        group: consumer group that continues after the record.
        dead_letters: the dead-letter topic.

    Raises:
        NotNextError: the group consumes another record next.
        KafkaException: the brokers don't answer in time or refuse, or the group has members.
        TransientError: the letter isn't acknowledged, so nothing is skipped.
    """
    positions = OffsetReader(client, group=group).positions(topic, timeout_seconds=_REQUEST_SECONDS)
    position = next((each for each in positions if each.partition.number == number), None)
    if position is None:
        raise NotNextError(None)
    next_offset = position.begin if position.committed is None else max(position.begin, position.committed)
    if offset != next_offset or offset >= position.end:
        raise NotNextError(next_offset)
    record = record_at(client, position.partition, offset)
    letters = KafkaDeadLetters(client, topic=dead_letters, group=group)
    try:
        letters.send(
            [DeadLetter(record, DeadLetterReason.SKIPPED, DeadLetterStage.APPLY, "", "The record was skipped by hand.")]
        )
    finally:
        letters.close()
    commit(client, group, {position.partition: offset + 1})
    return record
