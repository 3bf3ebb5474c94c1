"""World: servers, a topic that is fed, a group of consumers; and whether the graph is what the events say."""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from headwater.errors import CheckFailedError, HeadwaterError
from headwater.soak.consumer import ConsumerProcess
from headwater.soak.feed import Feed
from headwater.soak.process import PROGRAM
from headwater.soak.servers import Servers
from headwater_consumers.graph.compare import Comparison, compare
from headwater_consumers.graph.dump import dump
from headwater_consumers.graph.oracle import oracle
from headwater_consumers.materializer.accounting import Accounting, account
from headwater_consumers.materializer.errors import BrokerUnavailableError
from headwater_consumers.materializer.kafka_config import quiet
from headwater_consumers.materializer.offsets import OffsetReader
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

PARTITIONS = 4
DATABASE = "neo4j"
_GROUP = "soak"
_LOOK_SECONDS = 0.2
# A dead consumer is noticed after the first, a stuck one after the second: shorter than in production, as is the soak.
_IMPATIENT = {"session.timeout.ms": 6_000, "max.poll.interval.ms": 10_000}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison found.

    Attributes:
        accounting: of the topic as it is.
        comparison: of the graph with the ledger.
        earlier: acknowledged and dead-lettered on incarnations of the topic that are gone.
        bad: dead letters that there should be.
        seconds: that the check took.
    """

    accounting: Accounting
    comparison: Comparison
    earlier: tuple[int, int]
    bad: int
    acknowledged: int
    seconds: float

    @property
    def faults(self) -> list[str]:
        """What isn't as it should be."""
        given, dead = (
            self.accounting.acknowledged + self.earlier[0],
            self.accounting.dead_lettered + self.earlier[1],
        )
        found = self.comparison
        return [
            fault
            for fault, holds in (
                (f"{self.accounting.pending} events pending", not self.accounting.pending),
                (f"{self.acknowledged} records acknowledged, {given} on the topic", given == self.acknowledged),
                (f"{dead} dead letters, {self.bad} bad records", dead == self.bad),
                (f"graph: {found.missing} missing, {found.extra} too many, {found.changed} changed", found.same),
            )
            if not holds
        ]


class World:
    """All of it. A context manager: `with World(seed=1, rate=40) as world`.

    Args:
        seed: of the events.
        rate: of them, per second.
        consumers: how many members the group has.
        settle_seconds: how long to wait for a recovery.

    Attributes:
        servers: Kafka and Neo4j.
        feed: of events.
        consumers: the group's members that should be running.
        driver: to the graph, past the link.
    """

    def __init__(self, *, seed: int, rate: float, consumers: int = 2, settle_seconds: float = 240.0) -> None:
        self._seed = seed
        self._rate = rate
        self._members = consumers
        self._settle_seconds = settle_seconds
        self._open = ExitStack()
        self._folders = 0
        self._earlier = (0, 0)
        self.topics = TopicNames("soak")
        self.consumers: list[ConsumerProcess] = []
        self.servers: Servers
        self.feed: Feed
        self.driver: Driver
        self.folder: Path

    def __enter__(self) -> Self:
        """Start everything.

        Raises:
            HeadwaterError: something doesn't come up.
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
        self.servers = Servers(self.folder)
        self._open.callback(self.servers.close)
        self.servers.start()
        self.create_topics()
        self.driver = self._open.enter_context(
            GraphDatabase.driver(
                self.servers.neo4j.uri,
                auth=(self.servers.neo4j_user, self.servers.neo4j_password),
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        )
        self.consumers = [self.join() for _ in range(self._members)]
        self.feed = Feed(self.client, self.topics.events, seed=self._seed, rate=self._rate)
        self._open.callback(self.feed.close)
        for consumer in self.consumers:
            consumer.until(consumer.ready, "readiness")

    @property
    def client(self) -> dict[str, Any]:
        """How to reach Kafka, through the link."""
        return quiet({"bootstrap.servers": self.servers.bootstrap_servers})

    def create_topics(self) -> None:
        """Make those that are missing."""
        ensure_topics(self.client, topic_specs(self.topics, partitions=PARTITIONS))

    def recreate_topic(self) -> None:
        """Delete the events topic, with all on it, and create it again. Settle first."""
        figures = self._accounting()
        self._earlier = (self._earlier[0] + figures.acknowledged, self._earlier[1] + figures.dead_lettered)
        admin = AdminClient(self.client)
        admin.delete_topics([self.topics.events], operation_timeout=20)[self.topics.events].result()
        # Deletion is acknowledged before every trace of the topic is gone.
        self._until(lambda: self.topics.events not in admin.list_topics(timeout=10).topics, "deletion", 30)
        self.create_topics()

    def join(self, *, program: Sequence[str] = PROGRAM, **settings: str) -> ConsumerProcess:
        """One more member of the group, which the world ends but doesn't count among its own.

        Args:
            program: what Python runs as `headwater`.
            settings: further ones of the materializer.
        """
        self._folders += 1
        folder = self.folder / f"consumer-{self._folders}"
        folder.mkdir()
        chosen = {
            "kafka_bootstrap_servers": self.servers.bootstrap_servers,
            "kafka_client_properties": json.dumps(_IMPATIENT),
            "neo4j_uri": self.servers.neo4j_uri,
            "neo4j_user": self.servers.neo4j_user,
            "neo4j_password": self.servers.neo4j_password,
            "topic_prefix": "soak",
            "materializer_group": _GROUP,
            # A zombie's locks are gone, and a lost answer is given up, soon enough to recover within a minute.
            "materializer_write_timeout_seconds": "10",
            "materializer_dead_letter_max_ratio": "1",
            **settings,
        }
        variables = {f"HEADWATER_{name.upper()}": value for name, value in chosen.items()}
        consumer = ConsumerProcess(variables, folder, program=program)
        self._open.callback(consumer.end)
        return consumer

    def replace(self, gone: ConsumerProcess) -> None:
        """A new member in the place of one that is gone."""
        gone.end()
        self.consumers[self.consumers.index(gone)] = self.join()

    def recover(self) -> float:
        """Wait until all that was acknowledged by now is committed by the group and every member is ready.

        Returns:
            How many seconds that took.

        Raises:
            HeadwaterError: it doesn't come to that.
        """
        began = time.monotonic()
        ends = self._ends()

        def recovered() -> bool:
            committed = {position.partition.number: position.committed or 0 for position in self._positions()}
            return all(committed.get(number, 0) >= end for number, end in ends.items()) and all(
                consumer.runs and consumer.ready() for consumer in self.consumers
            )

        self._until(recovered, "recovery", self._settle_seconds)
        return time.monotonic() - began

    def verify(self) -> Verdict:
        """Pause, settle, and compare the graph with the ledger.

        Raises:
            HeadwaterError: nothing settles.
            CheckFailedError: something is not so.
        """
        began = time.monotonic()
        self.feed.pause()
        self.recover()
        verdict = Verdict(
            accounting=self._accounting(),
            comparison=compare(oracle(self.feed.expected), dump(self.driver, DATABASE)),
            earlier=self._earlier,
            bad=self.feed.bad,
            acknowledged=self.feed.acknowledged,
            seconds=time.monotonic() - began,
        )
        if verdict.faults:
            samples = "\n".join(f"{sample.expected}\n{sample.found}" for sample in verdict.comparison.samples[:5])
            raise CheckFailedError(f"Not so: {'; '.join(verdict.faults)}.\n{samples}")
        return verdict

    def _accounting(self) -> Accounting:
        return account(self.client, self.topics, _GROUP)

    def _positions(self) -> Any:
        return OffsetReader(self.client, group=_GROUP).positions(self.topics.events, timeout_seconds=10)

    def _ends(self) -> dict[int, int]:
        found: dict[int, int] = {}

        def asked() -> bool:
            found.update({position.partition.number: position.end for position in self._positions()})
            return True

        self._until(asked, "the topic's ends", self._settle_seconds)
        return found

    def _until(self, condition: Callable[[], bool], what: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                if condition():
                    return
            except (KafkaException, BrokerUnavailableError):
                pass  # a broker that comes back needs a moment
            if time.monotonic() > deadline:
                raise HeadwaterError(f"No {what} after {seconds:.0f} s.\n{self._described()}")
            time.sleep(_LOOK_SECONDS)

    def _described(self) -> str:
        """How things stand, for whoever has to find out why."""
        try:
            lines = [f"{p.partition} {p.partition.topic_id}: {p.committed} of {p.end}" for p in self._positions()]
        except (KafkaException, BrokerUnavailableError) as error:
            lines = [f"positions: {error}"]
        for consumer in self.consumers:
            try:
                lines.append(consumer.get("/livez")[1].strip())
            except (OSError, HeadwaterError) as error:
                lines.append(f"/livez: {error}")
            lines.append(consumer.said)
        return "\n".join(lines)
