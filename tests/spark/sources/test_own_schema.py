"""The schema of a dataset is its own: not what one reader, or one write, happens to touch of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from headwater.stack.spark import installed_release
from headwater_producers.spark.execution import describe
from headwater_schemas.events import LineageEvent
from spark.sources.cases import Step
from spark.sources.watching import Watched

pytestmark = pytest.mark.spark

ROWS = "SELECT * FROM VALUES (1, 'a', 10L), (2, 'b', 20L) AS v(id, name, n)"


@pytest.fixture(scope="module")
def folder(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The datasets `parquet`, `csv` and `delta`, and the tables `own_delta` and `ice.db.own`, of id, name and n."""
    spark, folder = watched.spark, tmp_path_factory.mktemp("own")
    rows = spark.sql(ROWS).coalesce(1)
    rows.write.partitionBy("n").parquet(str(folder / "parquet"))
    rows.write.option("header", "true").csv(str(folder / "csv"))
    if "delta" in installed_release().modules:
        rows.write.format("delta").save(str(folder / "delta"))
        rows.write.format("delta").saveAsTable("own_delta")
    if "iceberg" in installed_release().modules:
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        rows.writeTo("ice.db.own").tableProperty("write.spark.accept-any-schema", "true").create()
    watched.new_events()
    return folder


def columns(events: list[LineageEvent]) -> dict[str, list[str]]:
    """The emitted columns of each dataset, by the last part of its name; of a dataset without a schema none."""
    emitted = {}
    for event in events:
        body = event.dataset_event
        if body is not None:
            emitted[body.dataset.name.rsplit("/", 1)[-1]] = [f.path for f in body.schema.fields] if body.schema else []
    return emitted


Read = Callable[[SparkSession, Path], DataFrame]
ALL = ["id", "name", "n"]

READ: dict[str, tuple[Read, list[str] | None]] = {
    "whole": (lambda s, f: s.read.parquet(str(f / "parquet")), ALL),
    "by a schema of the reader's": (lambda s, f: s.read.schema("id INT").parquet(str(f / "parquet")), None),
    "one partition's folder": (lambda s, f: s.read.parquet(str(f / "parquet/n=10")), None),
    "CSV by its header": (lambda s, f: s.read.option("header", "true").csv(str(f / "csv")), ALL),
    "CSV without its header": (lambda s, f: s.read.csv(str(f / "csv")), None),
    "CSV by the reader's schema": (lambda s, f: s.read.schema("a INT").csv(str(f / "csv")), ["a"]),
    "CSV as text": (lambda s, f: s.read.text(str(f / "csv")), None),
    "Delta": (lambda s, f: s.read.format("delta").load(str(f / "delta")), ALL),
    "Delta's first version": (
        lambda s, f: s.read.format("delta").option("versionAsOf", 0).load(str(f / "delta")),
        None,
    ),
    "Iceberg": (lambda s, _: s.table("ice.db.own"), ALL),
    "Iceberg's first snapshot": (
        lambda s, _: s.sql(f"SELECT * FROM ice.db.own VERSION AS OF {_first_snapshot(s)}"),
        None,
    ),
}


def _first_snapshot(spark: SparkSession) -> int:
    first = spark.sql("SELECT snapshot_id FROM ice.db.own.snapshots ORDER BY committed_at").first()
    assert first is not None
    return int(first["snapshot_id"])


@pytest.mark.parametrize("name", READ)
def test_a_reader_that_sees_a_part_emits_no_schema(watched: Watched, folder: Path, name: str) -> None:
    read, expected = READ[name]
    frame: Any = read(watched.spark, folder).limit(1)
    [source] = describe(frame._jdf.queryExecution(), session=watched.spark).inputs
    assert (None if source.schema is None else [field.path for field in source.schema.fields]) == expected


WRITTEN: dict[str, tuple[str, Step, list[str]]] = {
    "one partition's folder": (
        "parquet",
        lambda s, f: s.sql("SELECT 3 AS id, 'c' AS name").write.mode("append").parquet(str(f / "parquet/n=10")),
        [],
    ),
    "some columns of a Delta table": (
        "own_delta",
        lambda s, _: s.sql("INSERT INTO own_delta (id) VALUES (3)"),
        ["id", "name", "n"],
    ),
    "columns that a Delta folder hasn't got": (
        "delta",
        lambda s, f: (
            s.sql("SELECT 3 AS id, 4 AS more")
            .write.mode("append")
            .option("mergeSchema", "true")
            .format("delta")
            .save(str(f / "delta"))
        ),
        ["id", "name", "n", "more"],
    ),
    "columns that an Iceberg table hasn't got": (
        "own",
        lambda s, _: (
            s.sql("SELECT 3 AS id, 'c' AS name, 30L AS n, 4 AS more")
            .writeTo("ice.db.own")
            .option("mergeSchema", "true")
            .append()
        ),
        ["id", "name", "n", "more"],
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_write_leaves_the_table_its_columns(watched: Watched, folder: Path, name: str) -> None:
    dataset, write, expected = WRITTEN[name]
    write(watched.spark, folder)
    assert columns(watched.new_events()).get(dataset, expected) == expected


def test_icebergs_metadata_tables_are_not_the_table(watched: Watched, folder: Path, tmp_path: Path) -> None:
    watched.spark.table("ice.db.own.snapshots").select("operation").write.parquet(str(tmp_path / "operations"))
    new_events = watched.new_events()
    emitted = columns(new_events)
    assert "own" not in emitted
    assert {"snapshot_id", "operation"} < set(emitted["own.snapshots"])
    [lineage] = [event.plan_event.lineage for event in new_events if event.plan_event is not None]
    assert {dataset.name.rsplit("/", 1)[-1] for dataset in lineage.datasets} == {"operations", "own.snapshots"}
