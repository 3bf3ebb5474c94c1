"""Tables that the lineage cases read, made once and empty: lineage needs no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "people": "id INT, name STRING, email STRING, city STRING, age INT, salary DOUBLE, born DATE",
    "orders": "id INT, person_id INT, amount DOUBLE, item STRING, at TIMESTAMP",
    "cities": "city STRING, country STRING",
    "trips": (
        "id INT, address STRUCT<street: STRING, geo: STRUCT<lat: DOUBLE, lon: DOUBLE>>, tags ARRAY<STRING>, "
        "legs ARRAY<STRUCT<origin: STRING, dest: STRING>>, marks MAP<STRING, INT>, payload STRING"
    ),
}


@pytest.fixture(scope="session")
def tables(spark: SparkSession) -> SparkSession:
    """The session, with the tables of `TABLES`."""
    for name, columns in TABLES.items():
        spark.sql(f"CREATE TABLE {name} ({columns}) USING parquet")
    return spark
