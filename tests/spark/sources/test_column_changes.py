"""Columns that DDL renames and drops: what is reported, and that the values go with the names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from headwater_schemas.events import LifecycleChange
from headwater_schemas.facets import COLUMNS_FACET
from spark.sources.watching import Watched
from support.gate import first_in_gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
COLUMNS = (
    "id INT, nm STRING, `a.b` INT, addr STRUCT<zip: STRING, no: INT>, legs ARRAY<STRUCT<`element`: INT>>, "
    "m MAP<STRING, STRUCT<v: INT>>"
)
ROW = "1, 'n', 2, named_struct('zip', 'z', 'no', 1), array(named_struct('element', 3)), map('k', named_struct('v', 4))"
RENAMES = {
    "nm TO full_name": ("nm", "full_name"),
    "`a.b` TO `a.c`": ("`a.b`", "`a.c`"),
    "addr.zip TO post": ("addr.zip", "addr.post"),
    "addr TO address": ("addr", "address"),
    "legs.element.element TO leg": ("legs.[].element", "legs.[].leg"),
    "m.value.v TO w": ("m.{}.v", "m.{}.w"),
}


def changed(watched: Watched) -> list[Any]:
    """The facets of the ALTERs since the last question."""
    bodies = [event.dataset_event for event in watched.new_events() if event.dataset_event is not None]
    return [
        msgspec.json.decode(body.facets.get(COLUMNS_FACET, "null"))
        for body in bodies
        if body.lifecycle is LifecycleChange.ALTER
    ]


def value(spark: SparkSession, table: str, expression: str) -> object:
    return spark.sql(f"SELECT {expression} FROM {table}").collect()[0][0]


@pytest.mark.parametrize("table", first_in_gate(1, ["ice.db.columns_mapped", "columns_mapped"]))
def test_what_is_renamed_and_dropped(watched: Watched, table: str) -> None:
    spark = watched.spark
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING {f'delta {MAPPED}' if table == 'columns_mapped' else 'iceberg'}")
    spark.sql(f"INSERT INTO {table} SELECT {ROW}")
    watched.new_events()
    for renamed, (before, after) in RENAMES.items():
        spark.sql(f"ALTER TABLE {table} RENAME COLUMN {renamed}")
        assert changed(watched) == [{"renamed": [{"previous": before, "path": after}]}], renamed
    assert value(spark, table, "concat(full_name, `a.c`, address.post, legs[0].leg, m['k'].w)") == "n2z34"
    spark.sql(f"ALTER TABLE {table} DROP COLUMNS (full_name, address.post, `a.c`)")
    assert changed(watched) == [{"dropped": ["full_name", "address.post", "`a.c`"]}]
    spark.sql(f"ALTER TABLE {table} DROP COLUMN IF EXISTS none_of_it")
    assert changed(watched) == [None]
    spark.sql(f"ALTER TABLE {table} ADD COLUMN full_name STRING")
    assert changed(watched) == [None]
    assert value(spark, table, "full_name") is None
    spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize("format_", first_in_gate(1, ["iceberg", "delta"]))
def test_columns_that_are_replaced(watched: Watched, format_: str) -> None:
    spark, table = watched.spark, f"{'ice.db.' * (format_ == 'iceberg')}columns_replaced"
    spark.sql(f"CREATE TABLE {table} (id INT, label STRING) USING {format_}")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x')")
    watched.new_events()
    spark.sql(f"ALTER TABLE {table} REPLACE COLUMNS (id INT, label STRING, more INT)")
    has_the_values = value(spark, table, "label") == "x"
    assert changed(watched) == [None if has_the_values else {"dropped": ["id", "label"]}]
    assert has_the_values == (format_ == "delta")
    spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize("format_", first_in_gate(1, ["iceberg", "delta"]))
def test_columns_of_a_table_that_is_replaced(watched: Watched, format_: str) -> None:
    spark, table = watched.spark, f"{'ice.db.' * (format_ == 'iceberg')}table_replaced"
    definition = "(id INT, `a.b` INT, s STRUCT<x: INT>)"
    spark.sql(f"CREATE OR REPLACE TABLE {table} {definition} USING {format_}")
    spark.sql(f"INSERT INTO {table} SELECT 1, 2, named_struct('x', 3)")
    # Nothing is dropped by the first, which makes the table.
    bodies = [event.dataset_event for event in watched.new_events() if event.dataset_event is not None]
    assert [body for body in bodies if COLUMNS_FACET in body.facets] == []
    spark.sql(f"CREATE OR REPLACE TABLE {table} {definition} USING {format_}")
    assert spark.table(table).count() == 0
    bodies = [event.dataset_event for event in watched.new_events() if event.dataset_event is not None]
    found = [(body.lifecycle, msgspec.json.decode(body.facets[COLUMNS_FACET])) for body in bodies]
    assert found == [(LifecycleChange.OVERWRITE, {"dropped": ["id", "`a.b`", "s"]})]
    spark.sql(f"DROP TABLE {table}")
