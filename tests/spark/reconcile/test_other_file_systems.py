"""A checkpoint on a file system that only Hadoop knows is read as one on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.reconcile import QueryLog
from headwater_producers.spark.streaming.local_files import LocalFiles
from support.checkpoints import QUERY, kafka_checkpoint, written

if TYPE_CHECKING:
    from pathlib import Path

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
        here = QueryLog(f"file:{folder}", LocalFiles())
        assert there.query_id() == QUERY
        assert there.committed() == here.committed() == list(range(2, 12))
        assert there.planned() == here.planned()
        assert there.batch(11) == here.batch(11)
        files = JvmFiles(spark.sparkContext)
        assert files.names("viewfs://elsewhere/data/none") == []
        assert files.read("viewfs://elsewhere/data/cp/commits/0") is None
    finally:
        configuration.unset(mount)
