"""A checkpoint on a file system that only Hadoop knows is read as one on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.cli import main
from headwater.errors import ExitCode
from headwater_producers.spark.jvm.files import JvmFiles, LocalTextFiles
from headwater_producers.spark.streaming.checkpoint import QueryLog
from support.checkpoints import QUERY, kafka_checkpoint, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_the_same_through_hadoop(spark: SparkSession, tmp_path: Path) -> None:
    made = kafka_checkpoint(12)
    made.purge(2)
    folder = written(made, tmp_path / "cp")
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    mount = "fs.viewfs.mounttable.elsewhere.link./data"
    configuration.set(mount, f"file://{tmp_path}")
    try:
        there = QueryLog("viewfs://elsewhere/data/cp", JvmFiles(spark.sparkContext))
        here = QueryLog(f"file:{folder}", LocalTextFiles())
        assert there.query_id() == QUERY
        assert there.committed() == here.committed() == list(range(2, 12))
        assert there.planned() == here.planned()
        assert there.batch(11) == here.batch(11)
        files = JvmFiles(spark.sparkContext)
        assert files.names("viewfs://elsewhere/data/none") == []
        assert files.read("viewfs://elsewhere/data/cp/commits/0") is None
    finally:
        configuration.unset(mount)


def test_the_command_reads_it_through_a_spark_session(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(kafka_checkpoint(3), tmp_path / "cp")
    monkeypatch.setattr(type(spark.builder), "getOrCreate", lambda _builder: spark)
    stopped: list[object] = []

    def stop(session: object) -> None:
        stopped.append(session)

    monkeypatch.setattr(type(spark), "stop", stop)
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    mount = "fs.viewfs.mounttable.another.link./data"
    configuration.set(mount, f"file://{tmp_path}")
    try:
        options = ("--no-graph", "--dry-run", "--job", "app.copy", "--source", "0=kafka://here", "--json")
        assert main(["reconcile", "viewfs://another/data/cp", *options]) == ExitCode.DONE
    finally:
        configuration.unset(mount)
    [emitted] = json.loads(capsys.readouterr().out)["checkpoints"]
    assert (emitted["checkpoint"], emitted["query_id"]) == ("viewfs://another/data/cp", QUERY)
    assert emitted["batches"] == {"count": 3, "first": 0, "last": 2}
    assert emitted["unreadable"] == []
    assert stopped == [spark], "the session that was started for it"
