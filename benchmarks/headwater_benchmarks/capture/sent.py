"""Numbers of events and bytes that a contestant has sent."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from headwater_schemas.codec import Decoder
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames


@dataclass(frozen=True, slots=True)
class SentEvents:
    """Events and bytes that one contestant has sent.

    Attributes:
        bytes: size of the events and their keys.
        kinds: number of events of each kind.
    """

    events: int = 0
    bytes: int = 0
    kinds: dict[str, int] = field(default_factory=dict)


def on_topic(broker: str, prefix: str) -> SentEvents:
    """Count events and bytes on the events topic."""
    topic = TopicNames(prefix).events
    consumer = Consumer({**quiet({"bootstrap.servers": broker}), "group.id": f"{prefix}-count"})
    kinds: Counter[str] = Counter()
    size, decoder = 0, Decoder()
    try:
        for number in consumer.list_topics(topic, timeout=30).topics[topic].partitions:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)
            consumer.assign([TopicPartition(topic, number, 0)])
            for _ in range(end):
                message = consumer.poll(30)
                if message is None or message.error():
                    raise RuntimeError(f"{topic} can't be read to its end")
                value = message.value() or b""
                size += len(value) + len(message.key() or b"")
                kinds[decoder.decode(value).kind] += 1
    finally:
        consumer.close()
    return SentEvents(kinds.total(), size, dict(sorted(kinds.items())))


def in_file(path: Path) -> SentEvents:
    """Count the lines of OpenLineage's file transport."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    kinds = Counter(str(json.loads(line).get("eventType")) for line in lines)
    return SentEvents(len(lines), sum(map(len, lines)), dict(sorted(kinds.items())))
