"""Two worlds for one contract: everything in memory, and a real Kafka and Neo4j."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.records import FetchedRecord, Headers, Partition, headers_of
from headwater_consumers.kafka.source import RecordSource
from headwater_consumers.materializer.dead_letters.letter import DeadLetter
from headwater_consumers.materializer.dead_letters.topic import DeadLetterSink, KafkaDeadLetters
from headwater_consumers.materializer.errors import EventRefusedError, GraphUnavailableError
from headwater_consumers.materializer.graph import Fold, GraphStore, Neo4jGraph, writing_driver
from headwater_graph.connection import Neo4jTarget
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.events import LineageEvent
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs
from support.materializer.broker import FakeBroker, FakeDeadLetters, FakeSource
from support.materializer.events import unstorable
from support.materializer.graph import FakeGraph, fold_ids
from support.stack import StackUnderTest
from support.waiting import eventually, patience

T = TypeVar("T")
PARTITIONS = 2


@dataclass
class Listener:
    """Remembers what it was called with."""

    assigned_now: set[Partition] = field(default_factory=set)
    reported: list[tuple[str, frozenset[Partition]]] = field(default_factory=list)
    answers: list[BrokerUnavailableError | None] = field(default_factory=list)
    on_revoke: Callable[[frozenset[Partition]], None] = lambda _: None

    def assigned(self, partitions: frozenset[Partition]) -> None:
        self.reported.append(("assigned", partitions))
        self.assigned_now |= partitions

    def revoked(self, partitions: frozenset[Partition]) -> None:
        self.reported.append(("revoked", partitions))
        self.on_revoke(partitions)
        self.assigned_now -= partitions

    def lost(self, partitions: frozenset[Partition]) -> None:
        self.reported.append(("lost", partitions))
        self.assigned_now -= partitions

    def committed(self, error: BrokerUnavailableError | None) -> None:
        self.answers.append(error)


@dataclass(frozen=True)
class Letter:
    """A dead letter as whoever reads the topic sees it."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int | None
    headers: dict[str, bytes | None]


class World(Protocol):
    """Interface that the contract suite needs of the fake and of the real services."""

    @property
    def fold(self) -> Fold:
        """Fold that makes deltas for `graph`."""

    def put(
        self,
        value: bytes | None,
        *,
        partition: int = 0,
        key: bytes | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> None:
        """Put a record on the events topic."""

    def transact(self, *values: bytes, commit: bool = True) -> None:
        """Put records on partition 0 in one transaction. Its end is marked by an offset that no consumer is given."""

    def expire(self, before: int) -> None:
        """Delete the records of partition 0 that lie before an offset, as retention does."""

    def source(self) -> RecordSource:
        """A new member of the one group."""

    def dead_letters(self) -> DeadLetterSink:
        """The dead-letter topic."""

    def letters(self) -> Sequence[Letter]:
        """Letters on the dead-letter topic."""

    def graph(self) -> GraphStore:
        """The graph."""

    def refused(self) -> LineageEvent:
        """An event that the graph refuses, whatever else is in its transaction."""

    def away(self) -> GraphStore:
        """A graph that can't be reached."""

    def has(self, event: LineageEvent) -> bool:
        """True when the run of an event is in the graph."""

    def recreate(self) -> None:
        """Delete the events topic and create it again."""

    def share(self, stays: RecordSource, comes: RecordSource) -> None:
        """Have a second member take over a partition; where the broker decides that by itself, do nothing."""


class FakeWorld:
    """All in memory."""

    fold: Fold = staticmethod(fold_ids)

    def __init__(self) -> None:
        self.broker = FakeBroker(partitions=PARTITIONS)
        self.events = FakeGraph()
        self.members = 0

    def put(self, value: bytes | None, *, partition: int = 0, **fields: Any) -> None:
        self.broker.append(value, partition=partition, **fields)

    def transact(self, *values: bytes, commit: bool = True) -> None:
        if commit:
            self.broker.extend(values)
        else:
            self.broker.leave_out(len(values))
        self.broker.leave_out(1)

    def expire(self, before: int) -> None:
        self.broker.expire(before)

    def source(self) -> FakeSource:
        source = FakeSource(self.broker)
        if self.members:
            source.first = ()
        self.members += 1
        return source

    def dead_letters(self) -> FakeDeadLetters:
        return FakeDeadLetters(self.broker)

    def letters(self) -> list[Letter]:
        return [
            Letter(
                letter.record.key,
                letter.record.value,
                letter.record.timestamp_ms,
                _headers_by_hand(letter, group="contract"),
            )
            for letter in self.broker.letters
        ]

    def graph(self) -> FakeGraph:
        return self.events

    def refused(self) -> LineageEvent:
        event = unstorable()
        error = EventRefusedError("It can't be encoded.", code="OverflowError")
        self.events.refuses = lambda folded: error if event.event_id in folded else None
        return event

    def away(self) -> FakeGraph:
        graph = FakeGraph()
        error = GraphUnavailableError("It doesn't answer.", code="ServiceUnavailable")
        graph.report_error = graph.probe_error = error
        graph.errors.append(error)
        graph.prepare_errors.append(error)
        return graph

    def has(self, event: LineageEvent) -> bool:
        return event.event_id in self.events.events

    def recreate(self) -> None:
        self.broker.recreate("second")

    def share(self, stays: RecordSource, comes: RecordSource) -> None:
        assert isinstance(stays, FakeSource)
        assert isinstance(comes, FakeSource)
        stays.revoke(1)
        stays.poll(max_records=1, max_bytes=1, timeout_seconds=0)
        comes.assign(1)


class RealWorld:
    """A topic, a group and the one database of a real stack."""

    fold: Fold = staticmethod(fold)

    def __init__(self, stack: StackUnderTest, prefix: str) -> None:
        self.stack = stack
        self.group = f"{prefix}-{uuid.uuid4().hex[:6]}"
        self.topics = TopicNames(prefix)
        self.client = quiet({"bootstrap.servers": stack.bootstrap_servers})
        self.create()
        self._opened: list[Callable[[], None]] = []
        self._producer = Producer(self.client | {"message.max.bytes": 10_000_000, "linger.ms": 0})

    def create(self) -> None:
        """Create the topics that aren't there."""
        # Records may have the times that a test gives them.
        own = {"message.timestamp.type": "CreateTime"}
        specs = [
            replace(spec, config={**spec.config, **own}) for spec in topic_specs(self.topics, partitions=PARTITIONS)
        ]
        ensure_topics(self.client, specs)

    def put(
        self,
        value: bytes | None,
        *,
        partition: int = 0,
        key: bytes | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> None:
        failed: list[Any] = []
        self._producer.produce(
            self.topics.events,
            value,
            key,
            partition,
            headers=list(headers),
            timestamp=timestamp_ms or 0,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
        assert self._producer.flush(patience(20)) == 0
        assert failed == []

    def put_many(self, values: Iterable[bytes | None], *, partition: int = 0) -> None:
        failed: list[Any] = []
        for value in values:
            self._producer.produce(
                self.topics.events,
                value,
                partition=partition,
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
        assert self._producer.flush(patience(30)) == 0
        assert failed == []

    def compressed(self, codec: str, values: Sequence[bytes]) -> None:
        """Put records on partition 0 in one batch, as large as they are before they are compressed."""
        largest = {"message.max.bytes": 1_000_000_000, "batch.size": 1_000_000_000, "linger.ms": 2_000}
        producer = Producer(self.client | largest | {"compression.type": codec})
        for value in values:
            producer.produce(self.topics.events, value, partition=0)
        assert producer.flush(patience(60)) == 0

    def transact(self, *values: bytes, commit: bool = True) -> None:
        producer = Producer(self.client | {"transactional.id": f"{self.group}-{uuid.uuid4().hex}"})
        producer.init_transactions(patience(30))
        producer.begin_transaction()
        for value in values:
            producer.produce(self.topics.events, value, partition=0)
        assert producer.flush(patience(20)) == 0
        if commit:
            producer.commit_transaction(patience(30))
        else:
            producer.abort_transaction(patience(30))

    def expire(self, before: int) -> None:
        upto = [TopicPartition(self.topics.events, 0, before)]
        admin = AdminClient(self.client)  # named, so that it lives until the answer is there
        for future in admin.delete_records(upto).values():
            future.result(patience(20))

    def source(self) -> KafkaSource:
        source = KafkaSource(
            # Members notice within a heartbeat that partitions move: by default three seconds, each time.
            SourceConfig({**self.client, "heartbeat.interval.ms": 300}, self.topics.events, self.group),
            clock=time.monotonic,
            notices=Notices(lambda _: None, time.monotonic),
        )
        self._opened.append(source.close)
        return source

    def dead_letters(self) -> KafkaDeadLetters:
        sink = KafkaDeadLetters(self.client, topic=self.topics.dead_letters, group="contract")
        self._opened.append(sink.close)
        return sink

    def letters(self) -> list[Letter]:
        consumer = Consumer(self.client | {"group.id": "reads", "enable.partition.eof": True})
        try:
            consumer.assign([TopicPartition(self.topics.dead_letters, 0, 0)])
            found: list[Letter] = []
            while True:
                message = consumer.poll(patience(20))
                assert message is not None, "the dead-letter topic can't be read to its end"
                if message.error():
                    return found
                found.append(Letter(message.key(), message.value(), message.timestamp()[1], dict(headers_of(message))))
        finally:
            consumer.close()

    def graph(self) -> Neo4jGraph:
        return self._graph(self.stack.neo4j_uri)

    def refused(self) -> LineageEvent:
        return unstorable()

    def away(self) -> Neo4jGraph:
        with socket.socket() as bound:  # and not listening: nobody else gets the port meanwhile
            bound.bind(("127.0.0.1", 0))
            return self._graph(f"bolt://127.0.0.1:{bound.getsockname()[1]}")

    def has(self, event: LineageEvent) -> bool:
        assert event.run is not None
        with writing_driver(self._target(self.stack.neo4j_uri)) as driver:
            found = driver.execute_query("MATCH (r:HwRun {run_id: $run}) RETURN count(r)", run=event.run.run_id)
        return bool(found.records[0][0])

    def _target(self, uri: str) -> Neo4jTarget:
        return Neo4jTarget(uri, self.stack.neo4j_user, self.stack.neo4j_password, "neo4j")

    def _graph(self, uri: str) -> Neo4jGraph:
        target = self._target(uri)
        driver = writing_driver(target)
        graph = Neo4jGraph(target, driver, GraphWriter(driver, "neo4j"))
        self._opened.append(graph.close)
        return graph

    def recreate(self) -> None:
        self.delete()
        self.create()

    def delete(self) -> None:
        """Delete the events topic."""
        admin = AdminClient(self.client)
        admin.delete_topics([self.topics.events], operation_timeout=patience(20))[self.topics.events].result()
        # Deletion is acknowledged before every trace of the topic is gone.
        eventually(lambda: self.topics.events not in admin.list_topics(timeout=patience(10)).topics)

    def share(self, stays: RecordSource, comes: RecordSource) -> None:
        """The group's own protocol does it."""

    def close(self) -> None:
        for close in reversed(self._opened):
            close()


def _headers_by_hand(letter: DeadLetter, *, group: str) -> dict[str, bytes | None]:
    """A letter's headers as docs/materializer.md lists them, so that the product's own rendering meets another one."""
    record = letter.record
    added = {
        "__connect.errors.topic": record.partition.topic,
        "__connect.errors.partition": str(record.partition.number),
        "__connect.errors.offset": str(record.offset),
        "__connect.errors.connector.name": group,
        "__connect.errors.task.id": "0",
        "__connect.errors.stage": {"DECODE": "VALUE_CONVERTER", "APPLY": "TASK_PUT"}[letter.stage.name],
        "__connect.errors.class.name": "headwater_consumers.materializer",
        "__connect.errors.exception.class.name": letter.error,
        "__connect.errors.exception.message": letter.message,
        "headwater.topic.id": record.partition.topic_id,
        "headwater.reason": letter.reason.name,
        "headwater.event.id": letter.event_id,
        "headwater.attempt": (dict(record.headers).get("headwater.attempt") or b"1").decode(),
    }
    return dict(record.headers) | {name: value.encode() for name, value in added.items()}


def gather(
    source: RecordSource, count: int, *, also: Sequence[RecordSource] = (), seconds: float = 30
) -> list[FetchedRecord]:
    """Poll until so many records have come; `also` are polled along, as members of a group must be."""
    records: list[FetchedRecord] = []

    def all_are_here() -> bool:
        for other in also:
            other.poll(max_records=1, max_bytes=1, timeout_seconds=0)
        records.extend(source.poll(max_records=1_000, max_bytes=1 << 24, timeout_seconds=0.05).records)
        return len(records) >= count

    eventually(all_are_here, seconds, every=0.001, expecting=f"{count} records")
    return records


def until(condition: Callable[[], bool], *sources: RecordSource, seconds: float = 30) -> None:
    """Poll until it holds; what the polls bring is dropped."""

    def holds() -> bool:
        if condition():
            return True
        for source in sources:
            source.poll(max_records=1_000, max_bytes=1 << 24, timeout_seconds=0.05)
        return False

    eventually(holds, seconds, every=0.001)


def patiently(ask: Callable[[], T], *, seconds: float = 20) -> T:
    """Ask until the brokers can answer: a partition that has just been made has no leader for a moment."""

    def answers() -> list[T]:
        try:
            return [ask()]
        except (BrokerUnavailableError, KafkaException):
            return []

    (answer,) = eventually(answers, seconds, every=0.1, expecting="the brokers can answer")
    return answer
