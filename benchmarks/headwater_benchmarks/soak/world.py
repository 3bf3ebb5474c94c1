"""World: servers, a fed topic, a group of consumers, and the comparison of the graph with the events."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from headwater.errors import CheckFailedError, HeadwaterError
from headwater.stack.neo4j import USER
from headwater.stack.ports import LOOPBACK
from headwater_benchmarks.measuring import peak_mb
from headwater_benchmarks.processes import PROGRAM, ConsumerProcess
from headwater_benchmarks.soak.feed import AcknowledgedFeed
from headwater_benchmarks.soak.servers import BreakableServers
from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.materializer.accounting import Accounting, account
from headwater_graph.dump import Comparison, compare, dump
from headwater_graph.oracle import oracle
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs

_DATABASE = "neo4j"
_GROUP = "soak"
_WARM_UP_SECONDS = 2.0
_POLL_SECONDS = 0.2
_REQUEST_SECONDS = 10.0
_MEMORY_SECONDS = 1.0
_UNREACHABLE = (KafkaException, BrokerUnavailableError)
# Time until a dead consumer is noticed, and until a stuck consumer is noticed: both are shorter than in production.
_SHORT_TIMEOUTS = {"session.timeout.ms": 6_000, "max.poll.interval.ms": 10_000}


class World:
    """Servers, feed and consumers of a soak: `with World(1, rate=40) as world`. Faults in several threads can use it.

    Args:
        together: whether faults happen at the same time. Then there are more consumers, and a fault with a random
            duration lasts only as long as necessary.
        settle_seconds: maximum wait for a recovery.
        program: Python arguments that run `headwater` for the group's members.

    Attributes:
        consumers: members of the group that should be running.
        driver: driver of the graph, which doesn't use the link.
        peaks: peak resident memory in MB of each consumer so far, by name: the kernel's high watermark at the last
            reading, at most a second before the process ended.
    """

    def __init__(
        self,
        seed: int,
        *,
        rate: float,
        together: bool = False,
        settle_seconds: float = 240.0,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self._seed, self._rate, self._brief, self._settle_seconds = seed, rate, together, settle_seconds
        self._program = program
        # One partition for each possible consumer.
        self._members, self._partitions = (3, 12) if together else (2, 4)
        self._joined: list[ConsumerProcess] = []
        self._open = ExitStack()
        self._numbers = itertools.count(1)
        self._lent: list[ConsumerProcess] = []
        self._lending = threading.Condition()
        self._earlier = (0, 0)
        self._over = threading.Event()
        self.topics = TopicNames("soak")
        self.consumers: list[ConsumerProcess] = []
        self.peaks: dict[str, float] = {}
        self.servers: BreakableServers
        self.feed: AcknowledgedFeed
        self.driver: Driver
        self.folder: Path

    def __enter__(self) -> Self:
        """Start everything.

        Raises:
            HeadwaterError: a server or process doesn't start.
        """
        try:
            self._start()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything."""
        self._open.close()

    def _start(self) -> None:
        self.folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="headwater-soak-")))
        self.servers = BreakableServers(self.folder)
        self._open.callback(self.servers.close)
        self.servers.start()
        self._create_topics()
        self.driver = self._open.enter_context(
            GraphDatabase.driver(
                self.servers.neo4j.uri,
                auth=(USER, self.servers.neo4j_password),
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        )
        self.consumers = [self.join() for _ in range(self._members)]
        threading.Thread(target=self._watch_memory, name="memory", daemon=True).start()
        self._open.callback(self._over.set)
        self.feed = AcknowledgedFeed(self.client, self.topics.events, seed=self._seed, rate=self._rate)
        self._open.callback(self.feed.close)
        for consumer in self.consumers:
            self.await_ready(consumer)

    @property
    def client(self) -> dict[str, Any]:
        """Client configuration that reaches Kafka through the link."""
        return quiet({"bootstrap.servers": self.servers.kafka.bootstrap_servers})

    def _create_topics(self) -> None:
        ensure_topics(self.client, topic_specs(self.topics, partitions=self._partitions))

    def recreate_topic(self) -> None:
        """Delete the events topic with all records, and create it again. Call `recover` or `verify` first."""
        figures = account(self.client, self.topics, _GROUP)
        self._earlier = (self._earlier[0] + figures.acknowledged, self._earlier[1] + figures.dead_lettered)
        admin = AdminClient(self.client)
        admin.delete_topics([self.topics.events], operation_timeout=20)[self.topics.events].result()
        # Deletion is acknowledged before the topic is completely deleted.
        self._until(lambda: self.topics.events not in admin.list_topics(timeout=10).topics, "deletion")
        self._create_topics()

    def _watch_memory(self) -> None:
        while not self._over.wait(_MEMORY_SECONDS):
            for one in list(self._joined):
                if one.runs and (peak := peak_mb(one.process.pid)) is not None:
                    self.peaks[one.name] = peak

    def join(self, *, program: Sequence[str] | None = None, **settings: str) -> ConsumerProcess:
        """Start a further member of the group. The world ends it at its exit, but doesn't add it to `consumers`.

        Args:
            program: Python arguments that run `headwater`; by default those of the other members.
        """
        folder = self.folder / f"consumer-{next(self._numbers)}"
        folder.mkdir()
        chosen = {
            "kafka_bootstrap_servers": self.servers.kafka.bootstrap_servers,
            "kafka_client_properties": json.dumps({**_SHORT_TIMEOUTS, "client.id": folder.name}),
            "neo4j_uri": f"bolt://{LOOPBACK}:{self.servers.neo4j_link.port}",
            "neo4j_user": USER,
            "neo4j_password": self.servers.neo4j_password,
            "topic_prefix": "soak",
            "materializer_group": _GROUP,
            # Short, so that a zombie's locks and lost answers time out early enough for a recovery within a minute.
            "materializer_write_timeout_seconds": "15",
            "materializer_dead_letter_max_ratio": "1",
            **settings,
        }
        variables = {f"HEADWATER_{name.upper()}": value for name, value in chosen.items()}
        consumer = ConsumerProcess(variables, folder, program=program or self._program)
        self._joined.append(consumer)
        self._open.callback(consumer.end)
        return consumer

    @contextmanager
    def lent(self, dice: random.Random) -> Iterator[ConsumerProcess]:
        """Reserve a ready member of the group for one fault; never the first member, whose metrics faults read."""
        with self._lending:
            while not (free := [one for one in self.consumers[1:] if one not in self._lent]):
                self._lending.wait()
            chosen = dice.choice(free)
            self._lent.append(chosen)
        try:
            self.await_ready(chosen)
            yield chosen
        finally:
            with self._lending:
                self._lent.remove(chosen)
                self._lending.notify()

    def await_ready(self, consumer: ConsumerProcess) -> None:
        """Wait until a consumer has partitions and reaches both servers.

        Raises:
            HeadwaterError: the consumer ended, or didn't get ready in time.
        """
        consumer.until(consumer.ready, "readiness", seconds=self._settle_seconds)

    def hold(self, dice: random.Random, least: float, most: float) -> None:
        """Let a fault last for a random number of seconds from `least` to `most`; with `together`, for `least`."""
        seconds = dice.uniform(least, most)
        time.sleep(least if self._brief else seconds)

    def replace(self, gone: ConsumerProcess) -> None:
        """Start a new member in place of a lost one."""
        gone.end()
        self.consumers[self.consumers.index(gone)] = self.join()

    def recover(self) -> float:
        """Wait until the group has committed all records acknowledged by now, and every member is ready.

        Returns:
            Duration of the wait in seconds.

        Raises:
            HeadwaterError: the group didn't recover in time.
        """
        began = time.monotonic()
        ends = {one.partition.number: one.end for one in self._positions(self.topics.events)}
        reader = OffsetReader(self.client, group=_GROUP)

        def recovered() -> bool:
            positions = reader.positions(self.topics.events, timeout_seconds=_REQUEST_SECONDS)
            return committed_up_to(positions, ends) and all(one.runs and one.ready() for one in self.consumers)

        self._until(recovered, "recovery")
        return time.monotonic() - began

    def warm_up(self) -> None:
        """Let some events be applied, so that the database has planned all statements before the first fault.

        Raises:
            HeadwaterError: the events weren't applied in time.
        """
        self.feed.resume()
        time.sleep(_WARM_UP_SECONDS)
        self.verify()

    def verify(self) -> dict[str, int]:
        """Pause the feed, recover, and compare the graph with the acknowledged events.

        Returns:
            Number of acknowledged records, number of dead letters among them, and number of compared nodes and
            relationships.

        Raises:
            HeadwaterError: the group didn't recover in time.
            CheckFailedError: a condition is violated.
        """
        self.feed.pause()
        self.recover()
        comparison = compare(oracle(self.feed.expected, internal=True), dump(self.driver, _DATABASE, internal=True))
        found = discrepancies(
            account(self.client, self.topics, _GROUP), comparison, self._earlier, self.feed.acknowledged, self.feed.bad
        )
        if found:
            samples = "\n".join(f"{sample.expected}\n{sample.found}" for sample in comparison.samples[:5])
            raise CheckFailedError(f"Checks failed: {'; '.join(found)}.\n{samples}")
        return {
            "acknowledged": self.feed.acknowledged,
            "dead_lettered": self.feed.bad,
            "compared": comparison.equal,
        }

    def group_members(self) -> dict[str, int]:
        """Number of partitions of each member of the group, by client id, according to the brokers.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        found: dict[str, int] = {}

        def asked() -> bool:
            admin = AdminClient(self.client)
            described = admin.describe_consumer_groups([_GROUP], request_timeout=_REQUEST_SECONDS)[_GROUP].result()
            found.update({one.client_id: len(one.assignment.topic_partitions) for one in described.members})
            return True

        self._until(asked, "answer about the group's members")
        return found

    def topic_ids(self) -> set[str]:
        """Kafka's id of the events topic; empty for a topic without partitions.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        return {one.partition.topic_id for one in self._positions(self.topics.events)}

    def letters(self) -> int:
        """Number of all records that the dead-letter topic has received.

        Raises:
            HeadwaterError: the brokers don't answer.
        """
        return sum(one.end for one in self._positions(self.topics.dead_letters))

    def _positions(self, topic: str) -> list[PartitionOffsets]:
        found: list[PartitionOffsets] = []

        def asked() -> bool:
            reader = OffsetReader(self.client, group=_GROUP)
            found[:] = reader.positions(topic, timeout_seconds=_REQUEST_SECONDS)
            return True

        self._until(asked, f"positions of {topic}")
        return found

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until the condition is true, for example until a restarted broker answers."""
        deadline = time.monotonic() + self._settle_seconds
        while True:
            try:
                if condition():
                    return
            except _UNREACHABLE:
                pass
            if time.monotonic() > deadline:
                raise HeadwaterError(f"No {what} after {self._settle_seconds:.0f} s.\n{self._described()}")
            time.sleep(_POLL_SECONDS)

    def _described(self) -> str:
        """State of the group and of all consumers, for finding the cause of a failure."""
        lines = []
        try:
            reader = OffsetReader(self.client, group=_GROUP)
            positions = reader.positions(self.topics.events, timeout_seconds=_REQUEST_SECONDS)
            lines += [f"{one.partition} {one.partition.topic_id}: {one.committed} of {one.end}" for one in positions]
        except _UNREACHABLE as error:
            lines.append(f"positions: {error}")
        for consumer in self.consumers:
            try:
                lines.append(consumer.get("/livez")[1].strip())
            except (OSError, HeadwaterError) as error:
                lines.append(f"/livez: {error}")
            lines.append(consumer.stderr)
        return "\n".join(lines)


def committed_up_to(positions: Sequence[PartitionOffsets], ends: Mapping[int, int]) -> bool:
    """Return True if the group has committed these end offsets, by partition."""
    committed = {one.partition.number: one.committed or 0 for one in positions}
    return all(committed.get(number, 0) >= end for number, end in ends.items())


def discrepancies(
    accounting: Accounting, comparison: Comparison, earlier: tuple[int, int], acknowledged: int, bad: int
) -> list[str]:
    """List faults of offsets, dead letters and the graph.

    Args:
        comparison: comparison of the graph with the acknowledged events.
        earlier: numbers of acknowledged and dead-lettered records on deleted incarnations of the topic.
        acknowledged: number of records that the brokers acknowledged.
        bad: expected number of dead letters.
    """
    given, dead = accounting.acknowledged + earlier[0], accounting.dead_lettered + earlier[1]
    missing, extra, changed = comparison.missing, comparison.extra, comparison.changed
    checks = (
        (not accounting.pending, f"{accounting.pending} events pending"),
        (not accounting.expired, f"{accounting.expired} events expired"),
        (given == acknowledged, f"{acknowledged} records acknowledged, {given} on the topic"),
        (dead == bad, f"{dead} dead letters, {bad} bad records"),
        (comparison.same, f"graph: {missing} missing, {extra} too many, {changed} changed"),
    )
    return [what for holds, what in checks if not holds]
