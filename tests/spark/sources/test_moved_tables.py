"""A table that its catalog renames, or lets lie elsewhere, is one dataset through it all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headwater_schemas.events import DatasetEvent, DatasetRef, LifecycleChange, LineageEvent
from spark.sources.watching import Watched
from support.glue import glue
from support.hive_metastore import hive_metastore
from support.iceberg_rest import rest_catalog

pytestmark = pytest.mark.spark


def changes(events: list[LineageEvent]) -> list[DatasetEvent]:
    return [event.dataset_event for event in events if event.dataset_event and event.dataset_event.lifecycle]


def names(event: DatasetEvent) -> list[str]:
    return [link.name for link in event.symlinks or ()]


def symlinks(event: DatasetEvent) -> list[DatasetRef]:
    return [DatasetRef(link.namespace, link.name) for link in event.symlinks or ()]


def written(watched: Watched) -> list[DatasetRef]:
    """Datasets that runs wrote since the last question."""
    ends = [event.run_event for event in watched.new_events() if event.run_event and event.run_event.outputs]
    return [use.dataset for end in ends for use in end.outputs]


def test_a_table_of_spark_goes_on_where_it_lies_now(watched: Watched, tmp_path: Path) -> None:
    spark, first, second = watched.spark, tmp_path / "first", tmp_path / "second"
    spark.sql(f"CREATE TABLE moving (id INT) USING parquet LOCATION '{first}'")
    spark.sql("INSERT INTO moving VALUES (1)")
    watched.new_events()
    spark.sql(f"ALTER TABLE moving SET LOCATION '{second}'")
    [moved] = changes(watched.new_events())
    assert (moved.lifecycle, moved.previous) == (LifecycleChange.RENAME, DatasetRef("file", str(first)))
    assert (moved.dataset, names(moved)) == (DatasetRef("file", str(second)), ["default.moving"])
    # Where it lies already.
    spark.sql(f"ALTER TABLE moving SET LOCATION '{second}'")
    [again] = changes(watched.new_events())
    assert (again.lifecycle, again.previous, again.dataset) == (LifecycleChange.ALTER, None, moved.dataset)
    spark.sql("DROP TABLE moving")
    [dropped] = changes(watched.new_events())
    assert (dropped.lifecycle, dropped.dataset) == (LifecycleChange.DROP, moved.dataset)


def test_a_table_of_iceberg_too(watched: Watched, tmp_path: Path) -> None:
    spark = watched.spark
    for key, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
        ".warehouse": str(tmp_path / "warehouse"),
    }.items():
        spark.conf.set(f"spark.sql.catalog.mem{key}", value)
    spark.sql("CREATE NAMESPACE mem.shop")
    spark.sql("CREATE TABLE mem.shop.orders (id INT) USING iceberg")
    [made] = changes(watched.new_events())
    spark.sql("ALTER TABLE mem.shop.orders RENAME TO shop.sales")
    [renamed] = changes(watched.new_events())
    # It lies where it lay.
    assert (renamed.lifecycle, renamed.dataset, names(renamed)) == (LifecycleChange.ALTER, made.dataset, ["shop.sales"])
    elsewhere = tmp_path / "elsewhere"
    spark.sql(f"ALTER TABLE mem.shop.sales SET LOCATION '{elsewhere}'")
    [moved] = changes(watched.new_events())
    assert (moved.lifecycle, moved.previous) == (LifecycleChange.RENAME, made.dataset)
    assert (moved.dataset, names(moved)) == (DatasetRef("file", str(elsewhere)), ["shop.sales"])
    spark.sql("INSERT INTO mem.shop.sales VALUES (1)")
    assert written(watched) == [moved.dataset]


@pytest.mark.nightly
def test_a_table_of_a_rest_catalog_too(watched: Watched, tmp_path: Path) -> None:
    with rest_catalog(watched.spark, str(tmp_path / "warehouse")) as uri:
        moved_in(
            watched,
            "rest",
            {"type": "rest", "uri": uri},
            lambda name: DatasetRef(uri, f"shop.{name}"),
            tmp_path / "elsewhere",
        )


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_a_table_of_a_hive_metastore_too(watched: Watched, tmp_path: Path) -> None:
    with hive_metastore(tmp_path / "metastore") as uri:
        settings = {
            "type": "hive",
            "uri": uri,
            "warehouse": str(tmp_path / "warehouse"),
            "hadoop.iceberg.engine.hive.lock-enabled": "false",
        }
        namespace = uri.replace("thrift://", "hive://")
        moved_in(watched, "hms", settings, lambda name: DatasetRef(namespace, f"shop.{name}"), tmp_path / "elsewhere")


@pytest.mark.study
@pytest.mark.timeout(240)
def test_a_table_of_glue_too(watched: Watched, tmp_path: Path) -> None:
    """With what neither the project nor its tests need otherwise: moto, and Iceberg's bundle of AWS.

    PYSPARK_SUBMIT_ARGS="--packages org.apache.iceberg:iceberg-aws-bundle:1.10.1 pyspark-shell" \\
        uv run --with "moto[server]" pytest -n0 -m study -k glue tests/spark/sources/test_moved_tables.py
    """
    with glue(watched.spark) as endpoint:
        settings = {
            "type": "glue",
            "glue.id": "123456789012",
            "glue.endpoint": endpoint,
            "client.region": "eu-west-1",
            "warehouse": str(tmp_path / "warehouse"),
            "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
        }
        arn = "arn:aws:glue:eu-west-1:123456789012"
        moved_in(watched, "aws", settings, lambda name: DatasetRef(arn, f"table/shop/{name}"), tmp_path / "elsewhere")


def moved_in(
    watched: Watched, catalog: str, settings: dict[str, str], called: Callable[[str], DatasetRef], elsewhere: Path
) -> None:
    """A table of an Iceberg catalog is one dataset through all that moves it.

    Args:
        watched: a session.
        catalog: its name in the session.
        settings: of the catalog.
        called: what it calls a table of the database `shop`.
        elsewhere: where the table is moved.
    """
    orders, sales = (called(name) for name in ("orders", "sales"))
    spark = watched.spark
    spark.conf.set(f"spark.sql.catalog.{catalog}", "org.apache.iceberg.spark.SparkCatalog")
    for key, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.{catalog}.{key}", value)
    spark.sql(f"CREATE NAMESPACE {catalog}.shop")
    spark.sql(f"CREATE TABLE {catalog}.shop.orders (id INT) USING iceberg")
    [made] = changes(watched.new_events())
    assert symlinks(made) == [orders]
    spark.sql(f"INSERT INTO {catalog}.shop.orders VALUES (1)")
    assert written(watched) == [made.dataset]
    spark.sql(f"ALTER TABLE {catalog}.shop.orders RENAME TO shop.sales")
    [renamed] = changes(watched.new_events())
    # It lies where it lay.
    assert (renamed.lifecycle, renamed.dataset) == (LifecycleChange.ALTER, made.dataset)
    assert symlinks(renamed) == [sales]
    spark.sql(f"ALTER TABLE {catalog}.shop.sales SET LOCATION '{elsewhere}'")
    [moved] = changes(watched.new_events())
    assert (moved.lifecycle, moved.previous) == (LifecycleChange.RENAME, made.dataset)
    assert (moved.dataset, symlinks(moved)) == (DatasetRef("file", str(elsewhere)), [sales])
    spark.sql(f"INSERT INTO {catalog}.shop.sales VALUES (2)")
    assert written(watched) == [moved.dataset]
    spark.sql(f"DROP TABLE {catalog}.shop.sales")
    [dropped] = changes(watched.new_events())
    assert (dropped.lifecycle, dropped.dataset) == (LifecycleChange.DROP, moved.dataset)
