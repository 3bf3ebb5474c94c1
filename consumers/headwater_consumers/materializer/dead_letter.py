"""Dead letters: what they carry, and the topic that takes them.

A letter is the original record, byte for byte (key, value, headers, timestamp), with headers added that record where it
was and what is wrong. The `__connect.errors.*` names and meanings are Kafka Connect's
(`org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter`), so that tools made for it read these too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from headwater_consumers.materializer.reasons import DeadLetterReason
from headwater_consumers.materializer.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.materializer.records import Headers

CONNECT = "__connect.errors."
OURS = "headwater."
TOPIC = CONNECT + "topic"
PARTITION = CONNECT + "partition"
OFFSET = CONNECT + "offset"
TOPIC_ID = OURS + "topic.id"
REASON = OURS + "reason"
EVENT_ID = OURS + "event.id"
ATTEMPT = OURS + "attempt"
# Of a record that a replay brought back: the source of the letter it was.
REPLAYED_FROM = OURS + "replayed.from"

# The dead-letter topic takes the events topic's largest record and 64 KiB. Names and ids are bounded by Kafka; the
# message and the event's id, which a broken event may have of any length, are what could grow.
MAX_MESSAGE_CHARACTERS = 2_000
MAX_EVENT_ID_CHARACTERS = 200


class Stage(StrEnum):
    """Where a record failed, by Connect's names: reading its value, or putting it into the sink."""

    DECODE = "VALUE_CONVERTER"
    APPLY = "TASK_PUT"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that can't be applied, and why.

    Attributes:
        error: class of the error.
        message: what is wrong, without any of the payload.
        event_id: where it could be read.
    """

    record: Record
    reason: DeadLetterReason
    stage: Stage
    error: str
    message: str
    event_id: str = ""

    def headers(self, *, group: str) -> Headers:
        """All headers of the letter: the record's own, less those of an earlier time as a dead letter, then ours.

        Args:
            group: the consumer group, which stands for Connect's connector.
        """
        partition = self.record.partition
        added = {
            TOPIC: partition.topic,
            PARTITION: str(partition.number),
            OFFSET: str(self.record.offset),
            CONNECT + "connector.name": group,
            CONNECT + "task.id": "0",
            CONNECT + "stage": self.stage.value,
            CONNECT + "class.name": "headwater_consumers.materializer",
            CONNECT + "exception.class.name": self.error,
            CONNECT + "exception.message": self.message[:MAX_MESSAGE_CHARACTERS],
            TOPIC_ID: partition.topic_id,
            REASON: self.reason.value,
            EVENT_ID: self.event_id[:MAX_EVENT_ID_CHARACTERS],
            ATTEMPT: str(_attempt(self.record.headers)),
        }
        kept = tuple((name, value) for name, value in self.record.headers if name not in added)
        return kept + tuple((name, value.encode("utf-8", "replace")) for name, value in added.items())


class DeadLetterSink(Protocol):
    """Where dead letters go."""

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Return once each letter is acknowledged by the topic's in-sync replicas.

        A letter may end up there twice (a lost acknowledgement, a crash before the offsets are committed): readers
        count distinct source coordinates.

        Raises:
            DeadLettersUndeliveredError: some are not; try those again.
            FatalError: the topic can't be written as things are configured.
        """

    def close(self) -> None:
        """Let go of the connections. Never raises."""


def is_replay(headers: Headers) -> bool:
    """Whether a replay of dead letters brought the record back."""
    return any(name == REPLAYED_FROM for name, _ in headers)


def _attempt(headers: Headers) -> int:
    """1, or for a record that a replay brought back the number it was given."""
    for name, value in headers:
        if name == ATTEMPT and value is not None and value.isdigit():
            return int(value[:9])
    return 1
