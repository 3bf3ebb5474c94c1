"""Scripts run for real, and the lineage that they have put on a topic."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from confluent_kafka import Consumer, Message, TopicPartition

from headwater.stack import ensure_jars, java_runtime
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent, RunEvent
from support.stack import StackUnderTest
from support.waiting import patience

SECONDS = 400.0
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a Spark that lives for a minute or two: half the processor time, most of which would go into optimizing."""


def environment(stack: StackUnderTest, prefix: str, *submit: str) -> dict[str, str]:
    """Environment of a driver whose lineage goes to the stack."""
    options = [*small(), *submit]
    return {
        **os.environ,
        **java_runtime().environment(),
        "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
        "HEADWATER_TOPIC_PREFIX": prefix,
    }


def small() -> list[str]:
    """Options of spark-submit for a small driver."""
    jars = ",".join(str(jar) for jar in ensure_jars("spark"))
    options = ["--master", "local[1]", "--driver-memory", "512m", "--jars", jars, "--driver-java-options", QUICK_JVM]
    return [*options, "--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=1"]


def lineage(stack: StackUnderTest, topic: str) -> list[LineageEvent]:
    """All events on a topic of the stack, partition by partition."""
    return events_on(stack.bootstrap_servers, topic)


def events_on(bootstrap_servers: str, topic: str) -> list[LineageEvent]:
    """All events on a topic, partition by partition; none where there is no such topic."""
    decoder = Decoder()
    return [decoder.decode(record.value()) for record in records_on(bootstrap_servers, topic)]


def records_on(bootstrap_servers: str, topic: str) -> list[Message]:
    """All records on a topic, partition by partition; none where there is no such topic."""
    settings = {"bootstrap.servers": bootstrap_servers, "log_level": 2, "group.id": "reader"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    found: list[Message] = []
    try:
        for partition in consumer.list_topics(topic, patience(30)).topics[topic].partitions:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), patience(30))
            consumer.assign([TopicPartition(topic, partition, 0)])
            for _ in range(end):
                record = consumer.poll(patience(30))
                assert record is not None
                assert record.error() is None
                found.append(record)
    finally:
        consumer.close()
    return found


def runs(events: Sequence[LineageEvent], job: str) -> list[RunEvent]:
    """Reported events of a job's runs, in order."""
    return [event.run_event for event in events if event.run_event and event.job and event.job.name == job]
