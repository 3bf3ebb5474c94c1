"""The dead-letter topic as a sink: every letter is acknowledged before `send` returns, or handed back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Producer

from headwater_consumers.materializer.errors import DeadLettersUndeliveredError
from headwater_schemas.errors import FatalError
from headwater_schemas.kafka.errors import kafka_error, kafka_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from confluent_kafka import Message

    from headwater_consumers.materializer.dead_letter import DeadLetter

# librdkafka's largest. The topic's own limit is what counts: a compressed record of the events topic may be far larger
# here, before it is compressed again.
_MAX_MESSAGE_BYTES = 1_000_000_000
_DELIVERY_SECONDS = 20


class KafkaDeadLetters:
    """Produces to the dead-letter topic, idempotently and with acks=all. Connects with the first letter.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        topic: the dead-letter topic.
        group: the consumer group, for the letters' headers.
    """

    def __init__(self, client: Mapping[str, Any], *, topic: str, group: str) -> None:
        self._client = client
        self._topic = topic
        self._group = group
        self._producer: Producer | None = None
        self._fatal: FatalError | None = None

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Return once each letter is acknowledged.

        Raises:
            DeadLettersUndeliveredError: some are not; try those again.
            FatalError: the topic can't be written as things are configured.
        """
        producer = self._producer or self._connect()
        unsent = dict(enumerate(letters))
        failures: list[KafkaError] = []

        def delivered(number: int) -> Callable[[KafkaError | None, Message], None]:
            def on_delivery(error: KafkaError | None, _message: Message) -> None:
                if error is None:
                    unsent.pop(number, None)
                else:
                    failures.append(error)

            return on_delivery

        for number, letter in enumerate(letters):
            try:
                self._produce(producer, letter, delivered(number))
            except BufferError:
                break  # the queue is full; what didn't fit is handed back and comes with the next attempt
            except KafkaException as error:
                failures.append(kafka_error(error))
        # A margin over the delivery timeout: by then every callback has been called, for better or worse.
        producer.flush(_DELIVERY_SECONDS + 5)
        if self._fatal is not None:
            raise self._fatal
        if unsent:
            raise self._undelivered([unsent[number] for number in sorted(unsent)], failures)

    def close(self) -> None:
        """Let go of the connections."""
        self._forget()

    def _produce(
        self, producer: Producer, letter: DeadLetter, delivered: Callable[[KafkaError | None, Message], None]
    ) -> None:
        record = letter.record
        producer.produce(
            self._topic,
            key=record.key,
            value=record.value,
            headers=list(letter.headers(group=self._group)),
            timestamp=record.timestamp_ms or 0,  # 0: now
            on_delivery=delivered,
        )

    def _connect(self) -> Producer:
        self._producer = Producer(
            {
                **self._client,
                "client.id": "headwater-dead-letters",
                "enable.idempotence": True,
                "compression.type": "zstd",
                "message.max.bytes": _MAX_MESSAGE_BYTES,
                # Two letters of the largest size would make a batch that the topic refuses.
                "batch.num.messages": 1,
                "queue.buffering.max.kbytes": 65_536,
                "linger.ms": 0,
                "delivery.timeout.ms": _DELIVERY_SECONDS * 1000,
                "reconnect.backoff.max.ms": 2_000,
                "topic.metadata.propagation.max.ms": 5_000,
                "error_cb": self._on_error,
            },
        )
        return self._producer

    def _on_error(self, error: KafkaError) -> None:
        meant = kafka_failure(error, servers=self._servers, doing=f"writing to {self._topic}")
        if isinstance(meant, FatalError):
            self._fatal = meant

    def _undelivered(self, remaining: list[DeadLetter], failures: list[KafkaError]) -> Exception:
        if not failures:
            return DeadLettersUndeliveredError(
                f"Topic {self._topic} at {self._servers} didn't acknowledge {len(remaining)} dead letters in time.",
                remaining=remaining,
            )
        first = failures[0]
        meant = kafka_failure(first, servers=self._servers, doing=f"writing to {self._topic}")
        if isinstance(meant, FatalError):
            return meant
        if any(error.fatal() for error in failures):
            self._forget()  # an idempotent producer in this state can only be replaced
        hint = ""
        if first.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            hint = f" Raise max.message.bytes of {self._topic} to that of the events topic and 64 KiB."
        return DeadLettersUndeliveredError(f"{meant}.{hint}", remaining=remaining, code=meant.code)

    @property
    def _servers(self) -> str:
        return str(self._client.get("bootstrap.servers", ""))

    def _forget(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
            producer.flush(1)
