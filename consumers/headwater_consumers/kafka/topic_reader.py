"""Reader of a whole topic, once, from its beginning to its current end, outside of any group."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from headwater_consumers.kafka.backoff import Deadline
from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.kafka.records import RECORD_MAX_BYTES, FetchedRecord, Partition, Unread, record_of
from headwater_consumers.kafka.unfetchable import (
    CONSUMER_CONFIG,
    UNFETCHABLE,
    Unfetchable,
    at_end,
    bounds_config,
)
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import concerns_group

if TYPE_CHECKING:
    from confluent_kafka import Message

# librdkafka requires a group; with `assign` and without commits, the brokers don't see the group.
_GROUP = "headwater-reader"
_REQUEST_SECONDS = 10.0
_CONFIG = {
    "group.id": _GROUP,
    "client.id": _GROUP,
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "queued.max.messages.kbytes": 16_384,
    **bounds_config(RECORD_MAX_BYTES),
    **CONSUMER_CONFIG,
}
# Longest time without any progress.
_READ_SECONDS = 30.0


def records_to_end(client: Mapping[str, Any], topic: str, *, newest: int | None = None) -> Iterator[FetchedRecord]:
    """Yield every record that is on the topic now, in order within a partition. One record is in memory at a time.

    Records that can't be read, or are longer than RECORD_MAX_BYTES, have no bytes (`FetchedRecord.unread`).

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        newest: maximum number of offsets before the end of each partition; None: all offsets.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
        BrokerUnavailableError: the brokers stop answering in the middle.
    """
    positions = OffsetReader(client, group=_GROUP).bounds(topic, timeout_seconds=_REQUEST_SECONDS)
    partitions = {position.partition.number: position.partition for position in positions}
    ends = {position.partition.number: position.end for position in positions if position.end > position.begin}
    if not ends:
        return
    consumer = Consumer({**client, **_CONFIG, "auto.offset.reset": "earliest"})
    unfetchable = Unfetchable()
    try:
        starts = {number: 0 if newest is None else max(0, end - newest) for number, end in ends.items()}
        consumer.assign([TopicPartition(topic, number, start) for number, start in starts.items()])
        while ends:
            message = _polled(consumer, topic, unfetchable)
            number, offset, error = message.partition(), message.offset(), message.error()
            if number not in ends or offset is None:
                continue
            partition = partitions[number]
            if error is not None and not at_end(error):
                consumer.seek(TopicPartition(topic, number, unfetchable.failed(partition, offset, error.str())))
            elif offset >= unfetchable.expects(partition):
                if (unread := unfetchable.passed(partition, offset)) is not None:
                    yield unread
                if error is None and offset < ends[number]:
                    yield record_of(message, partition, offset, max_bytes=RECORD_MAX_BYTES)
                # A reached end also counts if control records follow the last record.
                if error is not None or offset + 1 >= ends[number]:
                    del ends[number]
    finally:
        consumer.close()


def record_at(client: Mapping[str, Any], partition: Partition, offset: int) -> FetchedRecord:
    """Return the record at an offset; only its coordinates if it can't be read or doesn't exist.

    Raises:
        KafkaException: the brokers refuse, or the offset is out of the partition's range.
        BrokerUnavailableError: the brokers don't answer.
    """
    consumer = Consumer({**quiet(client), **_CONFIG, "auto.offset.reset": "error"})
    unfetchable = Unfetchable()
    try:
        consumer.assign([TopicPartition(partition.topic, partition.number, offset)])
        while True:
            message = _polled(consumer, partition.topic, unfetchable)
            found, error = message.offset(), message.error()
            if error is not None and not at_end(error):
                why = error.str()
                if unfetchable.failed(partition, offset, why) == offset:
                    consumer.seek(TopicPartition(partition.topic, partition.number, offset))
                    continue
                return FetchedRecord(partition, offset, None, unread=Unread(offset + 1, why))
            if found == offset and error is None:
                return record_of(message, partition, offset, max_bytes=RECORD_MAX_BYTES)
            return FetchedRecord(
                partition, offset, None, unread=Unread(offset + 1, "there is no record at this offset")
            )
    finally:
        consumer.close()


class PendingTimes:
    """Reader of the timestamps of the first pending records of a group.

    Uses one client, outside of any group. While a group's offset doesn't change, the timestamp is read only once.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
    """

    def __init__(self, client: Mapping[str, Any]) -> None:
        self._client = client
        self._consumer: Consumer | None = None
        self._first_pending: dict[Partition, tuple[int, int | None]] = {}
        """For each partition: offset and timestamp of its first pending record; timestamp None: not readable."""

    def read(self, pending: Collection[PartitionOffsets], *, timeout_seconds: float) -> dict[Partition, int]:
        """Return the publication time of each partition's first pending record, in ms of Unix time.

        Partitions are left out if their record can't be read, has no timestamp, or wasn't read in time.

        Args:
            timeout_seconds: time limit for all partitions together.

        Raises:
            KafkaException: the brokers refuse.
        """
        starts = {each.partition: max(each.begin, each.committed or 0) for each in pending}
        self._first_pending = {p: record for p, record in self._first_pending.items() if starts.get(p) == record[0]}
        if unread := {partition: start for partition, start in starts.items() if partition not in self._first_pending}:
            self._read(unread, Deadline(timeout_seconds, time.monotonic))
        return {partition: at for partition, (_, at) in self._first_pending.items() if at is not None}

    def _read(self, unread: dict[Partition, int], deadline: Deadline) -> None:
        if self._consumer is None:
            config = {**quiet(self._client), **_CONFIG, "queued.min.messages": 1, "auto.offset.reset": "error"}
            self._consumer = Consumer(config)
        consumer, partitions = self._consumer, {(each.topic, each.number): each for each in unread}
        starts = [TopicPartition(each.topic, each.number, start) for each, start in unread.items()]
        consumer.assign(starts)
        consumer.resume(starts)  # librdkafka keeps a partition paused that was unassigned during a pause
        try:
            while partitions and not deadline.passed:
                message = consumer.poll(deadline.remaining_seconds)
                if message is None:
                    return
                error = message.error()
                if concerns_group(error):
                    continue
                if error is not None and not at_end(error) and error.code() not in UNFETCHABLE:
                    raise KafkaException(error)
                partition = partitions.pop((message.topic() or "", message.partition() or 0), None)
                if partition is None:
                    continue
                consumer.pause([TopicPartition(partition.topic, partition.number)])
                at = -1 if error is not None else message.timestamp()[1]
                self._first_pending[partition] = (unread[partition], at if at >= 0 else None)
        finally:
            consumer.unassign()

    def close(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


def _polled(consumer: Consumer, topic: str, unfetchable: Unfetchable) -> Message:
    """Poll the next record, end of a partition, or error of a batch."""
    message = consumer.poll(0)
    if message is None:
        unfetchable.drained()
        message = consumer.poll(_READ_SECONDS)
    while message is not None and concerns_group(message.error()):
        message = consumer.poll(_READ_SECONDS)
    if message is None:
        raise BrokerUnavailableError(f"Topic {topic} can't be read to its end.")
    error = message.error()
    if error is not None and not at_end(error) and error.code() not in UNFETCHABLE:
        raise KafkaException(error)
    return message
