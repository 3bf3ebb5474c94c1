"""A script that hands rows on through files of every format, run for real: traces name the very files."""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import pytest

import support
from headwater.stack import java_runtime
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Part, PartKind, Path, TraceDirection, trace
from headwater_graph.connection import Neo4jTarget
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.codec import Decoder
from headwater_schemas.events import Certainty
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
from pyspark.sql import SparkSession, functions as F
from headwater_producers.spark import attach
from headwater_schemas.codec import encode
from support.capture import FLUSH_SECONDS, RecordingSink

home = sys.argv[1]
spark = SparkSession.builder.appName("files").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
sink = RecordingSink()
with attach(spark, sink=sink, job_name="files", capture_drain_timeout_seconds=FLUSH_SECONDS):
    rows = spark.range(0, 6, 1, 2)
    rows.write.mode("append").parquet(f"{home}/a")
    schema = "id BIGINT"
    spark.read.parquet(f"{home}/a").write.csv(f"{home}/b")
    spark.read.schema(schema).csv(f"{home}/b").write.json(f"{home}/c")
    spark.read.schema(schema).json(f"{home}/c").write.orc(f"{home}/d")
    # As many rows once more, which nobody has read.
    rows.write.mode("append").parquet(f"{home}/a")
    days = rows.withColumn("day", F.col("id") % 2)
    days.write.partitionBy("day").parquet(f"{home}/days")
    spark.read.parquet(f"{home}/days/day=1").write.parquet(f"{home}/monday")

    def twice(frame, batch):
        frame.write.mode("append").parquet(f"{home}/e")
        frame.write.mode("append").parquet(f"{home}/e")

    stream = spark.readStream.schema(schema).orc(f"{home}/d").writeStream.foreachBatch(twice).queryName("twice")
    stream.option("checkpointLocation", f"{home}/cp").trigger(availableNow=True).start().awaitTermination()
with open(f"{home}/events", "w") as out:
    for event in sink.events:
        print(base64.b64encode(encode(event)).decode(), file=out)
spark.stop()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """Folder in which the script has run."""
    home = tmp_path_factory.mktemp("files")
    (home / "script.py").write_text(SCRIPT, encoding="utf-8")
    java = f"-Dderby.system.home={home} {QUICK_JVM}"
    options = ["--master", "local[1]", "--driver-memory", "1g", "--driver-java-options", java]
    options += ["--conf", "spark.ui.enabled=false", "pyspark-shell"]
    environment = {
        **os.environ,
        **java_runtime().environment(),
        "PYSPARK_SUBMIT_ARGS": shlex.join(options),
        "PYTHONPATH": str(FilePath(support.__path__[0]).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, str(home / "script.py"), str(home)]
    subprocess.run(command, check=True, env=environment, cwd=home, timeout=patience(SECONDS), stdin=subprocess.DEVNULL)
    return home


@pytest.fixture(scope="module")
def reader(stack: StackUnderTest, neo4j_driver: Driver, home: FilePath) -> Reader:
    lines = (home / "events").read_text(encoding="utf-8").split()
    delete_nodes(neo4j_driver)
    writer = GraphWriter(neo4j_driver, "neo4j")
    writer.ensure_schema()
    writer.apply(fold([Decoder().decode(base64.b64decode(line)) for line in lines]))
    target = Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")
    return Reader(neo4j_driver, target)


def in_folder(folder: FilePath) -> list[FilePath]:
    """Its files of data, the oldest first."""
    return sorted(folder.rglob("part-*"), key=lambda file: (file.stat().st_mtime_ns, file.name))


def names(part: Part) -> set[str]:
    assert part.kind is PartKind.FILES
    assert len(part.files) == part.file_count
    return {file.removeprefix("file:") for file in part.files}


@pytest.mark.nightly
def test_rows_go_on_exactly_through_parquet_csv_json_orc_and_a_stream(reader: Reader, home: FilePath) -> None:
    first = in_folder(home / "a")[0]
    found = trace(reader, Path(f"file:{first}"), depth=None)
    assert [hop.step.job.name for hop in found.hops if hop.step.job] == [
        "files.b",
        "files.c",
        "files.d",
        "files.twice",
    ]
    assert {hop.overall for hop in found.hops} == {Certainty.EXACT}
    for hop, folder in zip(found.hops, "bcde", strict=True):
        [part] = hop.outputs
        assert names(part) == {str(file) for file in in_folder(home / folder)}


@pytest.mark.nightly
def test_what_was_appended_later_is_no_origin(reader: Reader, home: FilePath) -> None:
    first, *_, last = in_folder(home / "a")
    [origin] = trace(reader, Path(f"file:{last}"), direction=TraceDirection.BACKWARD).hops
    [part] = origin.outputs
    assert names(part) == {str(last)}
    assert origin.overall is Certainty.EXACT
    [made] = trace(reader, Path(f"file:{in_folder(home / 'b')[0]}"), direction=TraceDirection.BACKWARD).hops
    [read] = made.inputs
    assert str(first) in names(read)
    assert str(last) not in names(read)
    assert len(names(read)) == 2, "as many as the first write made"


@pytest.mark.nightly
def test_of_partitions_only_the_files_of_the_one_that_was_read_go_on(reader: Reader, home: FilePath) -> None:
    monday = in_folder(home / "days" / "day=1")
    [hop] = trace(reader, Path(f"file:{monday[0]}"), depth=None).hops
    [part] = hop.outputs
    assert names(part) == {str(file) for file in in_folder(home / "monday")}
    assert hop.overall is Certainty.EXACT
    [back] = trace(reader, Path(f"file:{in_folder(home / 'monday')[0]}"), direction=TraceDirection.BACKWARD).hops
    [read] = back.inputs
    assert names(read) == {str(file) for file in monday}
