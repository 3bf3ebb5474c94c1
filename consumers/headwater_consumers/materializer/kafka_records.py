"""Messages of librdkafka as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE

from headwater_consumers.materializer.records import Headers, Partition, Record

if TYPE_CHECKING:
    from confluent_kafka import Message


def record_of(message: Message, partition: Partition, offset: int) -> Record:
    """The record in a message that is no error."""
    kind, milliseconds = message.timestamp()
    return Record(
        partition,
        offset,
        value=message.value(),
        key=message.key(),
        headers=headers_of(message),
        timestamp_ms=None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds,
    )


def headers_of(message: Message) -> Headers:
    """Its headers in order, as often as they are there."""
    raw = message.headers() or ()
    pairs = raw.items() if isinstance(raw, dict) else raw
    return tuple((name, value.encode() if isinstance(value, str) else value) for name, value in pairs)


def after_rewind(records: list[Record]) -> list[Record]:
    """Without what came before a partition was assigned anew from an earlier offset, in the middle of a poll.

    Keeping it would let the later offset be committed before the earlier records are applied.
    """
    kept: list[Record] = []
    lowest: dict[Partition, int] = {}
    for record in reversed(records):
        if record.offset < lowest.get(record.partition, record.offset + 1):
            lowest[record.partition] = record.offset
            kept.append(record)
    return kept[::-1]
