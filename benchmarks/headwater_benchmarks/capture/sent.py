"""Counts the events and bytes that a contestant sent."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from headwater_benchmarks.capture.contestants import Place
from headwater_schemas.codec import Decoder
from headwater_schemas.topics import TopicNames


@dataclass(frozen=True, slots=True)
class Sent:
    """Events and bytes that one contestant has sent so far.

    Attributes:
        events: number of events.
        bytes: size of the events and their keys.
        kinds: number of events of each kind.
    """

    events: int = 0
    bytes: int = 0
    kinds: dict[str, int] = field(default_factory=dict)


def on_topic(place: Place) -> Sent:
    """Reads the whole events topic."""
    from confluent_kafka import Consumer, TopicPartition

    topic = TopicNames(place.topic_prefix).events
    consumer = Consumer(
        {
            "bootstrap.servers": place.bootstrap_servers,
            "group.id": f"{place.topic_prefix}-count",
            "log_level": 2,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ends = {
            number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)[1]
            for number in partitions
        }
        consumer.assign([TopicPartition(topic, number, 0) for number, end in ends.items() if end])
        waiting = sum(ends.values())
        kinds: Counter[str] = Counter()
        size = 0
        decoder = Decoder()
        while waiting:
            message = consumer.poll(30)
            if message is None or message.error():
                raise RuntimeError(f"{topic} can't be read to its end")
            value = message.value() or b""
            size += len(value) + len(message.key() or b"")
            kinds[decoder.decode(value).kind] += 1
            waiting -= 1
    finally:
        consumer.close()
    return Sent(kinds.total(), size, dict(sorted(kinds.items())))


def in_file(path: Path) -> Sent:
    """Counts the lines of OpenLineage's file transport."""
    kinds: Counter[str] = Counter()
    size = 0
    if path.exists():
        with path.open("rb") as lines:
            for line in lines:
                size += len(line)
                kinds[str(json.loads(line).get("eventType"))] += 1
    return Sent(kinds.total(), size, dict(sorted(kinds.items())))
