"""One process of each kind on a Kafka and disks of their own, for tests that break these."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

import httpx
from prometheus_client import CollectorRegistry

from headwater.stack import ports
from headwater.stack.jars import ensure_jars
from headwater.stack.kafka import KafkaBroker
from headwater_benchmarks.processes import PROGRAM, CommandProcess, ConsumerProcess, ServeProcess
from headwater_benchmarks.soak.links import FaultyLink
from headwater_producers.outbox import Outbox
from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_schemas.record import record_of
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs
from support.clock import Clock
from support.collector import collecting
from support.materializer.events import run_start
from support.openlineage import run_event, run_id
from support.outbox import metrics
from support.running import QUICK_JVM
from support.stack import StackUnderTest
from support.waiting import eventually, patience


class MovableBroker:
    """A broker whose clients know a name, which leads to where it is now: a link in place of DNS.

    Args:
        folder: its data.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._ports = folder, ports.choose(ports.ANY)
        self._link = FaultyLink(self._ports.kafka)
        self._broker: KafkaBroker | None = None
        self.name = f"127.0.0.1:{self._link.port}"
        self.start()

    def start(self) -> None:
        """Start it where it was, once it has ended."""
        self.stop()
        self._broker = KafkaBroker(
            self._folder,
            self._ports,
            ensure_jars("kafka"),
            java_options=("-Xmx256m", *QUICK_JVM.split()),
            delete=False,
        )
        self._broker.start()
        self._broker.wait(lambda: False)

    @property
    def ended(self) -> bool:
        """True if it has ended by itself."""
        return self._broker is not None and self._broker.process.ended()

    def stop(self) -> None:
        """End it."""
        if self._broker is not None:
            self._broker.process.stop()

    def move(self) -> None:
        """Start it with the same data at another address, to which the name leads from now on."""
        self._ports = replace(self._ports, kafka=ports.choose(ports.ANY).kafka)
        self._link.target = self._ports.kafka
        self.start()

    def close(self) -> None:
        """End it and the link."""
        self.stop()
        self._link.close()


class Installation:
    """`consume`, `serve` with the door for events, `forward` and the outbox of a job, on a Kafka. A context manager.

    Args:
        folder: folder of all data.
        stack: has the Neo4j.
        clock: clock of the commands, by default the machine's.
        variables: further variables of the commands.

    Attributes:
        broker: the Kafka.
        job: the outbox.
        consumer, server, forwarder: the commands; a test may put another in the place of one.
        collector: who gets the forwarder's documents.
    """

    def __init__(
        self,
        folder: Path,
        stack: StackUnderTest,
        clock: Clock | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._folder, self._ends, self._numbers = folder, contextlib.ExitStack(), itertools.count()
        folder.mkdir(exist_ok=True)
        self.broker = MovableBroker(folder / "kafka")
        self._ends.callback(self.broker.close)
        ensure_topics({"bootstrap.servers": self.broker.name}, topic_specs(partitions=2))
        self._program = clock.program if clock else PROGRAM
        self._kafka = {"HEADWATER_KAFKA_BOOTSTRAP_SERVERS": self.broker.name, **(clock.variables if clock else {})}
        self.settings = {
            **self._kafka,
            **variables,
            "HEADWATER_NEO4J_URI": stack.neo4j_uri,
            "HEADWATER_NEO4J_USER": stack.neo4j_user,
            "HEADWATER_NEO4J_PASSWORD": stack.neo4j_password,
        }
        self.collector = self._ends.enter_context(collecting())
        self.consumer, self.server, self.forwarder = self.consume(), self.serve(), self.forward()
        publisher = Publisher(
            PublisherSettings(bootstrap_servers=self.broker.name),
            TopicNames(),
            metrics=PublisherMetrics(CollectorRegistry()),
        )
        self.job = self._ends.enter_context(Outbox(folder / "outbox", publisher, metrics=metrics()))

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End everything that still runs."""
        self._ends.close()

    def consume(self) -> ConsumerProcess:
        """Start another consumer."""
        process = ConsumerProcess(self.settings, self._new("consume"), program=self._program)
        self._ends.callback(process.end)
        return process

    def serve(self) -> ServeProcess:
        """Start another server."""
        door = {"HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
        process = ServeProcess({**self.settings, **door}, self._new("serve"), program=self._program)
        self._ends.callback(process.end)
        return process

    def forward(self) -> CommandProcess:
        """Start another forwarder of the same group."""
        folder = self._new("forward")
        options = (f"--to={self.collector.url}", f"--refused={folder / 'refused.jsonl'}")
        process = CommandProcess(self._kafka, folder, "forward", "openlineage", *options, program=self._program)
        self._ends.callback(process.end)
        return process

    def _new(self, name: str) -> Path:
        folder = self._folder / f"{name}-{next(self._numbers)}"
        folder.mkdir()
        return folder

    def ask(self, path: str) -> httpx.Response:
        """Answer of the server."""
        return httpx.get(self.server.url() + path, trust_env=False, timeout=patience(60))

    def post(self, number: int) -> bool:
        """Post the start of a run; True if the server has taken it."""
        url = f"{self.server.url()}/api/v1/lineage"
        try:
            return httpx.post(url, json=run_event(number), trust_env=False, timeout=patience(60)).status_code == 201
        except httpx.TransportError:
            return False

    def put(self, number: int) -> None:
        """Have the job report the start of a run."""
        self.job.put(record_of(run_start(number)))

    def work(self, number: int) -> None:
        """Report two runs, by the job and over HTTP, and wait for what graph and collector get."""
        self.put(number)
        eventually(lambda: self.post(number), 90, every=0.5, expecting="the door takes events")
        self.arrived(number)

    def arrived(self, *numbers: int, by_door: bool = True) -> None:
        """Wait until runs that were reported are in the graph and at the collector."""
        for number in numbers:
            for run in (run_of(number), *([run_id(number)] if by_door else [])):
                eventually(lambda: self._is_answered(run), 90, every=0.5, expecting=f"the graph has {run}")  # noqa: B023
                eventually(lambda: self.is_delivered(run), 90, every=0.5, expecting=f"the collector has {run}")  # noqa: B023

    def _is_answered(self, run: str) -> bool:
        return self.ask(f"/api/v1/runs/{run}").status_code == 200

    def is_delivered(self, run: str) -> bool:
        """True if the collector has a document of the run."""
        return any(run.encode() in body for body in self.collector.bodies)


def run_of(number: int) -> str:
    """Id of the run that the job reports by this number."""
    run = run_start(number).run
    assert run is not None
    return run.run_id
