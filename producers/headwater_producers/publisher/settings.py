"""PublisherSettings: destination and delivery of events."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headwater_schemas.kafka.producer import ACKNOWLEDGED
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.registry import RegistrySettings
from headwater_schemas.topics import (
    BROKER_DEFAULT,
    DEFAULT_MAX_MESSAGE_BYTES,
    DEFAULT_PARTITIONS,
    TopicNames,
    TopicSpec,
    topic_specs,
)

# Room in librdkafka's queue beyond `max_buffered_events`: the queue also holds the schema announcement, and the
# publisher's own limit must be reached before librdkafka's.
_HEADROOM_MESSAGES = 1_000


class PublisherSettings(KafkaSettings):
    """Settings of publishing, the connection included.

    Attributes:
        client_id: name of this client in the broker's logs and metrics.
        compression: codec of batches. zstd makes a full batch 28 % smaller than lz4 does, and takes 0.1 µs more per
            event.
        linger_milliseconds: time that a batch waits for more events.
        max_message_bytes: maximum size of an event, uncompressed, and of a batch. At most the topic's
            `max.message.bytes`.
        max_buffered_events: number of events in flight at which `publish` refuses more.
        max_buffered_bytes: size of the events in flight at which `publish` refuses more.
        delivery_timeout_seconds: time after which an event is given up as failed; None: never.
        registry: schema registry that gets the schema; events are then written in Confluent's format.
        create_topics: create the topics that are missing, with the configuration that `headwater_schemas.topics` has.
        topic_partitions: partitions of the events topic, if it has to be created.
        topic_replication_factor: replication factor of all topics when they are created; -1: the broker's default.
    """

    client_id: str = "headwater-publisher"
    compression: Literal["none", "lz4", "zstd", "snappy", "gzip"] = "zstd"
    linger_milliseconds: int = Field(default=20, ge=0, le=900_000)
    max_message_bytes: int = Field(default=DEFAULT_MAX_MESSAGE_BYTES, ge=1_000, le=1_000_000_000)
    max_buffered_events: int = Field(default=100_000, ge=1, le=10_000_000)
    max_buffered_bytes: int = Field(default=64 * 1024 * 1024, ge=1_000)
    delivery_timeout_seconds: float | None = Field(default=None, gt=0, le=2_147_483)
    registry: RegistrySettings | None = None
    create_topics: bool = True
    topic_partitions: int = Field(default=DEFAULT_PARTITIONS, ge=1)
    topic_replication_factor: int = Field(default=BROKER_DEFAULT, ge=BROKER_DEFAULT)

    def specs(self, topics: TopicNames) -> tuple[TopicSpec, ...]:
        """Return the specifications of the topics."""
        return topic_specs(
            topics,
            partitions=self.topic_partitions,
            replication_factor=self.topic_replication_factor,
            max_message_bytes=self.max_message_bytes,
        )

    def producer_config(self) -> dict[str, str | int | float | bool]:
        """Return these settings in librdkafka's spelling, secrets in clear: for a producer, never for a log."""
        timeout = self.delivery_timeout_seconds
        return {
            **ACKNOWLEDGED,
            "client.id": self.client_id,
            "compression.type": self.compression,
            "linger.ms": self.linger_milliseconds,
            "message.max.bytes": self.max_message_bytes,
            "message.timeout.ms": 0 if timeout is None else max(1, round(timeout * 1000)),  # 0: without limit
            "queue.buffering.max.messages": self.max_buffered_events + _HEADROOM_MESSAGES,
            "queue.buffering.max.kbytes": self.max_buffered_bytes // 1024 * 2 + 1024,
            # librdkafka writes to stderr by itself; its errors arrive by callback.
            "log_level": 2,
            **self.client_config(),
        }
