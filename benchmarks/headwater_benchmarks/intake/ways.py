"""One turn of each way to a graph: processes are started, warmed up, and measured from the first event to the last."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

from headwater.errors import HeadwaterError
from headwater_benchmarks.ingest.headwater import Place
from headwater_benchmarks.ingest.servers import Database
from headwater_benchmarks.ingest.topic import Topics
from headwater_benchmarks.ingest.turn import server_seconds
from headwater_benchmarks.intake.consumer import APPLIED_FILE
from headwater_benchmarks.intake.documents import Material, Sent
from headwater_benchmarks.intake.posting import Posted, post
from headwater_benchmarks.intake.rentgen import Rentgen
from headwater_benchmarks.intake.serving import ServeProcess, serving
from headwater_benchmarks.soak.consumer import ConsumerProcess
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames

if TYPE_CHECKING:
    from confluent_kafka import Producer

_PROGRAM = ("-m", "headwater_benchmarks.intake.consumer")
_APPLIED = "applied"
_SETTLE_SECONDS = 600.0
_FLUSH_SECONDS = 120.0


@dataclass(slots=True)
class Turn:
    """One turn.

    Attributes:
        events: runs' events that were sent.
        seconds: from the first of them to the last commit.
        accepted_seconds: to the last answer; None where nothing is posted.
        processor: seconds of processor time by process; without those that can't be seen.
        latencies_ms: from each POST to its commit.
        bytes: that the database grew by; None where that isn't measured.
    """

    events: int
    seconds: float = 0.0
    accepted_seconds: float | None = None
    processor: dict[str, float] = field(default_factory=dict)
    latencies_ms: list[float] = field(default_factory=list)
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """Runs turns on one broker and one database, which the caller empties.

    Attributes:
        broker: bootstrap servers.
        database: the graph.
        partitions: of each topic.
    """

    broker: str
    database: Database
    partitions: int

    def posted(
        self, name: str, warm_up: Material, material: Material, *, batch: int = 1, rate: float | None = None
    ) -> Turn:
        """OpenLineage events over HTTP.

        Args:
            name: prefix of the turn's topics.
            warm_up: what comes before.
            material: what is measured.
            batch: events in a request.
            rate: events per second; None: as fast as they are answered.

        Raises:
            HeadwaterError: a process failed, or an event didn't get to the graph.
        """
        place = self._place(name)
        variables = {**place.variables(), "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
        with serving(variables) as server, self._consuming(place) as consumer:
            post(server.url(), warm_up.documents, batch=batch)
            _applied(consumer, warm_up.events)
            watch = _Watch(self.database, server=server.process.pid, consumer=consumer.process.pid)
            did = post(server.url(), material.documents, batch=batch, rate=rate)
            _applied(consumer, warm_up.events + material.events)
            turn = Turn(len(material.documents), accepted_seconds=did.seconds, processor=watch.used())
            _stopped(server)
            committed = _committed(consumer, material.documents)
        turn.seconds = (max(committed.values()) - min(did.began_ms.values())) / 1_000
        turn.latencies_ms = [_late(each, did, committed) for each in material.documents]
        return turn

    def own(self, name: str, warm_up: Material, material: Material) -> Turn:
        """Headwater's own events of the same runs, published as its capture does.

        Raises:
            HeadwaterError: the consumer failed.
        """
        place = self._place(name)
        producer = Topics(self.broker, self.partitions).producer()
        topic = TopicNames(name).events
        with self._consuming(place) as consumer:
            _publish(producer, topic, _records(warm_up.own))
            _applied(consumer, len(warm_up.own))
            records = _records(material.own)
            watch = _Watch(self.database, consumer=consumer.process.pid)
            _publish(producer, topic, records)
            _applied(consumer, len(warm_up.own) + len(material.own))
            turn = Turn(len(material.documents), seconds=watch.seconds(), processor=watch.used())
            _stopped(consumer)
        return turn

    def bridged(self, name: str, warm_up: Material, material: Material) -> Turn:
        """OpenLineage events from a Kafka topic of them.

        Raises:
            HeadwaterError: the consumer failed.
        """
        place = self._place(name)
        topic = self.openlineage_topic(name)
        producer = Topics(self.broker, self.partitions).producer()
        with self._consuming(place, openlineage_topic=topic) as consumer:
            _publish(producer, topic, _documents(warm_up.documents))
            _applied(consumer, warm_up.events)
            watch = _Watch(self.database, consumer=consumer.process.pid)
            _publish(producer, topic, _documents(material.documents))
            _applied(consumer, warm_up.events + material.events)
            turn = Turn(len(material.documents), seconds=watch.seconds(), processor=watch.used())
            _stopped(consumer)
        return turn

    def rentgen(self, name: str, rentgen: Rentgen, warm_up: Material, material: Material) -> Turn:
        """The same from a topic to Data.Rentgen's tables.

        Raises:
            HeadwaterError: its consumer failed, or it has other runs.
        """
        topic = self.openlineage_topic(name)
        database = name.replace(".", "_").replace("-", "_").lower()
        producer = Topics(self.broker, self.partitions).producer()
        with rentgen.consuming(self.broker, topic, database) as consumer:
            _publish(producer, topic, _documents(warm_up.documents))
            consumer.until(lambda: consumer.saved() == len(warm_up.documents), "saved events")
            before = rentgen.bytes_on_disk(database)
            began, used = time.monotonic(), consumer.processor_seconds()
            server = rentgen.server.processor_seconds()
            _publish(producer, topic, _documents(material.documents))
            count = len(warm_up.documents) + len(material.documents)
            consumer.until(lambda: consumer.saved() == count, "saved events", seconds=_SETTLE_SECONDS)
            turn = Turn(len(material.documents), seconds=time.monotonic() - began)
            turn.processor["consumer"] = consumer.processor_seconds() - used
            turn.processor["database"] = rentgen.server.processor_seconds() - server
            turn.bytes = rentgen.bytes_on_disk(database) - before
        expected = len({each.run for each in (*warm_up.documents, *material.documents)})
        if (runs := rentgen.runs(database)) != expected:
            raise HeadwaterError(f"Data.Rentgen has {runs} runs, not {expected}.")
        return turn

    def openlineage_topic(self, name: str) -> str:
        """A topic of OpenLineage events, created."""
        topic = f"{name}.openlineage"
        admin = AdminClient(quiet({"bootstrap.servers": self.broker}))
        admin.create_topics([NewTopic(topic, self.partitions, 1)])[topic].result(_FLUSH_SECONDS)
        return topic

    def _place(self, name: str) -> Place:
        Topics(self.broker, self.partitions).create(name)
        return Place(self.broker, name, name, self.database)

    @contextlib.contextmanager
    def _consuming(self, place: Place, *, openlineage_topic: str | None = None) -> Iterator[ConsumerProcess]:
        variables = place.variables()
        if openlineage_topic is not None:
            variables["HEADWATER_MATERIALIZER_OPENLINEAGE_TOPIC"] = openlineage_topic
        with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name:
            folder = Path(name)
            variables[APPLIED_FILE] = str(folder / _APPLIED)
            process = ConsumerProcess(variables, folder, program=_PROGRAM)
            try:
                process.until(process.ready, "readiness", seconds=_SETTLE_SECONDS)
                yield process
            finally:
                process.end()


class _Watch:
    """Time and processor time from its making on."""

    def __init__(self, database: Database, **processes: int) -> None:
        import psutil

        self._database = database
        self._processes = {name: psutil.Process(pid) for name, pid in processes.items()}
        self._before = self._now()
        self._began = time.monotonic()

    def seconds(self) -> float:
        """That have passed."""
        return time.monotonic() - self._began

    def used(self) -> dict[str, float]:
        """Processor time by process."""
        return {name: seconds - self._before[name] for name, seconds in self._now().items()}

    def _now(self) -> dict[str, float]:
        used = {}
        for name, process in self._processes.items():
            times = process.cpu_times()
            used[name] = times.user + times.system
        server = server_seconds(self._database)
        return used if server is None else {**used, "database": server}


Records = Sequence[tuple[bytes, bytes]]


def _records(events: Sequence[LineageEvent]) -> Records:
    return [(encode(event), record_key(event)) for event in events]


def _documents(documents: Sequence[Sent]) -> Records:
    return [(each.data, each.run.encode()) for each in documents]


def _publish(producer: Producer, topic: str, records: Records) -> None:
    for value, key in records:
        while True:
            try:
                producer.produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    if producer.flush(_FLUSH_SECONDS):
        raise HeadwaterError("Kafka doesn't acknowledge the events.")


def _applied(consumer: ConsumerProcess, count: int) -> None:
    reached: Callable[[], bool] = lambda: int((consumer.folder / _APPLIED).read_text()) >= count  # noqa: E731  a condition
    consumer.until(reached, f"{count} events", seconds=_SETTLE_SECONDS)


def _stopped(process: ServeProcess | ConsumerProcess) -> None:
    if (status := process.stop()) != 0:
        raise HeadwaterError(f"A process ended with {status}. Its stderr: {process.stderr}")


def _committed(consumer: ConsumerProcess, documents: Sequence[Sent]) -> dict[str, float]:
    """When each document's RUN event was committed, in ms of Unix time."""
    _stopped(consumer)
    committed: dict[str, float] = consumer.document["committed_ms"]
    missing = [each.run_event for each in documents if each.run_event not in committed]
    if missing:
        raise HeadwaterError(f"{len(missing)} events of {len(documents)} aren't in the graph: {missing[0]}, …")
    return {each.run_event: committed[each.run_event] for each in documents}


def _late(document: Sent, posted: Posted, committed: dict[str, float]) -> float:
    return committed[document.run_event] - posted.began_ms[document.run_event]
