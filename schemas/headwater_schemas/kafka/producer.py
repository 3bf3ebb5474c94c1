"""AcknowledgedProducer: all in-sync replicas acknowledge a record, or it is reported undelivered, with the reason.

The publisher, the announcement of schemas, the dead-letter topic and the replay of dead letters all produce through it.
"""

# ruff: noqa: SLF001 - a leading underscore is how librdkafka names the errors of the client itself
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from confluent_kafka import KafkaError, KafkaException, Producer

from headwater_schemas.kafka.errors import kafka_error, settings_refused

if TYPE_CHECKING:
    from confluent_kafka import Message

ACKNOWLEDGED: dict[str, Any] = {
    "enable.idempotence": True,
    "acks": "all",
    # With several requests in flight, records can be lost: a leader that doesn't know the producer yet can refuse the
    # first batch (its election isn't over, replicas are missing) and accept the second. librdkafka then reports the
    # first batch as delivered. https://github.com/confluentinc/confluent-kafka-go/issues/921
    "max.in.flight.requests.per.connection": 1,
    # Chooses the partition for a key as Java's producers do, so that a job's events stay in one partition.
    "partitioner": "murmur2_random",
    # Reconnects within 2 s of a broker's return; the default is 10 s.
    "reconnect.backoff.max.ms": 2_000,
}
"""Common settings of all producers, as librdkafka names them."""

# librdkafka's maximum, so that only the topic's limit counts: that limit is for compressed records, and a record here
# isn't compressed yet.
_MAX_MESSAGE_BYTES = 1_000_000_000
_FULL_QUEUE_POLL_SECONDS = 0.1
# Added to the delivery timeout: by then every record has its delivery report.
_MARGIN_SECONDS = 5
# The producer failed, or has discarded the record: the record itself is valid, and sending it twice does no harm.
_PRODUCER_LOST = {
    KafkaError._FATAL,
    KafkaError._PURGE_QUEUE,
    KafkaError._PURGE_INFLIGHT,
    KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,
    KafkaError.UNKNOWN_PRODUCER_ID,
}


class ProducerRecord(msgspec.Struct, frozen=True):
    """A record to be sent.

    Attributes:
        key, value, headers: content of the record.
        timestamp_ms: milliseconds since 1970; 0: now.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = 0


@dataclass(frozen=True, slots=True)
class Undelivered:
    """Error of a record that was not delivered.

    Attributes:
        error: librdkafka's error.
    """

    error: KafkaError

    @property
    def too_large(self) -> bool:
        """True if the record, or its batch, is larger than the topic or the producer allows."""
        return bool(self.error.code() == KafkaError.MSG_SIZE_TOO_LARGE)

    @property
    def producer_lost(self) -> bool:
        """True if the producer must be replaced; a new producer may send the same record."""
        return bool(self.error.fatal()) or self.error.code() in _PRODUCER_LOST


def one_by_one(client: Mapping[str, Any], *, client_id: str, delivery_seconds: float) -> dict[str, Any]:
    """Return settings of a producer that sends each record in its own request, so that a refusal affects one record.

    Records may have any size. Two records of the largest size would make a batch that the topic refuses.

    Args:
        client: settings of the connection; they don't override the settings of this function.
        client_id: name of this client in the broker's logs and metrics.
        delivery_seconds: time after which a record is given up.
    """
    return {
        **client,
        **ACKNOWLEDGED,
        "client.id": client_id,
        "compression.type": "zstd",
        "message.max.bytes": _MAX_MESSAGE_BYTES,
        "batch.num.messages": 1,
        "queue.buffering.max.kbytes": 65_536,
        "linger.ms": 0,
        "delivery.timeout.ms": round(delivery_seconds * 1000),
        "topic.metadata.propagation.max.ms": 5_000,
    }


class AcknowledgedProducer:
    """Producer that reports exactly one outcome for each record. Safe to use from many threads, as librdkafka is.

    Args:
        config: librdkafka's settings; they override `ACKNOWLEDGED`.
        on_error: called with errors of the connection as a whole, from within `poll` or `flush`.
        make_producer: `confluent_kafka.Producer`, or a substitute.

    Raises:
        SettingsRefusedError: librdkafka refuses the settings.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        on_error: Callable[[KafkaError], None] | None = None,
        make_producer: Callable[[dict[str, Any]], Producer] = Producer,
    ) -> None:
        callbacks = {} if on_error is None else {"error_cb": on_error}
        self._on_error = on_error
        try:
            self._producer = make_producer({**ACKNOWLEDGED, **config, **callbacks})
        except KafkaException as error:
            raise settings_refused(error) from None

    def send(self, record: ProducerRecord, settled: Callable[[Undelivered | None], None]) -> None:
        """Put a record into librdkafka's queue. Never waits for the broker.

        Raises:
            BufferError: librdkafka's queue is full; the record was not accepted.
            KafkaException: librdkafka refuses this record at once; `settled` is not called.
        """
        self._producer.produce(
            record.topic,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            timestamp=record.timestamp_ms,
            on_delivery=partial(_reported, settled),
        )

    def deliver(
        self,
        records: Iterable[ProducerRecord],
        settled: Callable[[int, Undelivered | None], None],
        *,
        delivery_seconds: float,
    ) -> int:
        """Send records and wait until each is settled. Reads the next record when librdkafka's queue has room.

        Args:
            records: read lazily; if the iteration raises, later records are not sent.
            settled: called once for each record, with its index from 0 and its error; None: acknowledged.
            delivery_seconds: the producer's delivery timeout.

        Returns:
            Number of records without a delivery report in time; they may or may not be on the topic.
        """
        for number, record in enumerate(records):
            self._send_when_there_is_room(record, partial(settled, number))
            self.poll(0)
        return self.flush(delivery_seconds + _MARGIN_SECONDS)

    def _send_when_there_is_room(self, record: ProducerRecord, settled: Callable[[Undelivered | None], None]) -> None:
        while True:
            try:
                return self.send(record, settled)
            except BufferError:
                self.poll(_FULL_QUEUE_POLL_SECONDS)
            except KafkaException as error:
                return settled(Undelivered(kafka_error(error)))

    def probe(self, timeout_seconds: float) -> None:
        """Request the topics' metadata from the brokers.

        Raises:
            KafkaException: no broker answers in time.
        """
        self._producer.list_topics(timeout=timeout_seconds)

    def poll(self, timeout_seconds: float) -> None:
        """Serve delivery reports and errors; wait up to `timeout_seconds` for the first.

        Raises:
            KafkaException: the producer failed for good, and there is no `on_error`.
        """
        self._served(self._producer.poll, timeout_seconds)

    def flush(self, timeout_seconds: float) -> int:
        """Wait for the delivery reports of all records, without linger; return the number of missing reports.

        Raises:
            KafkaException: the producer failed for good, and there is no `on_error`.
        """
        return self._served(self._producer.flush, timeout_seconds)

    def discard(self, timeout_seconds: float = 1.0) -> None:
        """Drop undelivered records; each is settled as `producer_lost`."""
        self._producer.purge()
        self.flush(timeout_seconds)

    def _served(self, serve: Callable[[float], int], timeout_seconds: float) -> int:
        while True:
            try:
                return serve(timeout_seconds)
            except (KafkaException, SystemError) as error:
                # poll and flush raise a fatal error, even if there is an error callback. If a delivery report is next
                # in the queue, Python turns the exception into a SystemError. Later reports still have to be served.
                raised = error.__cause__ if isinstance(error, SystemError) else error
                if not isinstance(raised, KafkaException):
                    raise
                if self._on_error is None:
                    raise raised from None
                self._on_error(kafka_error(raised))

    def __len__(self) -> int:
        """Number of records without a delivery report."""
        return len(self._producer)


def _reported(settled: Callable[[Undelivered | None], None], error: KafkaError | None, _message: Message) -> None:
    settled(None if error is None else Undelivered(error))
