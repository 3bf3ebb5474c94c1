"""`bench capture`: contestants take turns with a block of micro-batches, then with a few batch writes; the report."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.console import console
from headwater.errors import HeadwaterError
from headwater.stack import ensure_jars, java_runtime
from headwater.stack.embedded import locked_version
from headwater.stack.ports import LOOPBACK
from headwater.stack.process import GuardedProcess
from headwater_benchmarks.capture import driver
from headwater_benchmarks.capture.driver import DriverConnection
from headwater_benchmarks.capture.figures import (
    HEADWATER,
    ONE_BY_ONE,
    OPENLINEAGE,
    WITHOUT,
    DriverMeasurements,
    goals,
    measurement,
)
from headwater_benchmarks.capture.sent import in_file, on_topic
from headwater_benchmarks.measuring import in_turns
from headwater_benchmarks.report import report
from headwater_benchmarks.servers import HEAP_MB, broker_up
from headwater_schemas.kafka.client import quiet

_CAPTURES = {WITHOUT: {}, HEADWATER: {}, ONE_BY_ONE: {"HEADWATER_COALESCE_MAX_BATCHES": "1"}, OPENLINEAGE: {}}
"""For each contestant: additional settings of Headwater's capture. `ONE_BY_ONE` sends an event per micro-batch."""
_PARTITIONS = 4
_START_SECONDS = 240.0
_NOT_INHERITED = ("SPARK_", "PYSPARK_", "HADOOP_", "HEADWATER_", "OPENLINEAGE_")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """Options of the capture benchmark.

    Attributes:
        rounds: number of counted rounds, of micro-batches and of writes.
        micro_batches: micro-batches of each contestant in each round.
        rows, columns: size of a batch job's output.
        writes: batch writes of each contestant in each round.
        plan_columns: columns of a last batch job with a large plan, which each contestant runs once.
        warm_up: number of uncounted rounds at the beginning: a new JVM takes ten times as long.
    """

    rounds: int = 5
    micro_batches: int = 10
    records: int = 200
    rows: int = 20_000
    columns: int = 300
    writes: int = 2
    plan_columns: int = 1_000
    warm_up: int = 2
    seed: int = 1


@dataclass(slots=True)
class CaptureContestant:
    """Contestant: a kind of capture, with its own driver. All contestants run the same jobs.

    Attributes:
        number: part of the names of the contestant's topics.
        folder: folder of the driver's checkpoint, output and log.
        connection: connection to the driver; None before the driver has connected.
        filled: number of records sent to the topic of the contestant's query.
    """

    number: int
    name: str
    folder: Path
    process: GuardedProcess
    connection: DriverConnection | None = None
    measured: DriverMeasurements = field(default_factory=DriverMeasurements)
    filled: int = 0

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        """Let the driver run a task; return its answer.

        Raises:
            HeadwaterError: the task failed, or the driver has ended.
        """
        assert self.connection is not None  # noqa: S101  the driver has connected
        return self.connection.ask(task, **arguments)

    def drain(self, producer: Producer, options: CaptureOptions, *, counts: bool) -> None:
        """Fill the topic with records for a block of micro-batches, and let the query process them."""
        count = options.micro_batches * options.records
        for number in range(self.filled, self.filled + count):
            value = made_up_record(number, options.seed)
            producer.produce(_source(self.number), value, partition=number % _PARTITIONS)
            producer.poll(0)
        producer.flush()
        self.filled += count
        answer = self.ask("drain_query")
        # Batch ids begin at 0. The first micro-batch reads no records, but is committed, and so it counts.
        self.measured.micro_batches = answer["batches"][-1]["batch"] + 1
        if counts:
            self.measured.triggers.append([batch["milliseconds"] for batch in answer["batches"]])
            self.measured.processor_seconds += answer["processor_seconds"]

    def write(self, options: CaptureOptions, *, counts: bool) -> None:
        """Let the driver do several batch writes."""
        size = {"rows": options.rows, "columns": options.columns, "times": options.writes}
        answer = self.ask("write", projections=2, **size)
        if counts:
            self.measured.writes.append(answer["seconds"])
            self.measured.write_processor_seconds += answer["processor_seconds"]


def bench_capture(options: CaptureOptions) -> dict[str, Any]:
    """Start a broker and the drivers, measure, and report.

    Raises:
        HeadwaterError: the broker or a driver failed.
    """
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder,
        broker_up() as broker,
        _drivers(Path(folder), broker) as contestants,
    ):
        _measure(contestants, broker, options)
    by_name = {each.name: each.measured for each in contestants}
    measurements = [measurement(name, each, by_name[WITHOUT]) for name, each in by_name.items()]
    return report(
        "capture",
        options=asdict(options),
        environment={
            "spark": version("pyspark"),
            "openlineage": locked_version("openlineage", "openlineage-spark_2.13"),
        },
        measurements=measurements,
        goals=goals(measurements),
    )


def _measure(contestants: list[CaptureContestant], broker: str, options: CaptureOptions) -> None:
    producer = Producer(quiet({"bootstrap.servers": broker, "acks": "all", "linger.ms": 5}))
    turns = (options.rounds + options.warm_up) * len(contestants)
    for one in contestants:
        topics = {"source": _source(one.number), "target": _target(one.number)}
        one.ask("start_query", broker=broker, records=options.records, **topics)
    with console.progress(lines=True) as progress:
        task = progress.add_task("micro-batches", total=turns)
        for number, one in in_turns(contestants, options.rounds, warm_up=options.warm_up):
            one.drain(producer, options, counts=number >= 0)
            progress.advance(task)
        for one in contestants:
            one.ask("stop_query")
            if one.name in {HEADWATER, ONE_BY_ONE}:
                one.measured.sent = on_topic(broker, _prefix(one.number))
            elif one.name == OPENLINEAGE:
                one.measured.sent = in_file(one.folder / "openlineage.jsonl")
        task = progress.add_task("batch writes", total=turns)
        for number, one in in_turns(contestants, options.rounds, warm_up=options.warm_up):
            one.write(options, counts=number >= 0)
            progress.advance(task)
        for one in progress.track(contestants, description="large plan"):
            answer = one.ask("write", rows=10, columns=options.plan_columns, projections=5, times=1)
            one.measured.plan_seconds = answer["flush_seconds"]
            one.measured.memory = one.ask("memory")


def made_up_record(number: int, seed: int) -> str:
    """Make a record: flat JSON of eight fields, equal for all contestants."""
    drawn = random.Random(seed * 1_000_003 + number)  # noqa: S311  no secret
    airports = ("EWR", "JFK", "LGA", "ORD", "ATL", "LAX", "SFO", "BOS")
    return json.dumps(
        {
            "id": number,
            "carrier": drawn.choice(("UA", "B6", "DL")),
            "origin": drawn.choice(airports),
            "target": drawn.choice(airports),
            "delay": round(drawn.gauss(10, 30), 1),
            "distance": drawn.randrange(100, 2_500),
            "at": f"2013-01-{drawn.randrange(1, 29):02}T{drawn.randrange(24):02}:00:00Z",
            "note": "x" * 40,
        }
    )


@contextlib.contextmanager
def _drivers(folder: Path, broker: str) -> Iterator[list[CaptureContestant]]:
    """Start all contestants, with their topics created and their drivers connected."""
    admin = AdminClient(quiet({"bootstrap.servers": broker}))
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server((LOOPBACK, 0)))
        contestants = []
        for number, name in enumerate(_CAPTURES):
            own = folder / str(number)
            own.mkdir()
            topics = [NewTopic(topic, _PARTITIONS, 1) for topic in (_source(number), _target(number))]
            for made in admin.create_topics(topics).values():
                made.result()
            kind = "headwater" if name == ONE_BY_ONE else name
            process = GuardedProcess(
                f"The Spark driver {name!r}",
                [sys.executable, driver.__file__, str(listening.getsockname()[1]), kind, str(own)],
                output=own / "driver.log",
                environment=_environment(name, number, own, broker, os.environ),
            )
            stack.callback(process.stop)
            contestants.append(CaptureContestant(number, name, own, process))
        _connect(listening, contestants, stack)
        yield contestants


def _connect(listening: socket.socket, contestants: list[CaptureContestant], stack: contextlib.ExitStack) -> None:
    """Wait until each driver has connected; a driver sends its folder when its session is ready."""
    listening.settimeout(1.0)
    deadline = time.monotonic() + _START_SECONDS
    while waiting := [one for one in contestants if one.connection is None]:
        with contextlib.suppress(TimeoutError):
            connection = DriverConnection(listening.accept()[0])
            stack.callback(connection.close)
            if (greeting := connection.receive()) is not None:
                [own] = [one for one in waiting if str(one.folder) == greeting["folder"]]
                own.connection = connection
        for one in waiting:
            if one.connection is None and (one.process.ended() or time.monotonic() > deadline):
                log = (one.folder / "driver.log").read_text(encoding="utf-8", errors="replace")
                raise HeadwaterError(f"{one.process.name} did not start:\n{log[-2_000:]}")


def _environment(name: str, number: int, folder: Path, broker: str, inherited: Mapping[str, str]) -> dict[str, str]:
    """Environment of the driver: Java, Spark's properties, capture's settings; those of the caller are left out."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(_NOT_INHERITED)}
    cache = {name: inherited[name] for name in ("HEADWATER_CACHE_DIR",) if name in inherited}
    return {
        **kept,
        **cache,
        **java_runtime().environment(),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": shlex.join([*_submit_options(name, folder), "pyspark-shell"]),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": broker,
        "HEADWATER_TOPIC_PREFIX": _prefix(number),
        "HEADWATER_OUTBOX_PATH": str(folder / "outbox"),
        **_CAPTURES[name],
    }


def _submit_options(name: str, folder: Path) -> list[str]:
    jars = ensure_jars("spark") + (ensure_jars("openlineage") if name == OPENLINEAGE else [])
    properties = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        # A long delay, so that the query hardly takes processor time while other contestants are measured.
        "spark.sql.streaming.pollingDelay": "250ms",
        "spark.sql.streaming.numRecentProgressUpdates": "100000",
    }
    if name == OPENLINEAGE:
        properties |= {
            "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
            "spark.openlineage.transport.type": "file",
            "spark.openlineage.transport.location": str(folder / "openlineage.jsonl"),
            "spark.openlineage.namespace": "bench",
        }
    options = ["--master", "local[2]", "--driver-memory", f"{HEAP_MB}m", "--jars", ",".join(map(str, jars))]
    return options + [part for name, value in properties.items() for part in ("--conf", f"{name}={value}")]


def _source(number: int) -> str:
    """Name of the topic that a contestant's query reads."""
    return f"bench.{number}.in"


def _target(number: int) -> str:
    return f"bench.{number}.out"


def _prefix(number: int) -> str:
    """Prefix of a contestant's lineage topics."""
    return f"bench{number}"
