"""Letter: one dead letter as it is read back from its topic."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater_consumers.materializer import dead_letter as header
from headwater_consumers.materializer.accounting import coordinate
from headwater_consumers.materializer.records import Partition, Record
from headwater_consumers.materializer.topic_reader import records_to_end
from headwater_schemas.kafka.client import quiet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

UNKNOWN = "UNKNOWN"
"""The reason of a letter that has none: another program put it there."""

_ADDED = (header.CONNECT, header.TOPIC_ID, header.REASON, header.EVENT_ID, header.ATTEMPT)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record was read that became a letter. A topic made anew has another id."""

    partition: Partition
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter.

    Attributes:
        record: as it is on the dead-letter topic; key and value are the original's, byte for byte, and so is the
            timestamp.
        source: where the original was; None where the headers don't say.
        reason: a `DeadLetterReason`, or UNKNOWN.
        attempt: 1, or which replay of the record ended here.
        replayed_from: the source of the letter whose replay ended here; None for a first attempt.
    """

    record: Record
    source: Source | None
    reason: str
    stage: str
    error: str
    message: str
    event_id: str
    attempt: int
    replayed_from: str | None

    @property
    def where(self) -> str:
        """Its place on the dead-letter topic, `partition@offset`, as `dlq show` takes it."""
        return f"{self.record.partition.number}@{self.record.offset}"

    @property
    def time(self) -> datetime | None:
        """When the original was published."""
        milliseconds = self.record.timestamp_ms
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)

    @property
    def job(self) -> str | None:
        """Namespace and name of the job, or dataset, whose event it is, by the record's key; None where it has none."""
        try:
            parts = json.loads(self.record.key or b"")
        except ValueError:  # UnicodeDecodeError is one
            return None
        if not (isinstance(parts, list) and len(parts) == 3 and all(isinstance(part, str) for part in parts)):
            return None
        return f"{parts[1]}/{parts[2]}"

    @property
    def original_headers(self) -> tuple[tuple[str, bytes | None], ...]:
        """The original record's headers."""
        return tuple((name, value) for name, value in self.record.headers if not name.startswith(_ADDED))


def letter_of(record: Record) -> Letter:
    """What a record of the dead-letter topic says."""
    said = {name: value.decode("utf-8", "replace") for name, value in record.headers if value is not None}
    source = coordinate(record.headers)
    attempt = said.get(header.ATTEMPT, "")
    return Letter(
        record,
        source=None if source is None else Source(*source),
        reason=said.get(header.REASON, UNKNOWN),
        stage=said.get(header.CONNECT + "stage", ""),
        error=said.get(header.CONNECT + "exception.class.name", ""),
        message=said.get(header.CONNECT + "exception.message", ""),
        event_id=said.get(header.EVENT_ID, ""),
        attempt=int(attempt[:9]) if attempt.isdecimal() else 1,
        replayed_from=said.get(header.REPLAYED_FROM),
    )


def letters(client: Mapping[str, Any], topic: str) -> Iterator[Letter]:
    """Every letter that is on the topic now, each once for each time it was sent. One is in memory at a time.

    Args:
        client: librdkafka settings that say where the cluster is and who we are.
        topic: the dead-letter topic.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
        BrokerUnavailableError: they stop answering half-way.
    """
    return map(letter_of, records_to_end(quiet(client), topic))
