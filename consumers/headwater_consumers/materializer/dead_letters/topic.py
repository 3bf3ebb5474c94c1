"""Dead-letter topic: sending of letters, and reading of all letters.

`send` returns only when each letter is acknowledged; otherwise it raises an error with the unacknowledged letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_consumers.materializer.dead_letters.letter import DeadLetter, StoredDeadLetter, letter_of
from headwater_schemas.errors import FatalError, LineageError, TransientError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import kafka_failure
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered, one_by_one

if TYPE_CHECKING:
    from confluent_kafka import KafkaError


_DELIVERY_SECONDS = 20


class DeadLettersUndeliveredError(TransientError):
    """The dead-letter topic didn't acknowledge every letter.

    Attributes:
        remaining: the unacknowledged letters.
    """

    def __init__(self, message: str, *, remaining: Sequence[DeadLetter], code: str = "") -> None:
        super().__init__(message, code=code)
        self.remaining = remaining


class DeadLetterSink(Protocol):
    """Destination of dead letters."""

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Return once each letter is acknowledged by the topic's in-sync replicas.

        A letter may be on the topic twice (after a lost acknowledgement, or a crash before the offsets are committed).
        So readers count distinct source coordinates.

        Raises:
            DeadLettersUndeliveredError: some letters aren't acknowledged; send these again.
            FatalError: the topic can't be written with these settings.
        """

    def close(self) -> None:
        """Close the connections. Never raises."""


class KafkaDeadLetters:
    """Produces to the dead-letter topic, idempotently and with acks=all. Connects with the first letter.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        group: the consumer group, for the letters' headers.
    """

    def __init__(self, client: Mapping[str, Any], *, topic: str, group: str) -> None:
        self._client = client
        self._topic = topic
        self._group = group
        self._producer: AcknowledgedProducer | None = None
        self._fatal: FatalError | None = None

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Return once each letter is acknowledged. A letter that is too large for the topic is sent without its bytes.

        Raises:
            DeadLettersUndeliveredError: some letters aren't acknowledged; send these again.
            FatalError: the topic can't be written with these settings.
        """
        unsent, failures = self._sent(letters)
        if failures and all(each.too_large for each in failures):
            smaller = [_without_bytes(letter, self._topic) for letter in unsent]
            left, failures = self._sent(smaller)
            ids = {id(letter) for letter in left}
            unsent = [letter for letter, small in zip(unsent, smaller, strict=True) if id(small) in ids]
        if unsent:
            raise self._undelivered(unsent, failures)

    def _sent(self, letters: Sequence[DeadLetter]) -> tuple[list[DeadLetter], list[Undelivered]]:
        """Send letters; return the unacknowledged ones, in order, and the failures."""
        producer = self._producer or self._connect()
        unsent = dict(enumerate(letters))
        failures: list[Undelivered] = []

        def settled(number: int, failure: Undelivered | None) -> None:
            if failure is None:
                unsent.pop(number, None)
            else:
                failures.append(failure)

        producer.deliver(map(self._record, letters), settled, delivery_seconds=_DELIVERY_SECONDS)
        if self._fatal is not None:
            raise self._fatal
        return [unsent[number] for number in sorted(unsent)], failures

    def close(self) -> None:
        """Close the connections."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.discard()

    def _record(self, letter: DeadLetter) -> ProducerRecord:
        record = letter.record
        headers = tuple(letter.headers(group=self._group))
        return ProducerRecord(self._topic, record.key, record.value, headers, record.timestamp_ms or 0)

    def _connect(self) -> AcknowledgedProducer:
        config = one_by_one(self._client, client_id="headwater-dead-letters", delivery_seconds=_DELIVERY_SECONDS)
        self._producer = AcknowledgedProducer(config, on_error=self._on_error)
        return self._producer

    def _on_error(self, error: KafkaError) -> None:
        failure = self._failure(error)
        if isinstance(failure, FatalError):
            self._fatal = failure

    def _undelivered(self, remaining: list[DeadLetter], failures: list[Undelivered]) -> LineageError:
        if not failures:
            return DeadLettersUndeliveredError(
                f"Topic {self._topic} at {self._servers} didn't acknowledge {len(remaining)} dead letters in time.",
                remaining=remaining,
            )
        failure = self._failure(failures[0].error)
        if isinstance(failure, FatalError):
            return failure
        if any(each.error.fatal() for each in failures):
            self.close()  # an idempotent producer in this state can only be replaced
        hint = ""
        if failures[0].too_large:
            hint = f" Raise max.message.bytes of {self._topic} to that of the events topic and 64 KiB."
        return DeadLettersUndeliveredError(f"{failure}.{hint}", remaining=remaining, code=failure.code)

    def _failure(self, error: KafkaError) -> LineageError:
        return kafka_failure(error, servers=self._servers, doing=f"writing to {self._topic}")

    @property
    def _servers(self) -> str:
        return str(self._client.get("bootstrap.servers", ""))


def _without_bytes(letter: DeadLetter, topic: str) -> DeadLetter:
    """Strip a letter to the coordinates of its record."""
    if letter.record.unread is not None:
        return letter
    left_out = f"its {len(letter.record.value or b''):,} bytes are more than {topic} accepts"
    return replace(letter, record=letter.record.without_bytes(left_out), message=f"{letter.message} {left_out}")


def letters(client: Mapping[str, Any], topic: str) -> Iterator[StoredDeadLetter]:
    """Yield every letter that is on the topic now, with repetitions. One letter is in memory at a time.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
        BrokerUnavailableError: the brokers stop answering in the middle.
    """
    return map(letter_of, records_to_end(quiet(client), topic))
