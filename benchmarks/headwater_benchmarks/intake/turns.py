"""One turn of each way: processes are started, warmed up, and measured from the first event to the last commit."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.errors import HeadwaterError
from headwater_benchmarks.ingest.headwater import PROGRAM, Place
from headwater_benchmarks.ingest.servers import Database
from headwater_benchmarks.ingest.topic import Topics
from headwater_benchmarks.intake.documents import Sent, total
from headwater_benchmarks.intake.posting import post
from headwater_benchmarks.intake.rentgen import Rentgen
from headwater_benchmarks.intake.serving import serving
from headwater_benchmarks.memory import processor_seconds_of
from headwater_benchmarks.soak.consumer import ConsumerProcess
from headwater_benchmarks.soak.process import CommandProcess
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames

_SETTLE_SECONDS = 600.0
_REQUEST_SECONDS = 120.0


@dataclass(slots=True)
class Turn:
    """One turn.

    Attributes:
        events: documents that were sent.
        seconds: from the first of them to the last commit.
        processor: seconds of processor time by process; without those that can't be seen.
        accepted_seconds: to the last answer; None where nothing is posted.
    """

    events: int
    seconds: float
    processor: dict[str, float] = field(default_factory=dict)
    accepted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Turns:
    """Runs turns on one broker and one database, which the caller empties.

    Attributes:
        broker: bootstrap servers.
        database: the graph.
        partitions: of each topic.
        before: documents that are sent first, and don't count.
        documents: those that do.
    """

    broker: str
    database: Database
    partitions: int
    before: Sequence[Sent]
    documents: Sequence[Sent]

    def http(self, name: str, *, batch: int) -> Turn:
        """Over HTTP.

        Args:
            name: prefix of the turn's topics.
            batch: documents in a request.

        Raises:
            HeadwaterError: a process failed, or an event didn't get to the graph.
        """
        place = self._place(name)
        variables = {**place.variables(), "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
        with serving(variables) as server, self._consuming(place) as (consumer, stored):
            post(server.url(), self.before, batch=batch)
            stored(total(self.before))
            watch = self._watch(server=server.process.pid, consumer=consumer.process.pid)
            accepted = post(server.url(), self.documents, batch=batch)
            stored(total(self.before) + total(self.documents))
            turn = Turn(len(self.documents), *watch(), accepted)
            _stop(server)
            _stop(consumer)
        return turn

    def topic(self, name: str) -> Turn:
        """From a Kafka topic of OpenLineage events.

        Raises:
            HeadwaterError: the consumer failed.
        """
        place, topic = self._place(name), self._openlineage_topic(name)
        producer = Topics(self.broker, self.partitions).producer()
        with self._consuming(place, {"HEADWATER_MATERIALIZER_OPENLINEAGE_TOPIC": topic}) as (consumer, stored):
            _publish(producer, topic, self.before)
            stored(total(self.before))
            watch = self._watch(consumer=consumer.process.pid)
            _publish(producer, topic, self.documents)
            stored(total(self.before) + total(self.documents))
            turn = Turn(len(self.documents), *watch())
            _stop(consumer)
        return turn

    def rentgen(self, name: str, rentgen: Rentgen) -> Turn:
        """Measure Data.Rentgen from a topic to its tables.

        Raises:
            HeadwaterError: its consumer failed, or it has other runs.
        """
        topic = self._openlineage_topic(name)
        database = name.replace(".", "_").replace("-", "_").lower()
        producer = Topics(self.broker, self.partitions).producer()
        with rentgen.consuming(self.broker, topic, database) as consumer:
            _publish(producer, topic, self.before)
            consumer.until(lambda: consumer.saved() == len(self.before), "saved events")
            began, used, server = time.monotonic(), consumer.processor_seconds(), rentgen.server.processor_seconds()
            _publish(producer, topic, self.documents)
            count = len(self.before) + len(self.documents)
            consumer.until(lambda: consumer.saved() == count, "saved events", seconds=_SETTLE_SECONDS)
            turn = Turn(len(self.documents), time.monotonic() - began)
            turn.processor["consumer"] = consumer.processor_seconds() - used
            turn.processor["database"] = rentgen.server.processor_seconds() - server
        expected = len({each.run for each in (*self.before, *self.documents)})
        if (runs := rentgen.runs(database)) != expected:
            raise HeadwaterError(f"Data.Rentgen has {runs} runs, not {expected}.")
        return turn

    def _openlineage_topic(self, name: str) -> str:
        topic = f"{name}.openlineage"
        admin = AdminClient(quiet({"bootstrap.servers": self.broker}))
        admin.create_topics([NewTopic(topic, self.partitions, 1)])[topic].result(_REQUEST_SECONDS)
        return topic

    def _place(self, name: str) -> Place:
        Topics(self.broker, self.partitions).create(name)
        return Place(self.broker, name, name, self.database)

    @contextlib.contextmanager
    def _consuming(
        self, place: Place, variables: Mapping[str, str] | None = None
    ) -> Iterator[tuple[ConsumerProcess, Callable[[int], None]]]:
        """`headwater consume`, and what waits until it has committed so many events."""
        with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
            consumer = ConsumerProcess({**place.variables(), **(variables or {})}, Path(folder), program=PROGRAM)
            reader = OffsetReader(quiet({"bootstrap.servers": self.broker}), group=place.group)
            topic = TopicNames(place.prefix).events
            partitions = [TopicPartition(topic, number) for number in range(self.partitions)]

            def committed() -> int:
                found = reader.committed(partitions, timeout_seconds=_REQUEST_SECONDS)
                return sum(each.offset for each in found.values())

            def stored(count: int) -> None:
                consumer.until(lambda: committed() >= count, f"{count} events", seconds=_SETTLE_SECONDS)

            try:
                consumer.until(consumer.ready, "readiness", seconds=_SETTLE_SECONDS)
                yield consumer, stored
            finally:
                consumer.end()

    def _watch(self, **pids: int) -> Callable[[], tuple[float, dict[str, float]]]:
        """Time and processor time by process, from this call on, the database's included."""
        if self.database.pid is not None:
            pids["database"] = self.database.pid
        before = {name: processor_seconds_of(pid) for name, pid in pids.items()}
        began = time.monotonic()

        def passed() -> tuple[float, dict[str, float]]:
            seconds = time.monotonic() - began
            return seconds, {name: processor_seconds_of(pid) - before[name] for name, pid in pids.items()}

        return passed


def _publish(producer: Producer, topic: str, documents: Sequence[Sent]) -> None:
    for each in documents:
        while True:
            try:
                producer.produce(topic, each.data, each.run.encode())
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    if producer.flush(_REQUEST_SECONDS):
        raise HeadwaterError("Kafka doesn't acknowledge the events.")


def _stop(process: CommandProcess) -> None:
    if (status := process.stop(seconds=_SETTLE_SECONDS)) != 0:
        raise HeadwaterError(f"A process ended with {status}. Its stderr: {process.stderr}")
