"""`lake`: a session beside the shared one, with Delta and Iceberg catalogs; `watched`: what capture says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from headwater.stack.spark import SparkJars, installed_release
from headwater_producers.spark import attach
from headwater_producers.spark.jvm.versions import jvm_sessions
from spark.sources.watching import Watched
from support.capture import FLUSH_SECONDS, RecordingSink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSIONS: dict[SparkJars, str] = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}


@pytest.fixture(scope="session")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    from pyspark.sql import SparkSession as Session

    context: Any = spark.sparkContext
    classic = jvm_sessions(context._jvm)
    configuration = context._jsc.sc().conf()
    # Extensions belong to a session from its making on, and the shared one is to stay plain.
    present = [name for jars, name in EXTENSIONS.items() if jars in installed_release().modules]
    configuration.set("spark.sql.extensions", ",".join(present))
    classic.clearActiveSession()
    classic.clearDefaultSession()
    session = Session(spark.sparkContext, classic.builder().getOrCreate())
    shared: Any = spark
    classic.setDefaultSession(shared._jsparkSession)
    classic.setActiveSession(shared._jsparkSession)
    configuration.remove("spark.sql.extensions")
    if "delta" in installed_release().modules:
        session.conf.set("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    for key, value in {
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(tmp_path_factory.mktemp("ice")),
        # 50, by default, for each look at a table's log.
        "spark.databricks.delta.snapshotPartitions": "1",
        # 10,000, by default, which is the number of tasks that VACUUM lists a folder with.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    }.items():
        session.conf.set(key, value)
    return session


@contextmanager
def foremost(session: SparkSession) -> Iterator[None]:
    """On Spark 3.5 the session is the active and the default one meanwhile, as an application's only one is.

    There a writer takes the settings of catalogs from these; since 4.0 it asks its own session.
    """
    if installed_release().name != "3.5":
        yield
        return
    mine: Any = session
    sessions = jvm_sessions(mine._jvm)
    before = sessions.getActiveSession(), sessions.getDefaultSession()
    sessions.setActiveSession(mine._jsparkSession)
    sessions.setDefaultSession(mine._jsparkSession)
    try:
        yield
    finally:
        for found, put_back in zip(before, (sessions.setActiveSession, sessions.setDefaultSession), strict=True):
            if found.isDefined():
                put_back(found.get())


@pytest.fixture(scope="module")
def watched(lake: SparkSession) -> Iterator[Watched]:
    """Its tables go with the module: the catalog is everybody's, and the shared session can't drop Delta's."""
    before = tables(lake)
    sink = RecordingSink()
    with (
        foremost(lake),
        attach(lake, sink=sink, job_name="job", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture,
    ):
        yield Watched(lake, sink, capture)
    for name, kind in tables(lake) - before:
        lake.sql(f"DROP {kind} {name}")


def tables(spark: SparkSession) -> set[tuple[str, str]]:
    """Those of the session's own catalog, and whether each is a TABLE or a VIEW."""
    return {
        (f"default.{table.name}", "VIEW" if table.tableType == "VIEW" else "TABLE")
        for table in spark.catalog.listTables("default")
        if not table.isTemporary
    }


@pytest.fixture
def active_lake(lake: SparkSession) -> Iterator[None]:
    """The session is the active one meanwhile: Delta's streaming sink looks there, where the shared one is else."""
    context: Any = lake.sparkContext
    sessions = jvm_sessions(context._jvm)
    before = sessions.getActiveSession()
    session: Any = lake
    sessions.setActiveSession(session._jsparkSession)
    yield
    if before.isDefined():
        sessions.setActiveSession(before.get())
