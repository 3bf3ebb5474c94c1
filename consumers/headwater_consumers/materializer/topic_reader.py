"""Reading a whole topic once, from where it begins to where it ends now, outside of any group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from headwater_consumers.materializer.limits import RECORD_MAX_BYTES
from headwater_consumers.materializer.offsets import OffsetReader
from headwater_consumers.materializer.records import Partition, Record, Unread, record_of
from headwater_consumers.materializer.unfetchable import (
    CONSUMER_CONFIG,
    UNFETCHABLE,
    Unfetchable,
    at_end,
    bounds_config,
)
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.kafka.client import quiet

if TYPE_CHECKING:
    from confluent_kafka import Message

# A group is a must for librdkafka, though with `assign` and no commits the brokers never see it.
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
# How long no progress at all may last.
_READ_SECONDS = 30.0


def records_to_end(
    client: Mapping[str, Any], topic: str, *, newest: int | None = None, max_bytes: int = RECORD_MAX_BYTES
) -> Iterator[Record]:
    """Every record that is on the topic when this is called, each partition's in order. One is in memory at a time.

    What can't be read, or is longer than `max_bytes`, comes without its bytes (`Record.unread`).

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        topic: which.
        newest: no more than so many of the last offsets of each partition; None: all.
        max_bytes: the longest record that is kept.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
        BrokerUnavailableError: they stop answering half-way.
    """
    positions = OffsetReader(client, group=_GROUP).positions(topic, timeout_seconds=_REQUEST_SECONDS)
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
                    yield record_of(message, partition, offset, max_bytes=max_bytes)
                # An end that is reached is one even where control records follow the last record.
                if error is not None or offset + 1 >= ends[number]:
                    del ends[number]
    finally:
        consumer.close()


def record_at(client: Mapping[str, Any], partition: Partition, offset: int) -> Record:
    """The record at an offset; by its coordinates alone where it can't be read, or none is there.

    Raises:
        KafkaException: the brokers refuse, or the offset is out of the partition's range.
        BrokerUnavailableError: they don't answer.
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
                return Record(partition, offset, None, unread=Unread(offset + 1, why))
            if found == offset and error is None:
                return record_of(message, partition, offset, max_bytes=RECORD_MAX_BYTES)
            return Record(partition, offset, None, unread=Unread(offset + 1, "there is no record at this offset"))
    finally:
        consumer.close()


def _polled(consumer: Consumer, topic: str, unfetchable: Unfetchable) -> Message:
    """The next record, end of a partition, or error of a batch."""
    message = consumer.poll(0)
    if message is None:
        unfetchable.drained()
        message = consumer.poll(_READ_SECONDS)
    if message is None:
        raise BrokerUnavailableError(f"Topic {topic} can't be read to its end.")
    error = message.error()
    if error is not None and not at_end(error) and error.code() not in UNFETCHABLE:
        raise KafkaException(error)
    return message
