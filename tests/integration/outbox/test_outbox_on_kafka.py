"""The outbox before a real broker: away at first, then there; there, then silent for a while."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from prometheus_client import CollectorRegistry

from headwater_producers.outbox import Outbox
from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_schemas.codec import Decoder
from headwater_schemas.events import DatasetEvent, DatasetRef, build
from headwater_schemas.record import Record, record_of
from headwater_schemas.topics import TopicNames
from support.events import PRODUCER, TIME
from support.outbox import metrics
from support.stack import StackUnderTest
from support.waiting import eventually, patience

pytestmark = pytest.mark.stack


def event(name: str) -> Record:
    body = DatasetEvent(dataset=DatasetRef("n", name))
    return record_of(build.lineage_event(body, producer=PRODUCER, event_time=TIME))


def outbox(folder: Path, servers: str, prefix: str) -> Outbox:
    settings = PublisherSettings(bootstrap_servers=servers)
    publisher = Publisher(settings, TopicNames(prefix), metrics=PublisherMetrics(CollectorRegistry()))
    return Outbox(folder, publisher, metrics=metrics())


def arrived(stack: StackUnderTest, prefix: str) -> list[str]:
    """The datasets' names on the topic."""
    topic = TopicNames(prefix).events
    consumer = Consumer(
        {"bootstrap.servers": stack.bootstrap_servers, "log_level": 2, "group.id": "test", "enable.auto.commit": False}
    )
    decoder = Decoder()
    names: list[str] = []
    try:
        for partition in consumer.list_topics(topic, timeout=patience(30)).topics[topic].partitions:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=patience(30))
            consumer.assign([TopicPartition(topic, partition, low)])
            while low < high:
                [message] = consumer.consume(1, timeout=patience(30))
                value, offset = message.value(), message.offset()
                assert value is not None
                assert offset is not None
                low = offset + 1
                body = decoder.decode(value).dataset_event
                assert body is not None
                names.append(body.dataset.name)
    finally:
        consumer.close()
    return sorted(names)


def test_what_was_put_while_kafka_was_away_arrives_at_the_next_start(
    stack: StackUnderTest, topic_prefix: str, tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{probe.getsockname()[1]}"
    with outbox(tmp_path / "outbox", nobody, topic_prefix) as away:
        for number in range(50):
            away.put(event(f"early{number:02}"))
        assert away.await_durable(patience(30)) == 0
        assert away.await_relayed(0.5) == 50
    with outbox(tmp_path / "outbox", stack.bootstrap_servers, topic_prefix) as back:
        back.put(event("late"))
        assert back.await_relayed(patience(60)) == 0
        eventually(lambda: back.figures().events == 0, 60, expecting="the outbox is empty")
    assert arrived(stack, topic_prefix) == [*(f"early{number:02}" for number in range(50)), "late"]
    assert not (tmp_path / "outbox").exists()


@pytest.mark.nightly
def test_a_broker_that_falls_silent_is_waited_for(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> None:
    with outbox(tmp_path / "outbox", stack.bootstrap_servers, topic_prefix) as box:
        box.put(event("before"))
        assert box.await_relayed(patience(60)) == 0
        with stack.paused("kafka"):
            box.put(event("during"))
            assert box.await_durable(patience(30)) == 0
            assert box.await_relayed(1) == 1
        assert box.await_relayed(patience(60)) == 0
    assert arrived(stack, topic_prefix) == ["before", "during"]
