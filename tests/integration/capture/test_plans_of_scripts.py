"""Scripts that write one table by several statements, run for real: what it is made of, and what breaks it."""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import support
from headwater.stack import java_runtime
from headwater_analysis.impact import ImpactChange, SchemaChange, analyze
from headwater_analysis.lineage import LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_graph.connection import Neo4jTarget
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.codec import Decoder
from support.graph.emptying import delete_nodes
from support.running import QUICK_JVM
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.spark, pytest.mark.stack]
SECONDS = 400

SCRIPT = """
import base64, sys
from pyspark.sql import SparkSession
from headwater_producers.spark import attach
from headwater_schemas.codec import encode
from support.capture import FLUSH_SECONDS, RecordingSink

spark = SparkSession.builder.appName("plans").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
sql = spark.sql
dynamic = "spark.sql.sources.partitionOverwriteMode"

def inserts(t):
    sql(f"INSERT INTO {t}_tgt SELECT v, 1 FROM {t}_a")
    sql(f"INSERT INTO {t}_tgt SELECT v, 2 FROM {t}_b")

def appends(t):
    for source in "ab":
        spark.table(f"{t}_{source}").selectExpr("v AS x", "1 AS p").write.mode("append").insertInto(f"{t}_tgt")

def partitions(t):
    spark.conf.set(dynamic, "dynamic")
    sql(f"INSERT OVERWRITE {t}_tgt SELECT v, 1 FROM {t}_a")
    sql(f"INSERT OVERWRITE {t}_tgt SELECT v, 2 FROM {t}_b")
    spark.conf.unset(dynamic)

def overwrites(t):
    sql(f"INSERT OVERWRITE {t}_tgt SELECT v, 1 FROM {t}_a")
    sql(f"INSERT OVERWRITE {t}_tgt SELECT v, 2 FROM {t}_b")

def views(t):
    sql(f"CREATE VIEW {t}_seen AS SELECT v AS w FROM {t}_a")
    sql(f"INSERT INTO {t}_tgt SELECT w, 1 FROM {t}_seen")

with open(sys.argv[1], "w") as out:
    for write in (inserts, appends, partitions, overwrites, views):
        t = write.__name__
        for source in "ab":
            sql(f"CREATE TABLE {t}_{source} USING parquet AS SELECT 1 AS v")
        sql(f"CREATE TABLE {t}_tgt (x INT, p INT) USING parquet PARTITIONED BY (p)")
        sink = RecordingSink()
        with attach(spark, sink=sink, job_name=t, capture_drain_timeout_seconds=FLUSH_SECONDS):
            write(t)
        for event in sink.events:
            print(base64.b64encode(encode(event)).decode(), file=out)
spark.stop()
"""


@pytest.fixture(scope="module")
def reader(stack: StackUnderTest, neo4j_driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    home = tmp_path_factory.mktemp("plans")
    (home / "script.py").write_text(SCRIPT, encoding="utf-8")
    java = f"-Dderby.system.home={home} {QUICK_JVM}"
    options = ["--master", "local[1]", "--driver-memory", "1g", "--driver-java-options", java]
    options += [
        "--conf",
        f"spark.sql.warehouse.dir={home}/warehouse",
        "--conf",
        "spark.ui.enabled=false",
        "pyspark-shell",
    ]
    environment = {
        **os.environ,
        **java_runtime().environment(),
        "PYSPARK_SUBMIT_ARGS": shlex.join(options),
        "PYTHONPATH": str(Path(support.__path__[0]).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, str(home / "script.py"), str(home / "events")]
    subprocess.run(command, check=True, env=environment, cwd=home, timeout=patience(SECONDS), stdin=subprocess.DEVNULL)
    lines = (home / "events").read_text(encoding="utf-8").split()
    delete_nodes(neo4j_driver)
    writer = GraphWriter(neo4j_driver, "neo4j")
    writer.ensure_schema()
    writer.apply(fold([Decoder().decode(base64.b64decode(line)) for line in lines]))
    target = Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")
    return Reader(neo4j_driver, target)


def made_of(reader: Reader, name: str) -> list[str]:
    """Datasets of which columns are made into the target's `x`, by title's last part."""
    answer = lineage(reader, LineageQuestion(f"{name}_tgt", LineageDirection.UPSTREAM, "x"))
    return sorted(item.asset.name.rsplit("_", 1)[1] for item in answer.items)


def breaks(reader: Reader, name: str) -> list[str]:
    found = {s: analyze(reader, ImpactChange(f"{name}_{s}", column="v", schema=SchemaChange.REMOVED)) for s in "ab"}
    return sorted(source for source, impact in found.items() if impact.severity == "BREAKING")


@pytest.mark.parametrize("name", ["inserts", "appends", "partitions"])
def test_two_statements_make_it_together(reader: Reader, name: str) -> None:
    assert made_of(reader, name) == ["a", "b"]
    assert breaks(reader, name) == ["a", "b"]


def test_by_what_was_overwritten_it_is_not_made_and_breaks_all_the_same(reader: Reader) -> None:
    assert made_of(reader, "overwrites") == ["b"]
    assert breaks(reader, "overwrites") == ["a", "b"]


def test_a_view_has_what_was_read_through_it_downstream(reader: Reader) -> None:
    assert made_of(reader, "views") == ["a", "seen"]
    answer = lineage(reader, LineageQuestion("default.views_seen", LineageDirection.DOWNSTREAM))
    assert [item.asset.title for item in answer.items] == ["views_tgt"]
    impact = analyze(reader, ImpactChange("default.views_seen", column="w", schema=SchemaChange.REMOVED))
    assert impact.severity == "BREAKING"
