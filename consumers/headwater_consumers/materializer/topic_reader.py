"""Reading a whole topic once, from where it begins to where it ends now, outside of any group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from headwater_consumers.materializer.offsets import OffsetReader
from headwater_consumers.materializer.records import Record, record_of
from headwater_schemas.errors import BrokerUnavailableError

# A group is a must for librdkafka, though with `assign` and no commits the brokers never see it.
_GROUP = "headwater-reader"
_REQUEST_SECONDS = 10.0
# How long no progress at all may last.
_READ_SECONDS = 30.0


def records_to_end(client: Mapping[str, Any], topic: str, *, newest: int | None = None) -> Iterator[Record]:
    """Every record that is on the topic when this is called, each partition's in order. One is in memory at a time.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        topic: which.
        newest: no more than so many of the last offsets of each partition; None: all.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
        BrokerUnavailableError: they stop answering half-way.
    """
    positions = OffsetReader(client, group=_GROUP).positions(topic, timeout_seconds=_REQUEST_SECONDS)
    partitions = {position.partition.number: position.partition for position in positions}
    ends = {position.partition.number: position.end for position in positions if position.end > position.begin}
    if not ends:
        return
    consumer = Consumer(
        {
            **client,
            "group.id": _GROUP,
            "client.id": _GROUP,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": 16_384,
        }
    )
    try:
        starts = {number: 0 if newest is None else max(0, end - newest) for number, end in ends.items()}
        consumer.assign([TopicPartition(topic, number, start) for number, start in starts.items()])
        while ends:
            message = consumer.poll(_READ_SECONDS)
            if message is None:
                raise BrokerUnavailableError(f"Topic {topic} can't be read to its end.")
            number, offset, error = message.partition(), message.offset(), message.error()
            at_end = error is not None and error.code() == KafkaError._PARTITION_EOF  # noqa: SLF001 - librdkafka's name
            if error is not None and not at_end:
                raise KafkaException(error)
            if number not in ends or offset is None:
                continue
            if not at_end and offset < ends[number]:
                yield record_of(message, partitions[number], offset)
            # An end that is reached is one even where control records follow the last record.
            if at_end or offset + 1 >= ends[number]:
                del ends[number]
    finally:
        consumer.close()
