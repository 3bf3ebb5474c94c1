"""Three records that no consumer can apply, with different faults."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO

import msgspec
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from fastavro import schemaless_writer

from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC
from headwater_schemas.events import EventKind, IntervalEvent, JobRef, LineageEvent
from headwater_schemas.kafka.producer import ACKNOWLEDGED

_PRODUCER = "https://headwater/demo"


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A record that can't be applied.

    Attributes:
        reason: The `headwater.reason` that its dead letter must have.
    """

    title: str
    reason: str
    value: bytes


def broken_records() -> tuple[BrokenRecord, ...]:
    """Garbage bytes, an unknown schema, and an event that breaks a rule of the contract."""
    return (
        BrokenRecord("garbage bytes", "NOT_AN_EVENT", b"\xde\xad\xbe\xef" * 16),
        BrokenRecord("unknown schema", "UNKNOWN_SCHEMA", SINGLE_OBJECT_MAGIC + b"\x01\x02\x03\x04\x05\x06\x07\x08" * 4),
        BrokenRecord("invalid event", "INVALID_EVENT", _interval_without_micro_batches()),
    )


def _interval_without_micro_batches() -> bytes:
    event = LineageEvent(
        event_id="00000000-0000-5000-8000-000000000000",
        event_time=datetime(2013, 1, 1, tzinfo=UTC),
        tenant="default",
        producer=_PRODUCER,
        kind=EventKind.INTERVAL,
        job=JobRef("default", "flights.broken"),
        interval_event=IntervalEvent(query_id="00000000-0000-4000-8000-000000000000", entries=()),
    )
    # `codec.encode` would refuse this event.
    schema = current_schema()
    out = BytesIO()
    out.write(SINGLE_OBJECT_MAGIC + schema.fingerprint)
    datum = msgspec.to_builtins(event, builtin_types=(datetime,))
    schemaless_writer(out, schema.parsed, datum, disable_tuple_notation=True)
    return out.getvalue()


def send(bootstrap_servers: str, topic: str, *, timeout_seconds: float = 30.0) -> None:
    """Send the three records to the topic and wait until they are acknowledged.

    Raises:
        KafkaException: One of them was not acknowledged.
    """
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failed.append(error)

    # While a broker starts, librdkafka logs its retries. Final failures are reported to the callback.
    quiet = {"log_level": 2}
    producer = Producer({"bootstrap.servers": bootstrap_servers, **ACKNOWLEDGED, **quiet})
    for record in broken_records():
        producer.produce(topic, key=b"demo", value=record.value, on_delivery=delivered)
    left = producer.flush(timeout_seconds)
    if failed or left:
        raise KafkaException(failed[0] if failed else KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001  its name
