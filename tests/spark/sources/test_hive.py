"""Events of each statement in `hive_cases.py`, in a session with Hive's catalog beside the shared one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark import attach
from headwater_producers.spark.jvm.versions import jvm_sessions
from headwater_schemas.events import DatasetRef
from spark.sources.cases import Case
from spark.sources.golden import check
from spark.sources.hive_cases import HIVE
from spark.sources.watching import Watched, emitted
from support.capture import FLUSH_SECONDS, RecordingSink
from support.gate import named_in_gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.spark

CATALOG = "spark.sql.catalogImplementation"
IN_GATE = {
    "CREATE TABLE … STORED AS",
    "INSERT INTO",
    "INSERT OVERWRITE",
    "INSERT INTO … PARTITION (city = …)",
    "INSERT OVERWRITE, by rows",
    "a query of it",
    "CREATE TABLE … STORED AS … AS",
    "LOAD DATA LOCAL INPATH",
    "DROP TABLE",
}
"""Each kind of statement once: no case of them depends on another one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hive")


@pytest.fixture(scope="module")
def hive(spark: SparkSession, folder: Path) -> SparkSession:
    """Session with Hive's catalog: that is settled when it is made, by the configuration of the context."""
    from pyspark.sql import SparkSession as Session

    context: Any = spark.sparkContext
    classic = jvm_sessions(context._jvm)
    configuration = context._jsc.sc().conf()
    metastore = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    context._jsc.hadoopConfiguration().set("javax.jdo.option.ConnectionURL", metastore)
    configuration.set(CATALOG, "hive")
    classic.clearActiveSession()
    classic.clearDefaultSession()
    session = Session(spark.sparkContext, classic.builder().getOrCreate())
    shared: Any = spark
    try:
        session.sql("SHOW TABLES").collect()
    finally:
        classic.setDefaultSession(shared._jsparkSession)
        classic.setActiveSession(shared._jsparkSession)
        configuration.remove(CATALOG)
    return session


@pytest.fixture(scope="module")
def watched(hive: SparkSession) -> Iterator[Watched]:
    sink = RecordingSink()
    with attach(hive, sink=sink, job_name="job", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        yield Watched(hive, sink, capture)


@pytest.mark.parametrize("case", named_in_gate(IN_GATE, HIVE.cases, lambda case: case.title))
def test_what_is_emitted(watched: Watched, folder: Path, case: Case) -> None:
    check(HIVE.name, case.title, emitted(watched, folder, HIVE, case))


def test_a_directory_with_globs_in_its_name_is_written_literally(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "a [1]{b,c}"
    watched.spark.sql(f"INSERT OVERWRITE LOCAL DIRECTORY '{path}' STORED AS TEXTFILE SELECT 1")
    ends = [event.run_event for event in watched.new_events() if event.run_event and event.run_event.type.is_terminal]
    assert [use.dataset for use in ends[-1].outputs] == [DatasetRef("file", str(path))]
