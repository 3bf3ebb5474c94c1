"""A driver with capture that is killed in the midst of its batch writes, and started again; and the graph of both."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from confluent_kafka import KafkaException

from headwater.stack import ensure_jars, java_runtime
from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import LineageEvent, RunEventType
from support.running import QUICK_JVM, events_on
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

SECONDS = 240

_BEGIN = """
import os, sys, threading, time
from pathlib import Path
from pyspark.sql import SparkSession, functions as F
from headwater_producers.spark import attach

folder = Path(sys.argv[1])
spark = SparkSession.builder.appName("daily").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
capture = attach(
    spark, job_name="daily", job_campaign="backfill 2013", capture_commit_marks=True, capture_heartbeat_seconds=1,
)

def held(gate):
    path = str(folder / gate)
    def wait(value):
        import os, time
        open(f"{path}-held-by-{os.getpid()}", "w").close()
        while not os.path.exists(path):
            time.sleep(0.05)
        return value
    return F.udf(wait, "long")("id")
"""

_FLIGHT = """
from headwater_producers.spark.driver.dispatch import Dispatch

for write in in_flight:
    threading.Thread(target=write, daemon=True).start()

# From then on the worker gets no further: what is committed isn't reported any more.
while not (folder / "busy").exists():
    time.sleep(0.05)
Dispatch._ended = lambda self, signal: time.sleep(600)
(folder / "is-busy").touch()
time.sleep(600)
"""

_END = """
assert capture.flush(600)
spark.stop()
"""


@dataclass(frozen=True)
class Left:
    """The writes of a driver that is killed, and of its successor.

    Attributes:
        format: whose jars there are.
        conf: of Spark; `{folder}` in it is the folder that both work in.
        begin: of both scripts, after `spark`, `capture`, `folder` and `held(gate)`, which holds a write's only task.
        first: the first script; its list `in_flight` has the writes that are begun last, each in a thread.
        second: the script of the successor.
        jobs: of the writes in flight.
        gate: of the write that commits just before the kill.
        committed: the file that is there as soon as it has.
    """

    format: Literal["delta", "iceberg"]
    conf: Mapping[str, str]
    begin: str
    first: str
    second: str
    jobs: frozenset[str]
    gate: str
    committed: str


@dataclass(frozen=True)
class History:
    """Events on the topic while the first driver hung, and at the end of the second; and the folder they worked in."""

    folder: Path
    hanging: list[LineageEvent]
    events: list[LineageEvent]


def killed_and_restarted(left: Left, stack: StackUnderTest, folder: Path) -> History:
    """Runs the first script until its writes are in flight, has one commit, and kills it; then runs the second."""
    prefix = f"left{uuid.uuid4().hex[:8]}"
    first = _driver(left, _BEGIN + left.begin + left.first + _FLIGHT, stack, folder, prefix)

    def published() -> list[LineageEvent]:
        try:
            return events_on(stack.bootstrap_servers, f"{prefix}.events")
        except (KeyError, KafkaException):
            # There is no topic yet, or it is being made.
            return []

    try:

        def published_in_flight() -> list[LineageEvent]:
            """Events on the topic, once every write is held in its task and has a heartbeat there; until then none."""
            assert first.poll() is None, (folder / "log").read_text()[-4_000:]
            if len(list(folder.glob("*-held-by-*"))) < len(left.jobs):
                return []
            events = published()
            return events if _beating(events) >= {"daily", *left.jobs} else []

        hanging = eventually(published_in_flight, SECONDS, every=0.5, expecting="a heartbeat of every write in flight")
        (folder / "busy").touch()
        eventually((folder / "is-busy").exists, 60, expecting="capture is held")
        (folder / left.gate).touch()
        eventually((folder / left.committed).exists, 60, expecting=left.committed)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait(patience(30))
    second = _driver(left, _BEGIN + left.begin + left.second + _END, stack, folder, prefix)
    try:
        assert second.wait(patience(SECONDS)) == 0, (folder / "log").read_text()[-4_000:]
    finally:
        if second.poll() is None:
            os.killpg(second.pid, signal.SIGKILL)
            second.wait(patience(30))
    return History(folder, hanging, published())


def _driver(left: Left, script: str, stack: StackUnderTest, folder: Path, prefix: str) -> subprocess.Popen[bytes]:
    path = folder / "daily.py"
    path.write_text(script, encoding="utf-8")
    jars = ",".join(str(jar) for jar in ensure_jars(left.format))
    conf = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        **{name: value.format(folder=folder) for name, value in left.conf.items()},
    }
    options = ["--master", "local[4]", "--driver-memory", "768m", "--jars", jars, "--driver-java-options", QUICK_JVM]
    options += [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, str(path), str(folder)],
            env={
                **os.environ,
                **java_runtime().environment(),
                "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"]),
                "PYSPARK_PYTHON": sys.executable,
                "SPARK_LOCAL_IP": "127.0.0.1",
                "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
                "HEADWATER_TOPIC_PREFIX": prefix,
                "HEADWATER_OUTBOX_PATH": str(folder / "outbox"),
            },
            cwd=folder,
            start_new_session=True,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _beating(events: list[LineageEvent]) -> set[str]:
    """Jobs with a run that has reported that it is running."""
    return {e.job.name for e in events if e.job and e.run_event and e.run_event.type is RunEventType.RUNNING}


@dataclass(frozen=True)
class Graph:
    """Content of Neo4j: nodes by key, and relationships."""

    nodes: dict[str, dict[str, Any]]
    relationships: list[dict[str, Any]]

    def runs(self, job: str) -> list[dict[str, Any]]:
        """The runs of a job that have reported something, in the order in which they began."""
        found = [n for n in self.nodes.values() if n["_label"] == "Run" and n.get("job_name") == job and "state" in n]
        return sorted(found, key=lambda node: node["started_at"])

    def related(self, type_: str, start: str) -> list[dict[str, Any]]:
        """Relationships of a type from a node, by what they lead to."""
        found = [r for r in self.relationships if r["type"] == type_ and r["start"] == start]
        return sorted(found, key=lambda r: str(self.nodes[r["end"]].get("name")))

    def names(self, type_: str, start: str) -> list[str]:
        """The last part of the names of what relationships of a type lead to."""
        return [Path(self.nodes[r["end"]]["name"]).name for r in self.related(type_, start)]

    def job(self, name: str) -> str:
        """A job's key."""
        [key] = [key for key, n in self.nodes.items() if n["_label"] == "Job" and n["name"] == name]
        return key


def graph_of(driver: Driver, writer: GraphWriter, events: list[LineageEvent]) -> Graph:
    writer.apply(fold(events))
    lines = [json.loads(line) for line in dump(driver)]
    nodes = {n["key"]: {**n["properties"], "key": n["key"], "_label": n["labels"][0]} for n in lines if "labels" in n}
    return Graph(nodes, [line for line in lines if "type" in line])


def shown(run: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(run.get(name) for name in names)


END = ("state", "provenance", "publication", "open")
"""Properties of a run that `shown` includes."""
