"""Object stores and HDFS: what is read and written there is named by bucket or namenode, with rows, files and versions.

Hadoop's own ViewFs stands for each of them: paths bear their scheme, and the files lie on this machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.stack.spark import installed_release
from headwater_producers.spark.explain import explain_lineage
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, LineageEvent
from spark.sources.cases import sql
from spark.sources.watching import Watched, run_lines
from support.capture import files_of, snapshot_of
from support.gate import first_in_gate
from support.waiting import patience

pytestmark = pytest.mark.spark

VIEW = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"
# The connectors' own classes for checkpoints aren't there.
_PACKAGE = "" if installed_release().name in ("3.5", "4.0") else "checkpointing."
PLAIN_FILES = f"org.apache.spark.sql.execution.streaming.{_PACKAGE}FileSystemBasedCheckpointFileManager"
BASES = {
    # as a job names it: namespace, and how a name in it begins
    "s3a://lake": ("s3://lake", ""),
    "gs://pond": ("gs://pond", ""),
    "hdfs://namenode:8020": ("hdfs://namenode:8020", "/"),
    "abfss://c@acct.dfs.core.windows.net": ("abfss://c@acct.dfs.core.windows.net", "/"),
}


@pytest.fixture(scope="module")
def hadoop(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Hadoop's configuration; each base has a folder `data`."""
    configuration: Any = watched.spark.sparkContext._jsc.hadoopConfiguration()
    settings = {}
    for base in BASES:
        scheme, _, authority = base.partition("://")
        settings[f"fs.{scheme}.impl"] = VIEW
        mounted = tmp_path_factory.mktemp(scheme)
        settings[f"fs.viewfs.mounttable.{authority.partition(':')[0]}.link./data"] = f"file://{mounted}"
    before = {name: configuration.get(name) for name in settings}
    for name, value in settings.items():
        configuration.set(name, value)
    yield configuration
    for name, known in before.items():
        configuration.unset(name) if known is None else configuration.set(name, known)


def uses(events: list[LineageEvent]) -> tuple[DatasetUse, DatasetUse]:
    """Input and output of the last run."""
    end = [event.run_event for event in events if event.run_event is not None][-1]
    [read], [written] = end.inputs, end.outputs
    return read, written


@pytest.mark.parametrize("base", first_in_gate(1, BASES))
def test_files_elsewhere(watched: Watched, hadoop: Any, base: str) -> None:
    spark = watched.spark
    namespace, root = BASES[base]
    spark.range(3).coalesce(1).write.parquet(f"{base}/data/flights")
    spark.read.parquet(f"{base}/data/flights").write.parquet(f"{base}/data/copy")
    read, written = uses(watched.new_events())
    assert read.dataset == DatasetRef(namespace, f"{root}data/flights")
    assert written.dataset == DatasetRef(namespace, f"{root}data/copy")
    assert (read.rows, read.files, written.rows, written.files) == (3, 1, 3, 1)
    assert read.bytes
    assert read.position is not None
    assert (read.position.files and read.position.files.count, read.certainty) == (1, Certainty.EXACT)


def test_a_path_is_on_the_default_file_system(watched: Watched, hadoop: Any) -> None:
    """Paths like `/data/x` are HDFS's on a cluster; Delta's plan has the path as the program wrote it."""
    spark = watched.spark
    hadoop.set("fs.defaultFS", "s3a://lake")
    try:
        spark.range(3).coalesce(1).write.format("delta").save("/data/versions")
        written = [event.run_event for event in watched.new_events() if event.run_event is not None][-1]
        spark.read.format("delta").load("/data/versions").write.parquet("/data/unversioned")
        read, _ = uses(watched.new_events())
        spark.range(1).write.parquet("/data/streamed")
        frame = spark.readStream.schema("id BIGINT").parquet("/data/streamed")
        [source] = explain_lineage(frame).outputs[0].sources
    finally:
        hadoop.set("fs.defaultFS", "file:///")
    watched.new_events()
    [output] = written.outputs
    for use in (output, read):
        assert (use.dataset, use.rows) == (DatasetRef("s3://lake", "data/versions"), 3)
        assert snapshot_of(use.position).snapshot_id == "0"
    assert (source.namespace, source.name) == ("s3://lake", "data/streamed")


def test_a_stream_between_them(watched: Watched, hadoop: Any) -> None:
    spark = watched.spark
    setting = "spark.sql.streaming.checkpointFileManagerClass"
    spark.range(3).coalesce(1).write.parquet("gs://pond/data/in")
    watched.new_events()
    spark.conf.set(setting, PLAIN_FILES)
    try:
        frame = spark.readStream.schema("id BIGINT").parquet("gs://pond/data/in")
        writer = frame.writeStream.format("parquet").queryName("between").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", "s3a://lake/data/checkpoint")
        assert writer.start("s3a://lake/data/out").awaitTermination(int(patience(120)))
    finally:
        spark.conf.unset(setting)
    [interval] = [event.interval_event for event in watched.new_events() if event.interval_event is not None]
    assert interval.checkpoint_location == "s3a://lake/data/checkpoint"
    [entry] = interval.entries
    [read], [written] = entry.inputs, entry.outputs
    assert (read.dataset, written.dataset) == (DatasetRef("gs://pond", "data/in"), DatasetRef("s3://lake", "data/out"))
    for use in (read, written):
        assert use.certainty is Certainty.EXACT
        assert files_of(use.position).count == 1


def test_a_partition_is_read_as_a_part_of_its_dataset(watched: Watched, tmp_path: Path) -> None:
    spark = watched.spark
    spark.sql("SELECT id, id % 2 AS p FROM range(5)").coalesce(1).write.partitionBy("p").parquet(f"{tmp_path}/parts")
    watched.new_events()
    spark.read.parquet(f"{tmp_path}/parts/p=0").write.json(f"{tmp_path}/even")
    assert run_lines(watched.new_events()) == [
        "read parts files@1 rows=3 files=1 +bytes",
        "wrote even files@1 rows=3 files=1 +bytes",
    ]
    even, odd = (spark.read.parquet(f"{tmp_path}/parts/p={number}") for number in (0, 1))
    even.unionAll(odd).write.json(f"{tmp_path}/both")
    assert run_lines(watched.new_events())[0] == "read parts files@2 rows=5 files=2 +bytes"


def test_a_view_of_files_is_its_files(watched: Watched, tmp_path: Path) -> None:
    watched.spark.range(3).coalesce(1).write.parquet(f"{tmp_path}/seen-files")
    sql(f"CREATE TEMPORARY VIEW over_files USING parquet OPTIONS (path '{tmp_path}/seen-files')")(
        watched.spark, tmp_path
    )
    watched.new_events()
    watched.spark.table("over_files").write.json(f"{tmp_path}/of-view")
    watched.spark.sql(f"SELECT id FROM parquet.`{tmp_path}/seen-files`").write.json(f"{tmp_path}/of-path")
    read = "read seen-files files@1 rows=3 files=1 +bytes"
    assert run_lines(watched.new_events()) == [
        read,
        "wrote of-view files@1 rows=3 files=1 +bytes",
        read,
        "wrote of-path files@1 rows=3 files=1 +bytes",
    ]
