"""How the consumer talks to Kafka, in librdkafka's words."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What librdkafka says by itself, a line for every attempt to connect. Whoever wants it adds a handler; what matters of
# it reaches people by `notices`.
librdkafka_log = logging.getLogger("headwater.librdkafka")
librdkafka_log.addHandler(logging.NullHandler())
librdkafka_log.propagate = False


def quiet(client: Mapping[str, Any]) -> dict[str, Any]:
    """The same client settings, with librdkafka's own messages going to `librdkafka_log` instead of stderr."""
    return {"logger": librdkafka_log, **client}


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """What a `KafkaSource` needs to know.

    Attributes:
        client: librdkafka settings that say where the cluster is and who we are.
        topic: the events topic.
        group: the consumer group.
        queued_kilobytes: librdkafka's fetch-ahead; with the three batches the bulk of the process's memory.
    """

    client: Mapping[str, Any]
    topic: str
    group: str
    queued_kilobytes: int = 16_384

    @property
    def servers(self) -> str:
        """Where the cluster is, for messages."""
        return str(self.client.get("bootstrap.servers", ""))

    def consumer_config(self) -> dict[str, Any]:
        """The consumer's librdkafka settings. The user's own win over what is tuning, not over what we rely on."""
        return {
            # A consumer that was killed holds its partitions for so long, not for 45 s. Heartbeats are librdkafka's own
            # thread's, so neither a long write nor Python's lock delays them.
            "session.timeout.ms": 15_000,
            "queued.max.messages.kbytes": self.queued_kilobytes,
            "fetch.max.bytes": self.queued_kilobytes * 1024,
            # A new or deleted topic is noticed within this, instead of five minutes.
            "topic.metadata.refresh.interval.ms": 30_000,
            # Recovery within seconds of a broker's return, not the default's ten.
            "reconnect.backoff.max.ms": 2_000,
            **self.client,
            "group.id": self.group,
            "client.id": "headwater-materializer",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "partition.assignment.strategy": "cooperative-sticky",
            "allow.auto.create.topics": False,
            "statistics.interval.ms": 2_000,
        }
