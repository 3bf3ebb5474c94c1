"""Acknowledged dead letters, which need no more attention.

Acknowledgements are stored as committed offsets of a separate group. The group never has members, so a running consumer
commits the offsets again before they expire. Letters after the committed offset are pending. The letters themselves
stay: accounting and `graph verify` need them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from headwater_consumers.kafka.group import commit
from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.materializer.dead_letters.letter import StoredDeadLetter

_REQUEST_SECONDS = 10.0


def letters_group(group: str) -> str:
    """Return the consumer group whose committed offsets mark the acknowledged letters."""
    return f"{group}-dead-letters"


class Acknowledged:
    """Acknowledged offsets of the dead-letter topic, at the time of reading.

    Args:
        positions: partitions of the topic, with the committed offsets of `letters_group`.
    """

    def __init__(self, positions: Iterable[PartitionOffsets]) -> None:
        self._positions = {each.partition.number: each for each in positions}

    def covers(self, letter: StoredDeadLetter) -> bool:
        """Return True if the letter is acknowledged."""
        position = self._positions.get(letter.record.partition.number)
        return position is not None and letter.record.offset < (position.committed or 0)

    def everything(self) -> Acknowledged:
        """Return the offsets that acknowledge all letters on the topic at the time of reading."""
        return Acknowledged(replace(each, committed=each.end) for each in self._positions.values())

    def through(self, letters: Iterable[StoredDeadLetter], settled: frozenset[str]) -> Acknowledged:
        """Return the offsets that also acknowledge settled letters, up to the first unsettled one of each partition.

        Args:
            letters: letters of the topic, in order within each partition.
            settled: locations (`partition@offset`) of letters that need no more attention.
        """
        reached = {number: each.committed or 0 for number, each in self._positions.items()}
        stopped: set[int] = set()
        for letter in letters:
            number = letter.record.partition.number
            position = self._positions.get(number)
            if position is None or number in stopped or not reached[number] <= letter.record.offset < position.end:
                continue
            if letter.where in settled:
                reached[number] = letter.record.offset + 1
            else:
                stopped.add(number)
        return Acknowledged(replace(each, committed=reached[number]) for number, each in self._positions.items())

    def offsets(self) -> list[PartitionOffsets]:
        """Return the acknowledged positions by partition."""
        return list(self._positions.values())


def acknowledged(client: Mapping[str, Any], *, group: str, dead_letters: str) -> Acknowledged:
    """Read the acknowledged offsets of the dead-letter topic.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
    """
    reader = OffsetReader(client, group=letters_group(group))
    return Acknowledged(reader.positions(dead_letters, timeout_seconds=_REQUEST_SECONDS))


def acknowledge(client: Mapping[str, Any], *, group: str, letters: Acknowledged) -> None:
    """Store acknowledged offsets at the brokers.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        letters: acknowledged offsets of the topic.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
    """
    offsets = {each.partition: each.committed for each in letters.offsets() if each.committed is not None}
    if offsets:
        commit(client, letters_group(group), offsets)
