"""Records of the events topic, and their partitions.

Every value is kept together with the offset of its record. The next offset to consume is defined in one place:
`next_offsets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE

from headwater_schemas.events import LineageEvent

RECORD_MAX_BYTES = 16_777_216
"""Default maximum length of a decoded record."""

if TYPE_CHECKING:
    from confluent_kafka import Message


Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True, order=True)
class Partition:
    """One partition of one incarnation of a topic.

    Attributes:
        topic_id: Kafka's id of this incarnation. A recreated topic has another id, so offsets of the two topics are
            never confused. Empty if the broker is older than topic ids.
    """

    topic: str
    number: int
    topic_id: str = ""

    def __str__(self) -> str:
        return f"{self.topic}[{self.number}]"


@dataclass(frozen=True, slots=True)
class Unread:
    """Reason why the bytes of one or several offsets are missing.

    Attributes:
        end: offset after the last missing offset.
        why: reason, as a sentence without a full stop.
        bytes: length of the value; None if unknown.
        fetched: True if the brokers returned the record; False if the client library can't read it.
    """

    end: int
    why: str
    bytes: int | None = None
    fetched: bool = False


@dataclass(frozen=True, slots=True)
class FetchedRecord:
    """One unchanged record; or offsets whose bytes can't be read or were left out.

    Attributes:
        timestamp_ms: timestamp in milliseconds since the epoch; None if the record has none.
        unread: reason why there are no bytes; None for a complete record.
        ends_consumers: True if reading the record ended consumer processes repeatedly (`attempts`).
    """

    partition: Partition
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int | None = None
    unread: Unread | None = None
    ends_consumers: bool = False

    @property
    def end(self) -> int:
        """Next offset to consume after this record."""
        return self.offset + 1 if self.unread is None else self.unread.end

    @property
    def size(self) -> int:
        """Size of key and value in bytes, as an estimate for a memory budget."""
        return len(self.value or b"") + len(self.key or b"")

    def without_bytes(self, why: str) -> FetchedRecord:
        """Return only the record's coordinates, with the reason."""
        unread = Unread(self.end, why, bytes=len(self.value or b""), fetched=True)
        return FetchedRecord(self.partition, self.offset, None, timestamp_ms=self.timestamp_ms, unread=unread)

    def __str__(self) -> str:
        more = f" to {self.end - 1}" if self.end > self.offset + 1 else ""
        return f"{self.partition}@{self.offset}{more}"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Event with its record.

    Attributes:
        of_future: True if a time of the event was too far in the future, and was replaced by the latest allowed time
            (`materializer.future`).
    """

    record: FetchedRecord
    event: LineageEvent
    of_future: bool = False


def next_offsets(
    records: Iterable[FetchedRecord], reached: Mapping[Partition, int] | None = None
) -> dict[Partition, int]:
    """Return the offset to consume next in each partition, once all of `records` are applied or dead-lettered.

    Args:
        reached: for partitions whose end was reported, the offset of the end. It is after the partition's `records`,
            and after the control records of transactions, which take offsets but are never delivered.
    """
    following = dict(reached or {})
    for record in records:
        if record.offset >= following.get(record.partition, 0):
            following[record.partition] = record.end
    return following


def record_of(message: Message, partition: Partition, offset: int, *, max_bytes: int) -> FetchedRecord:
    """Return the record of a message without error; only its coordinates if it is longer than `max_bytes`."""
    kind, milliseconds = message.timestamp()
    record = FetchedRecord(
        partition,
        offset,
        value=message.value(),
        key=message.key(),
        headers=headers_of(message),
        timestamp_ms=None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds,
    )
    size = record.size + sum(len(name) + len(value or b"") for name, value in record.headers)
    return record if size <= max_bytes else record.without_bytes(f"a record of {size:,} bytes is over {max_bytes:,}")


def headers_of(message: Message) -> Headers:
    """Return the headers of a message in order, repeated ones included."""
    raw = message.headers() or ()
    pairs = raw.items() if isinstance(raw, dict) else raw
    return tuple((name, value.encode() if isinstance(value, str) else value) for name, value in pairs)
