"""World: servers, a topic that is fed, a group of consumers; and whether the graph is what the events say."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from confluent_kafka.admin import AdminClient
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from headwater.errors import CheckFailedError, HeadwaterError
from headwater_benchmarks.soak import group
from headwater_benchmarks.soak.consumer import ConsumerProcess
from headwater_benchmarks.soak.feed import Feed
from headwater_benchmarks.soak.group import Group
from headwater_benchmarks.soak.process import PROGRAM
from headwater_benchmarks.soak.servers import Servers
from headwater_benchmarks.soak.size import Size
from headwater_benchmarks.soak.verdict import Verdict
from headwater_graph.dump import compare, dump
from headwater_graph.oracle import oracle
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs

DATABASE = "neo4j"
_WARM_UP_SECONDS = 2.0
# A dead consumer is noticed after the first, a stuck one after the second: shorter than in production, as is the soak.
_IMPATIENT = {"session.timeout.ms": 6_000, "max.poll.interval.ms": 10_000}


class World:
    """All of it. A context manager: `with World(1, Size(rate=40)) as world`. Faults may use it from several threads.

    Args:
        seed: of the events.
        size: how large it is.
        program: what Python runs as `headwater` for the group's own members.

    Attributes:
        servers: Kafka and Neo4j.
        group: how far the consumers have come.
        feed: of events.
        consumers: the group's members that should be running.
        driver: to the graph, past the link.
    """

    def __init__(self, seed: int, size: Size, program: Sequence[str] = PROGRAM) -> None:
        self._seed = seed
        self._program = program
        self._joined: list[ConsumerProcess] = []
        self._size = size
        self._open = ExitStack()
        self._numbers = itertools.count(1)
        self._lent: list[ConsumerProcess] = []
        self._lending = threading.Condition()
        self._earlier = (0, 0)
        self.topics = TopicNames("soak")
        self.consumers: list[ConsumerProcess] = []
        self.servers: Servers
        self.group: Group
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
        self.group = Group(self.client, self.topics, self._size.settle_seconds)
        self.create_topics()
        self.driver = self._open.enter_context(
            GraphDatabase.driver(
                self.servers.neo4j.uri,
                auth=(self.servers.neo4j_user, self.servers.neo4j_password),
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        )
        self.consumers = [self.join() for _ in range(self._size.consumers)]
        self.feed = Feed(self.client, self.topics.events, seed=self._seed, rate=self._size.rate)
        self._open.callback(self.feed.close)
        for consumer in self.consumers:
            self.await_ready(consumer)

    @property
    def client(self) -> dict[str, Any]:
        """Client configuration that reaches Kafka through the link."""
        return quiet({"bootstrap.servers": self.servers.bootstrap_servers})

    def create_topics(self) -> None:
        """Make those that are missing."""
        ensure_topics(self.client, topic_specs(self.topics, partitions=self._size.partitions))

    def recreate_topic(self) -> None:
        """Delete the events topic, with all on it, and create it again. Settle first."""
        figures = self.group.accounting()
        self._earlier = (self._earlier[0] + figures.acknowledged, self._earlier[1] + figures.dead_lettered)
        admin = AdminClient(self.client)
        admin.delete_topics([self.topics.events], operation_timeout=20)[self.topics.events].result()
        # Deletion is acknowledged before every trace of the topic is gone.
        self.group.until(lambda: self.topics.events not in admin.list_topics(timeout=10).topics, "deletion")
        self.create_topics()

    @property
    def processes(self) -> dict[str, int]:
        """Name ⇒ process id of every consumer that runs, whoever started it, in the order of their starts."""
        return {one.name: one.process.pid for one in list(self._joined) if one.runs}

    def join(self, *, program: Sequence[str] | None = None, **settings: str) -> ConsumerProcess:
        """One more member of the group, which the world ends but doesn't count among its own.

        Args:
            program: what Python runs as `headwater`; the members' own by default.
            settings: further ones of the materializer.
        """
        folder = self.folder / f"consumer-{next(self._numbers)}"
        folder.mkdir()
        chosen = {
            "kafka_bootstrap_servers": self.servers.bootstrap_servers,
            "kafka_client_properties": json.dumps({**_IMPATIENT, "client.id": folder.name}),
            "neo4j_uri": self.servers.neo4j_uri,
            "neo4j_user": self.servers.neo4j_user,
            "neo4j_password": self.servers.neo4j_password,
            "topic_prefix": "soak",
            "materializer_group": group.NAME,
            # A zombie's locks are gone, and a lost answer is given up, soon enough to recover within a minute.
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
        """A ready member of the group, for one fault alone; never the first, whose memory is watched."""
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
        """Wait until it has partitions and reaches both ends.

        Raises:
            HeadwaterError: it ended, or doesn't come to that.
        """
        consumer.until(consumer.ready, "readiness", seconds=self._size.settle_seconds)

    def hold(self, dice: random.Random, least: float, most: float) -> None:
        """Let a fault last for some seconds between these."""
        seconds = dice.uniform(least, most)
        time.sleep(least if self._size.brief else seconds)

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

        def ready() -> bool:
            return all(consumer.runs and consumer.ready() for consumer in self.consumers)

        self.group.until_committed(self.group.ends(), ready, self._described)
        return time.monotonic() - began

    def warm_up(self) -> None:
        """Have some events applied, so that no fault meets a database that has yet to plan every statement.

        Raises:
            HeadwaterError: it doesn't come to that.
        """
        self.feed.resume()
        time.sleep(_WARM_UP_SECONDS)
        self.verify()

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
            accounting=self.group.accounting(),
            comparison=compare(oracle(self.feed.expected, internal=True), dump(self.driver, DATABASE, internal=True)),
            earlier=self._earlier,
            bad=self.feed.bad,
            acknowledged=self.feed.acknowledged,
            seconds=time.monotonic() - began,
        )
        if verdict.faults:
            samples = "\n".join(f"{sample.expected}\n{sample.found}" for sample in verdict.comparison.samples[:5])
            raise CheckFailedError(f"Checks failed: {'; '.join(verdict.faults)}.\n{samples}")
        return verdict

    def _described(self) -> str:
        """State of all consumers, for whoever has to find out why."""
        lines = []
        for consumer in self.consumers:
            try:
                lines.append(consumer.get("/livez")[1].strip())
            except (OSError, HeadwaterError) as error:
                lines.append(f"/livez: {error}")
            lines.append(consumer.stderr)
        return "\n".join(lines)
