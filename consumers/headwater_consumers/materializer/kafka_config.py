"""How the consumer talks to Kafka, as settings of librdkafka."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What librdkafka logs by itself, a line for every attempt to connect. Whoever wants it adds a handler; what matters of
# it reaches people by `notices`.
librdkafka_log = logging.getLogger("headwater.librdkafka")
librdkafka_log.addHandler(logging.NullHandler())
librdkafka_log.propagate = False


# Of one answer to a fetch, as compressed. librdkafka raises it to `message.max.bytes`, and a broker sends a larger
# record batch whole all the same, so nothing gets stuck on it.
_FETCH_BYTES = 2 * 1024 * 1024
# Of each partition: a batch, should they all come from one.
_QUEUED_MESSAGES = 4_000


def quiet(client: Mapping[str, Any]) -> dict[str, Any]:
    """The same client settings, with librdkafka's own messages going to `librdkafka_log` instead of stderr."""
    return {"logger": librdkafka_log, **client}


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """What a `KafkaSource` needs to know.

    Attributes:
        client: librdkafka settings with the bootstrap servers and the credentials.
        topic: the events topic.
        group: the consumer group.
        queued_kilobytes: librdkafka's fetch-ahead, of all partitions together; with the three batches the bulk of the
            process's memory.
    """

    client: Mapping[str, Any]
    topic: str
    group: str
    queued_kilobytes: int = 4_096

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
            # That bound counts values, of all partitions together, and is looked at before a fetch, not after: what one
            # fetch brings comes on top, uncompressed. Nor does it count what librdkafka adds to each message, some
            # hundred bytes, so messages have a bound too, of each partition: with the default of 100,000, eight
            # partitions of small ones would take more than all else.
            "fetch.max.bytes": min(_FETCH_BYTES, self.queued_kilobytes * 1024),
            "queued.min.messages": _QUEUED_MESSAGES,
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
