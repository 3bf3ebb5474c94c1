"""Topics of made-up events, and a consumer in a separate process that writes these events into a graph."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from confluent_kafka import Producer

from headwater.errors import HeadwaterError
from headwater_benchmarks.processes import ConsumerProcess, running
from headwater_benchmarks.servers import DATABASE, Database
from headwater_benchmarks.timed_consumer import UNTIL_CAUGHT_UP
from headwater_graph.fold import fold
from headwater_graph.schema import wipe
from headwater_graph.write import GraphWriter
from headwater_producers.publisher.settings import PublisherSettings
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs

PARTITIONS = 8
_PROGRAM = ("-m", "headwater_benchmarks.timed_consumer")
_WARM_UP_BATCH = 500
_FLUSH_SECONDS = 120.0
_LONGEST_SECONDS = 6 * 3_600.0
_SETTLE_SECONDS = 300.0
_SLEEP_SECONDS = 0.005


class TopicContents:
    """Records that were produced to a topic.

    Attributes:
        size: size of keys and values in bytes.
        ids: event id of each record; repeated records have equal ids.
    """

    def __init__(self, progress: Callable[[], object] = lambda: None) -> None:
        self._progress = progress
        self.size = 0
        self.kinds: Counter[str] = Counter()
        self.ids: list[str] = []
        self.values: list[bytes] = []

    def add(self, event: LineageEvent, key: bytes, value: bytes) -> None:
        """Add a produced record."""
        self.size += len(key) + len(value)
        self.kinds[event.kind] += 1
        self.ids.append(event.event_id)
        self.values.append(value)
        self._progress()

    def document(self) -> dict[str, Any]:
        """Return the numbers of records, distinct events and bytes, and the number of events of each kind."""
        distinct = len(set(self.ids))
        return {"records": len(self.ids), "distinct": distinct, "bytes": self.size, "kinds": dict(self.kinds)}


def create_topics(broker: str, prefix: str, partitions: int = PARTITIONS) -> str:
    """Create Headwater's topics with this prefix; return the name of the events topic."""
    names = TopicNames(prefix)
    ensure_topics(quiet({"bootstrap.servers": broker}), topic_specs(names, partitions=partitions))
    return names.events


def producer_like_the_publishers(broker: str) -> Producer:
    """Make a producer with the settings of Headwater's publisher."""
    return Producer(quiet(PublisherSettings(bootstrap_servers=broker).producer_config()))


def put(producer: Producer, topic: str, value: bytes, key: bytes) -> None:
    """Produce a record; wait while the producer's buffer is full."""
    while True:
        try:
            producer.produce(topic, value, key)
            break
        except BufferError:
            producer.poll(0.1)
    producer.poll(0)


def fill(
    broker: str, prefix: str, events: Iterable[LineageEvent], produced: Callable[[LineageEvent, bytes, bytes], object]
) -> None:
    """Create topics, produce events, and wait until all are acknowledged.

    Args:
        broker: bootstrap servers.
        produced: called for each event, with key and value of its record.

    Raises:
        HeadwaterError: the broker doesn't acknowledge the events.
    """
    topic, producer = create_topics(broker, prefix), producer_like_the_publishers(broker)
    for event in events:
        key, value = record_key(event), encode(event)
        put(producer, topic, value, key)
        produced(event, key, value)
    if producer.flush(_FLUSH_SECONDS):
        raise HeadwaterError("Kafka doesn't acknowledge the events.")


def warm_up(database: Database, events: Sequence[LineageEvent]) -> None:
    """Write events with the consumer's statements, so that a new JVM has planned them; then empty the database."""
    writer = GraphWriter(database.driver, DATABASE)
    writer.ensure_schema()
    for at in range(0, len(events), _WARM_UP_BATCH):
        writer.apply(fold(events[at : at + _WARM_UP_BATCH]))
    empty(database)


def empty(database: Database) -> None:
    """Delete all nodes, and Headwater's constraints and indexes."""
    wipe(database.driver, DATABASE)
    database.run("database/empty")


def consumer_variables(broker: str, prefix: str, group: str, database: Database) -> dict[str, str]:
    """Variables of the consumer, which also inherits `HEADWATER_MATERIALIZER_…` variables from this process."""
    target = database.target
    return {
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": broker,
        "HEADWATER_NEO4J_URI": target.uri,
        "HEADWATER_NEO4J_USER": target.user,
        "HEADWATER_NEO4J_PASSWORD": target.password,
        "HEADWATER_TOPIC_PREFIX": prefix,
        "HEADWATER_MATERIALIZER_GROUP": group,
        "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
    }


def drain(broker: str, prefix: str, group: str, database: Database) -> dict[str, Any]:
    """Run a consumer until it has caught up with the topic; return its report, with Neo4j's processor time.

    Raises:
        HeadwaterError: the consumer failed, or didn't apply all events.
    """
    server = database.processor_seconds()
    variables = consumer_variables(broker, prefix, group, database)
    with running(ConsumerProcess, variables, UNTIL_CAUGHT_UP, program=_PROGRAM) as process:
        report = _ended(process, process.wait(_LONGEST_SECONDS))
    if report["dead_lettered"] or report["applied"] != report["consumed"]:
        raise HeadwaterError(f"{report['applied']} of {report['consumed']} records were applied.")
    [counts] = database.run("database/counts")
    return {**report, **counts, "neo4j_seconds": database.processor_seconds() - server}


def steady(broker: str, prefix: str, database: Database, events: Sequence[LineageEvent], rate: float) -> dict[str, Any]:
    """Send events at a rate to a consumer that has caught up; return its report, with latencies.

    Raises:
        HeadwaterError: the consumer failed.
    """
    topic, producer = create_topics(broker, prefix), producer_like_the_publishers(broker)
    records = [(encode(event), record_key(event)) for event in events]
    variables = consumer_variables(broker, prefix, prefix, database)
    with running(ConsumerProcess, variables, program=_PROGRAM) as process:
        process.until(process.ready, "readiness", seconds=_SETTLE_SECONDS)
        begun = time.monotonic()
        for number, (value, key) in enumerate(records):
            ahead = begun + number / rate - time.monotonic()
            if ahead > 0:
                producer.poll(0)
                # One sleep can be as long as several events: waking for each event would take processor time from the
                # consumer.
                time.sleep(max(ahead, _SLEEP_SECONDS))
            producer.produce(topic, value, key)
        producer.flush(_SETTLE_SECONDS)
        process.until(
            lambda: process.metric("events_applied_total") >= len(records), "end of events", seconds=_SETTLE_SECONDS
        )
        return _ended(process, process.stop(seconds=_SETTLE_SECONDS))


def _ended(process: ConsumerProcess, status: int) -> dict[str, Any]:
    if status != 0:
        raise HeadwaterError(f"The consumer ended with {status}. Its stderr: {process.stderr}")
    return process.document
