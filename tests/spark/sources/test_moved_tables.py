"""A table that its catalog renames, or lets lie elsewhere, is one dataset through it all."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater_schemas.events import DatasetEvent, DatasetRef, LifecycleChange, LineageEvent
from spark.sources.watching import Watched

pytestmark = pytest.mark.spark


def changes(events: list[LineageEvent]) -> list[DatasetEvent]:
    return [event.dataset_event for event in events if event.dataset_event and event.dataset_event.lifecycle]


def names(event: DatasetEvent) -> list[str]:
    return [link.name for link in event.symlinks or ()]


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
    [end] = [event.run_event for event in watched.new_events() if event.run_event and event.run_event.outputs]
    assert [use.dataset for use in end.outputs] == [moved.dataset]
