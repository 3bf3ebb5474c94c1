"""Lines on the topic `<prefix>.audit`: one for each record, with the chain as its key, so in one partition per chain.

A record is durable once all in-sync replicas have it. If Kafka doesn't acknowledge a record, it is unknown which lines
of the commit are on the topic. The writer then begins a new chain, whose first line names the end of the old chain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from headwater_audit.errors import AuditUnwritableError
from headwater_audit.writer import Build
from headwater_schemas.errors import LineageError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import refusal_text
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered
from headwater_schemas.topics import TopicSpec, ensure_topics


class AuditTopic:
    """Destination of lines: a Kafka topic, which is created if it doesn't exist. It isn't thread-safe.

    Args:
        client: settings of the connection, as librdkafka spells them.
        delivery_seconds: maximum time to wait for the delivery of a record.
        make_producer: `confluent_kafka.Producer`, or a substitute.
        ensure: `ensure_topics`, or a substitute.
    """

    def __init__(
        self,
        client: Mapping[str, Any],
        spec: TopicSpec,
        *,
        delivery_seconds: float,
        make_producer: Callable[[dict[str, Any]], Producer] = Producer,
        ensure: Callable[..., Any] = ensure_topics,
    ) -> None:
        self._client = quiet(client)
        self._spec = spec
        self._seconds = delivery_seconds
        self._make_producer = make_producer
        self._ensure = ensure
        self._producer: AcknowledgedProducer | None = None
        self._is_there = False

    def __str__(self) -> str:
        """Name of the destination, for messages."""
        return f"the topic {self._spec.name}"

    def append(self, build: Build) -> None:
        """Send the lines that `build` returns, and return when all are acknowledged.

        Raises:
            AuditUnwritableError: not all lines are acknowledged.
        """
        producer = self._ready()
        lines = build(None)
        chain = json.loads(lines[0])["chain"].encode() if lines else b""
        failures: list[Undelivered] = []

        def settled(_number: int, undelivered: Undelivered | None) -> None:
            if undelivered is not None:
                failures.append(undelivered)

        records = (ProducerRecord(self._spec.name, chain, line) for line in lines)
        missing = producer.deliver(records, settled, delivery_seconds=self._seconds)
        if missing or failures:
            self.close()
            why = refusal_text(failures[0].error) if failures else f"no acknowledgement within {self._seconds:g} s"
            raise AuditUnwritableError(f"{self} can't be written: {why}", clean=False)

    def close(self) -> None:
        """Discard the producer, with its unsent records."""
        if self._producer is not None:
            self._producer.discard()
        self._producer = None

    def _ready(self) -> AcknowledgedProducer:
        """Return the producer, after creating the topic if it doesn't exist.

        Raises:
            AuditUnwritableError: Kafka doesn't answer, or refuses the topic.
        """
        try:
            if not self._is_there:
                self._ensure(self._client, [self._spec], timeout_seconds=self._seconds)
                self._is_there = True
            if self._producer is None:
                config = {
                    **self._client,
                    "client.id": "headwater-audit",
                    "compression.type": "zstd",
                    "linger.ms": 0,
                    "delivery.timeout.ms": round(self._seconds * 1000),
                }
                self._producer = AcknowledgedProducer(config, make_producer=self._make_producer)
        except (LineageError, KafkaException) as error:
            raise AuditUnwritableError(f"{self} can't be written: {error}") from error
        return self._producer
