"""INSERT by position, by name, by a list of columns; defaults, partitions, buckets, views: what each column gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.execution import describe
from spark.plan.goldens import check, edge_lines
from spark.plan.listener import executions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# What is written to, made anew for each statement as `target`.
TARGET = "CREATE TABLE target (place STRING, land STRING, n INT DEFAULT 7) USING parquet"
BUCKETED = f"{TARGET} CLUSTERED BY (place) INTO 2 BUCKETS"
PARTITIONED = f"{TARGET} PARTITIONED BY (land)"
NESTED = "CREATE TABLE target (id INT, s STRUCT<a: STRING, b: STRUCT<c: STRING, d: BIGINT>>) USING parquet"

CASES = {
    "insert by position": (TARGET, "INSERT INTO target SELECT country, city, 1 FROM cities"),
    "insert by name": (TARGET, "INSERT INTO target BY NAME SELECT 1 AS n, country AS land, city AS place FROM cities"),
    "insert into a list of columns": (TARGET, "INSERT INTO target (land, place) SELECT country, city FROM cities"),
    "insert into a bucketed table": (BUCKETED, "INSERT INTO target SELECT name, city, age FROM people"),
    "insert into a dynamic partition": (
        PARTITIONED,
        "INSERT OVERWRITE target PARTITION (land) SELECT name, age, city FROM people",
    ),
    "insert from a table": (TARGET, "INSERT INTO target TABLE default.insert_source"),
    "insert values": (TARGET, "INSERT INTO target VALUES ('Oslo', 'NO', 1)"),
    "insert structs by position": (
        NESTED,
        "INSERT INTO target SELECT id, named_struct('x', name, 'y', named_struct('z', city, 'd', age)) FROM people",
    ),
}


@pytest.mark.parametrize("title", CASES)
def test_lineage(tables: SparkSession, title: str) -> None:
    target, statement = CASES[title]
    tables.sql("CREATE TABLE IF NOT EXISTS insert_source (a STRING, b STRING, c INT) USING parquet")
    tables.sql("DROP TABLE IF EXISTS target")
    tables.sql(target)
    with executions(tables) as found:
        tables.sql(statement)
    tables.sql("DROP TABLE target")  # with its folder, which other suites' tables of that name would find
    described = [d for d in (describe(execution, session=tables) for execution in found) if d.outputs]
    (written,) = described
    assert written.lineage.complete
    check("writes", title, edge_lines(written.lineage))


def test_a_table_that_is_there_is_not_made_again(tables: SparkSession) -> None:
    tables.sql("DROP TABLE IF EXISTS made_once")
    with executions(tables) as found:
        for _ in range(2):
            tables.sql("CREATE TABLE IF NOT EXISTS made_once USING parquet AS SELECT city FROM cities")
    descriptions = [describe(execution, session=tables) for execution in found]
    made = [d.outputs for d in descriptions if d.command == "CreateDataSourceTableAsSelectCommand"]
    assert [len(outputs) for outputs in made] == [1, 0]
    tables.sql("DROP TABLE made_once")
