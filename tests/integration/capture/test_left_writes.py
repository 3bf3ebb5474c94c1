"""A driver is killed in the midst of its batch writes and started again; the graph is the one that was derived by hand.

The first driver, job `daily`, has a MERGE that fails, a day of a backfill that is done, and three writes in flight:

    orders     an append to a Delta table, which commits just before the kill: nobody has reported it
    report     an overwrite of a folder of Parquet files, held in its only task: what was there is deleted
    days       the second day of the backfill, into a Delta table, held too: nothing of it is committed

The second driver, of the same job, does the second day again, and the third.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import KafkaException

from headwater.stack import ensure_jars, java_runtime
from headwater_consumers.graph.dump import dump
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.write import GraphWriter
from headwater_schemas.events import LineageEvent, RunEventType
from support.outbox import until
from support.running import QUICK_JVM, events_on
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.spark, pytest.mark.stack]
SECONDS = 240

COMMON = """
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
        while not os.path.exists(path):
            time.sleep(0.05)
        return value
    return F.udf(wait, "long")("id")

def day(number, frame):
    rows = frame.withColumn("day", F.lit(number))
    rows.write.format("delta").mode("overwrite").option("replaceWhere", f"day = {number}").save(f"{folder}/days")
"""

FIRST = """
from headwater_producers.spark.driver.dispatch import Dispatch

source = spark.range(3)
source.write.parquet(f"{folder}/in")
source.write.format("delta").save(f"{folder}/orders")
source.write.parquet(f"{folder}/report")
spark.range(0).withColumn("day", F.lit(0)).write.format("delta").save(f"{folder}/days")
day(1, spark.range(2))
try:
    spark.sql(
        f"MERGE INTO delta.`{folder}/orders` t USING parquet.`{folder}/in` s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = CAST(raise_error('no such order') AS BIGINT)"
    )
except Exception as error:
    assert "no such order" in str(error), error
else:
    raise AssertionError("the MERGE was to fail")
capture.flush(60)

read = spark.read.parquet(f"{folder}/in")
waiting = read.withColumn("id", held("orders-gate"))
for write in (
    lambda: waiting.write.format("delta").mode("append").save(f"{folder}/orders"),
    lambda: read.withColumn("id", held("never")).write.mode("overwrite").parquet(f"{folder}/report"),
    lambda: day(2, read.withColumn("id", held("never"))),
):
    threading.Thread(target=write, daemon=True).start()

# From then on the worker gets no further: what is committed isn't reported any more.
while not (folder / "busy").exists():
    time.sleep(0.05)
Dispatch._ended = lambda self, signal: time.sleep(600)
(folder / "is-busy").touch()
time.sleep(600)
"""

SECOND = """
for number in (2, 3):
    day(number, spark.read.parquet(f"{folder}/in"))
capture.flush(60)
spark.stop()
"""


@dataclass(frozen=True)
class History:
    """What was on the topic while the first driver hung, and at the end of the second; and what they worked in."""

    folder: Path
    hanging: list[LineageEvent]
    events: list[LineageEvent]


def driver(folder: Path, stack: StackUnderTest, prefix: str, script: str) -> subprocess.Popen[bytes]:
    path = folder / "daily.py"
    path.write_text(COMMON + script, encoding="utf-8")
    jars = ",".join(str(jar) for jar in ensure_jars("delta"))
    conf = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
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


def beating(events: list[LineageEvent]) -> set[str]:
    """Jobs with a run that has reported that it is running."""
    return {e.job.name for e in events if e.job and e.run_event and e.run_event.type is RunEventType.RUNNING}


@pytest.fixture(scope="module")
def history(stack: StackUnderTest, tmp_path_factory: pytest.TempPathFactory) -> History:
    folder, prefix = tmp_path_factory.mktemp("daily"), f"left{uuid.uuid4().hex[:8]}"
    first = driver(folder, stack, prefix, FIRST)

    def published() -> list[LineageEvent]:
        try:
            return events_on(stack.bootstrap_servers, f"{prefix}.events")
        except (KeyError, KafkaException):
            # There is no topic yet, or it is being made.
            return []

    try:

        def are_in_flight() -> bool:
            assert first.poll() is None, (folder / "log").read_text()[-4_000:]
            time.sleep(1)
            return beating(published()) >= {"daily.orders", "daily.report", "daily.days"}

        until(are_in_flight, SECONDS)
        hanging = published()
        (folder / "busy").touch()
        until((folder / "is-busy").exists, 60)
        (folder / "orders-gate").touch()
        until((folder / "orders" / "_delta_log" / f"{1:020d}.json").exists, 60)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait(30)
    second = driver(folder, stack, prefix, SECOND)
    try:
        assert second.wait(SECONDS) == 0, (folder / "log").read_text()[-4_000:]
    finally:
        if second.poll() is None:
            os.killpg(second.pid, signal.SIGKILL)
            second.wait(30)
    return History(folder, hanging, published())


@dataclass(frozen=True)
class Graph:
    """What Neo4j holds: nodes by key, and relationships."""

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


@pytest.mark.timeout(900)
def test_a_hanging_write_is_open_and_no_flow(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    found = graph_of(clean_database, writer, history.hanging)
    # A write with replaceWhere reads its table, too.
    for job, inputs in (("daily.orders", ["in"]), ("daily.days", ["days", "in"]), ("daily.report", ["in"])):
        run = found.runs(job)[-1]
        assert shown(run, *END) == ("RUNNING", None, None, True), job
        assert found.names("CONSUMED", run["key"]) == inputs
        assert found.names("PRODUCED", run["key"]) == []
        assert found.names("USED", run["key"]) == [], "no plan: no column has flowed"
    # What is there is of the writes before.
    assert [shown(run, *END) for run in found.runs("daily.report")[:-1]] == [("COMPLETE", None, "PUBLISHED", None)]
    [application] = found.runs("daily")
    assert shown(application, *END) == ("RUNNING", None, None, True)


@pytest.mark.timeout(900)
def test_a_killed_driver_s_commit_completes_its_run(
    clean_database: Driver, writer: GraphWriter, history: History
) -> None:
    """Nobody reported the append to `orders`; its commit names the application's run."""
    found = graph_of(clean_database, writer, history.events)
    created, merge, appended = found.runs("daily.orders")
    assert shown(created, *END) == ("COMPLETE", None, "PUBLISHED", None)
    assert shown(merge, "state") == ("FAIL",)
    assert shown(appended, *END) == ("COMPLETE", "RECONCILED", "PUBLISHED", None)
    assert found.names("CONSUMED", appended["key"]) == ["in"]
    [produced] = found.related("PRODUCED", appended["key"])
    properties = produced["properties"]
    assert {name: properties.get(name) for name in ("format", "snapshot_id", "parent_id", "operation")} == {
        "format": "delta",
        "snapshot_id": "1",
        "parent_id": "0",
        "operation": "WRITE",
    }
    assert (properties["certainty"], properties["rows"]) == ("INFERRED", 3)
    assert [found.nodes[r["end"]]["version"] for r in found.related("WROTE", appended["key"])] == ["1"]
    assert found.names("WRITES", found.job("daily.orders")) == ["orders"]
    # The plan was kept with the write: orders.id is made of in.id.
    [plan] = [r["end"] for r in found.related("USED", appended["key"])]
    derived = [r for r in found.relationships if r["type"] == "DERIVES" and r["properties"]["plan"] == plan]
    assert {(found.nodes[r["start"]]["name"], found.nodes[r["end"]]["name"]) for r in derived} == {("id", "id")}
    first, second = found.runs("daily")
    assert shown(first, "state", "provenance", "open") == ("ABORT", "RECONCILED", None)
    assert shown(second, "state", "provenance", "open") == ("COMPLETE", None, None)


@pytest.mark.timeout(900)
def test_a_half_written_overwrite_ends_unknown(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    """Files bear nobody's name: what was there is gone, and nothing shows whether anything is there instead."""
    assert not list((history.folder / "report").glob("part-*")), "the overwrite had deleted what was there"
    found = graph_of(clean_database, writer, history.events)
    before, overwrite = found.runs("daily.report")
    assert shown(before, *END) == ("COMPLETE", None, "PUBLISHED", None)
    assert shown(overwrite, *END) == ("ABORT", "RECONCILED", None, None)
    assert "headwater_unknownOutputs" in overwrite["facet_names"]
    assert found.names("CONSUMED", overwrite["key"]) == ["in"]
    assert found.names("PRODUCED", overwrite["key"]) == found.names("USED", overwrite["key"]) == []
    # So no rows of `in` have flowed into `report`: the only write that is known had made them itself.
    assert found.names("READS", found.job("daily.report")) == ["in"]
    job = found.job("daily.report")
    assert [r for r in found.relationships if r["type"] == "FEEDS" and r["properties"]["job"] == job] == []
    assert found.names("WRITES", job) == ["report"]


@pytest.mark.timeout(900)
def test_a_failed_merge_is_no_flow(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    found = graph_of(clean_database, writer, history.events)
    merge = found.runs("daily.orders")[1]
    assert shown(merge, *END) == ("FAIL", None, None, None)
    assert "no such order" in merge["error_message"]
    [attempted] = found.related("PRODUCED", merge["key"])
    assert attempted["properties"].get("uncommitted") is True
    assert "snapshot_id" not in attempted["properties"]
    assert found.names("USED", merge["key"]) == []
    assert found.related("WROTE", merge["key"]) == []


@pytest.mark.timeout(900)
def test_a_restarted_backfill(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    """Day 2 was begun twice: the first time nothing was committed, which the table's log shows."""
    found = graph_of(clean_database, writer, history.events)
    runs = found.runs("daily.days")
    assert [shown(run, *END) for run in runs] == [
        ("COMPLETE", None, "PUBLISHED", None),  # the empty table
        ("COMPLETE", None, "PUBLISHED", None),  # day 1
        ("ABORT", "RECONCILED", "UNPUBLISHED", None),  # day 2, killed
        ("COMPLETE", None, "PUBLISHED", None),  # day 2 again
        ("COMPLETE", None, "PUBLISHED", None),  # day 3
    ]
    versions = [[r["properties"]["snapshot_id"] for r in found.related("PRODUCED", run["key"])] for run in runs]
    assert versions == [["0"], ["1"], [], ["2"], ["3"]], "one version for each that has committed, and none twice"
    assert {run.get("campaign") for run in runs} == {"backfill 2013"}
    assert len({run["parent_run_id"] for run in runs[:3]}) == len({run["parent_run_id"] for run in runs[3:]}) == 1
    assert runs[2]["parent_run_id"] != runs[3]["parent_run_id"]
