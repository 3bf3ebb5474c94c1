"""Iceberg writes whose driver is gone, in catalogs that alone know which metadata of a table are current."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark.connectors.iceberg.catalog_metadata import CatalogMetadata
from headwater_producers.spark.events.left_writes import LeftWrite, WriteFate, WriteTarget
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.left_writes.left_tables import became_of
from headwater_schemas.events import Certainty, DatasetRef, JobRef
from support.capture import snapshot_of
from support.hive_metastore import hive_metastore
from support.iceberg_rest import rest_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(240)]


@pytest.fixture(params=["rest", pytest.param("hive", marks=pytest.mark.nightly), "memory"])
def catalog(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Name of an Iceberg catalog with the namespace `shop`; another one's server is down."""
    name = f"left_{request.param}"
    prefix = f"spark.sql.catalog.{name}"
    warehouse = str(tmp_path / "warehouse")
    with ExitStack() as stack:
        if request.param == "rest":
            conf = {"type": "rest", "uri": stack.enter_context(rest_catalog(spark, warehouse))}
        elif request.param == "hive":
            uri = stack.enter_context(hive_metastore(tmp_path / "metastore"))
            conf = {"type": "hive", "uri": uri, "warehouse": warehouse}
            conf["hadoop.iceberg.engine.hive.lock-enabled"] = "false"
        else:
            conf = {"catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog", "warehouse": warehouse}
        conf = {f"{prefix}.{key}": value for key, value in conf.items()}
        down = "spark.sql.catalog.a_server_that_is_down"
        conf |= {f"{down}.type": "rest", f"{down}.uri": "http://127.0.0.1:9", down: f"{_ICEBERG}.SparkCatalog"}
        for key, value in {**conf, prefix: f"{_ICEBERG}.SparkCatalog"}.items():
            spark.conf.set(key, value)
            stack.callback(spark.conf.unset, key)
        spark.sql(f"CREATE NAMESPACE {name}.shop")
        yield name


_ICEBERG = "org.apache.iceberg.spark"


def write(spark: SparkSession, location: str, began: datetime, **fields: Any) -> LeftWrite:
    known: dict[str, Any] = {
        "tenant": "default",
        "job": JobRef("default", "daily.orders"),
        "run_id": "run-1",
        "started_at": began,
        "seen_at": datetime.now(UTC),
        "application": spark.sparkContext.applicationId,
        "app_run": "app-run",
        "targets": (WriteTarget(dataset=DatasetRef("file", location), format="iceberg", names=("shop.orders",)),),
    }
    return LeftWrite(**(known | fields))


def location_of(spark: SparkSession, table: str) -> str:
    [text] = [row.data_type for row in spark.sql(f"DESCRIBE EXTENDED {table}").collect() if row.col_name == "Location"]
    return str(text).removeprefix("file:")


def test_a_snapshot_is_found_by_the_catalog_that_has_it(spark: SparkSession, catalog: str) -> None:
    spark.sql(f"CREATE TABLE {catalog}.shop.orders (id INT) USING iceberg")
    location = location_of(spark, f"{catalog}.shop.orders")
    current = CatalogMetadata(spark)
    began = datetime.now(UTC)
    assert became_of(write(spark, location, began), LocalTextFiles(), current).verdict is WriteFate.NOTHING

    spark.sql(f"INSERT INTO {catalog}.shop.orders VALUES (1), (2)")
    found = became_of(write(spark, location, began), LocalTextFiles(), current)
    assert (found.verdict, found.certainty, found.counts.rows) == (WriteFate.COMMITTED, Certainty.INFERRED, 2)
    snapshot = snapshot_of(found.position).snapshot_id
    assert spark.sql(f"SELECT * FROM {catalog}.shop.orders VERSION AS OF {snapshot}").count() == 2

    elsewhere = WriteTarget(dataset=DatasetRef("file", f"{location}2"), format="iceberg", names=("shop.orders",))
    another = became_of(write(spark, location, began, targets=(elsewhere,)), LocalTextFiles(), current)
    assert another.verdict is WriteFate.UNKNOWN, "the table of that name lies elsewhere, and a server doesn't answer"
    spark.sql(f"DROP TABLE {catalog}.shop.orders")
    gone = became_of(write(spark, location, began), LocalTextFiles(), current)
    # Another catalog, which may have it, doesn't answer.
    assert (gone.verdict, "can't be read" in gone.reason) == (WriteFate.UNKNOWN, True)
