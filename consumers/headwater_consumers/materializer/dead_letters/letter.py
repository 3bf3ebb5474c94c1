"""Dead letter: a record that can't be applied, with the reason; its format on the topic, and reading it back.

A letter is the original record, byte for byte (key, value, headers, timestamp), with additional headers for its
location and fault. If the record's bytes can't be read or are too large for the topic, the letter has only coordinates,
perhaps of several offsets of an unreadable batch. The `__connect.errors.*` names and meanings are Kafka Connect's
(`org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter`), so tools for Kafka Connect can read the letters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from headwater_consumers.kafka.records import FetchedRecord, Headers, Partition
from headwater_consumers.materializer.errors import DeadLetterReason

CONNECT = "__connect.errors."
OURS = "headwater."
TOPIC = CONNECT + "topic"
PARTITION = CONNECT + "partition"
OFFSET = CONNECT + "offset"
# Headers of a letter without bytes: offset after the last covered one, and size of the value.
OFFSET_END = OURS + "offset.end"
LEFT_OUT = OURS + "left.out.bytes"
TOPIC_ID = OURS + "topic.id"
REASON = OURS + "reason"
EVENT_ID = OURS + "event.id"
ATTEMPT = OURS + "attempt"
BY = CONNECT + "class.name"
MATERIALIZER = "headwater_consumers.materializer"
BRIDGE = "headwater_consumers.bridge"
"""Values of the header `BY`: the letter's producer, which shows if its value is an event or an OpenLineage document."""
# Header of a replayed record: the source of its letter.
REPLAYED_FROM = OURS + "replayed.from"

# The dead-letter topic accepts the events topic's largest record plus 64 KiB. Kafka limits names and ids; only the
# message, and the event's id in a broken event, may have any length.
MAX_MESSAGE_CHARACTERS = 2_000
MAX_EVENT_ID_CHARACTERS = 200


class DeadLetterStage(StrEnum):
    """Stage in which a record failed, by Kafka Connect's names: decoding its value, or writing it to the sink."""

    DECODE = "VALUE_CONVERTER"
    APPLY = "TASK_PUT"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that can't be applied, with the reason.

    Attributes:
        reason: reason, from a closed list.
        message: the fault, without content of the payload.
        event_id: id of the event, if it could be read.
        by: producer of the letter, MATERIALIZER or BRIDGE.
    """

    record: FetchedRecord
    reason: DeadLetterReason
    stage: DeadLetterStage
    error: str
    message: str
    event_id: str = ""
    by: str = MATERIALIZER

    def headers(self, *, group: str) -> Headers:
        """Return all headers of the letter: the record's (without those of an earlier dead letter), then Headwater's.

        Args:
            group: consumer group, which is stored as the name of Connect's connector.
        """
        partition, unread = self.record.partition, self.record.unread
        added = {
            TOPIC: partition.topic,
            PARTITION: str(partition.number),
            OFFSET: str(self.record.offset),
            CONNECT + "connector.name": group,
            CONNECT + "task.id": "0",
            CONNECT + "stage": self.stage.value,
            BY: self.by,
            CONNECT + "exception.class.name": self.error,
            CONNECT + "exception.message": self.message[:MAX_MESSAGE_CHARACTERS],
            TOPIC_ID: partition.topic_id,
            REASON: self.reason.value,
            EVENT_ID: self.event_id[:MAX_EVENT_ID_CHARACTERS],
            ATTEMPT: str(_attempt(self.record.headers)),
        }
        if unread is not None:
            added |= {OFFSET_END: str(unread.end), LEFT_OUT: _UNKNOWN if unread.bytes is None else str(unread.bytes)}
        replaced = {*added, OFFSET_END, LEFT_OUT}
        kept = tuple((name, value) for name, value in self.record.headers if name not in replaced)
        return kept + tuple((name, value.encode("utf-8", "replace")) for name, value in added.items())


_UNKNOWN = "unknown"


def is_replay(headers: Headers) -> bool:
    """Return True if the record comes from a replay of dead letters."""
    return any(name == REPLAYED_FROM for name, _ in headers)


def _attempt(headers: Headers) -> int:
    """Number of the attempt: 1, or the number in a replayed record's header."""
    for name, value in headers:
        if name == ATTEMPT and value is not None and value.isdigit():
            return int(value[:9])
    return 1


def coordinate(headers: Iterable[tuple[str, bytes | None]] | None) -> RecordCoordinates | None:
    """Parse the source coordinates of a dead letter from its headers; None if they aren't Headwater's."""
    values = {name: value for name, value in headers or () if isinstance(value, bytes)}
    try:
        topic = values[TOPIC].decode()
        number = int(values[PARTITION])
        offset = int(values[OFFSET])
        topic_id = values.get(TOPIC_ID, b"").decode()
        end = int(values.get(OFFSET_END, offset + 1))
    except (KeyError, ValueError):
        return None
    return RecordCoordinates(Partition(topic, number, topic_id), offset, max(end, offset + 1))


UNKNOWN = "UNKNOWN"
"""Reason of a letter without a reason, which comes from another program."""

_ADDED_HEADERS = (CONNECT, TOPIC_ID, REASON, EVENT_ID, ATTEMPT, OFFSET_END, LEFT_OUT)


@dataclass(frozen=True, slots=True)
class RecordCoordinates:
    """Source coordinates of a dead letter: topic, partition and offset. A recreated topic has another id.

    Attributes:
        offset: offset of the record, or the first offset that a letter without bytes covers.
        end: offset after the last covered one.
    """

    partition: Partition
    offset: int
    end: int

    def __str__(self) -> str:
        more = f" to {self.end - 1}" if self.end > self.offset + 1 else ""
        return f"{self.partition}@{self.offset}{more}"


@dataclass(frozen=True, slots=True)
class StoredDeadLetter:
    """Dead letter read back from its topic.

    Attributes:
        record: record on the dead-letter topic; key, value and timestamp are the original's, byte for byte.
        source: coordinates of the original; None if the headers lack them.
        reason: a `DeadLetterReason`, or UNKNOWN.
        stage: a `DeadLetterStage`.
        event_id: id of the event; empty if it couldn't be read.
        attempt: number of the attempt: 1, or more after replays.
        replayed_from: source of the letter that was replayed; None for a first attempt.
        by: producer of the letter, MATERIALIZER or BRIDGE; empty if another program wrote the letter.
        left_out: number of missing bytes of the original, or "unknown"; None if the letter has all bytes.
    """

    record: FetchedRecord
    source: RecordCoordinates | None
    reason: str
    stage: str
    error: str
    message: str
    event_id: str
    attempt: int
    replayed_from: str | None
    by: str = MATERIALIZER
    left_out: str | None = None

    def back_to(self, events: str) -> str:
        """Return the topic for a replay: the OpenLineage topic that the record came from, or `events`."""
        return self.source.partition.topic if self.by == BRIDGE and self.source is not None else events

    @property
    def where(self) -> str:
        """Location on the dead-letter topic, `partition@offset`, an argument of `dlq show`."""
        return f"{self.record.partition.number}@{self.record.offset}"

    @property
    def time(self) -> datetime | None:
        """Time at which the original record was published."""
        milliseconds = self.record.timestamp_ms
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)

    @property
    def job(self) -> str | None:
        """Namespace and name of the event's job or dataset, from the record's key; None if the key lacks them."""
        try:
            parts = json.loads(self.record.key or b"")
        except ValueError:  # or UnicodeDecodeError, a subclass
            return None
        if not (isinstance(parts, list) and len(parts) == 3 and all(isinstance(part, str) for part in parts)):
            return None
        return f"{parts[1]}/{parts[2]}"

    @property
    def original_headers(self) -> tuple[tuple[str, bytes | None], ...]:
        """The original record's headers."""
        return tuple((name, value) for name, value in self.record.headers if not name.startswith(_ADDED_HEADERS))


def letter_of(record: FetchedRecord) -> StoredDeadLetter:
    """Read a record of the dead-letter topic, with its headers."""
    values = {name: value.decode("utf-8", "replace") for name, value in record.headers if value is not None}
    source = coordinate(record.headers)
    attempt = values.get(ATTEMPT, "")
    return StoredDeadLetter(
        record,
        source=source,
        reason=values.get(REASON, UNKNOWN),
        stage=values.get(CONNECT + "stage", ""),
        error=values.get(CONNECT + "exception.class.name", ""),
        message=values.get(CONNECT + "exception.message", ""),
        event_id=values.get(EVENT_ID, ""),
        attempt=int(attempt[:9]) if attempt.isdecimal() else 1,
        replayed_from=values.get(REPLAYED_FROM),
        by=values.get(BY, ""),
        left_out=values.get(LEFT_OUT),
    )
