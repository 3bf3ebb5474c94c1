"""`mode("ignore")` and IF NOT EXISTS: the first write is emitted, the second writes nothing and emits nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark.sources.cases import sql
from spark.sources.watching import Watched, run_lines, short

if TYPE_CHECKING:
    from pyspark.sql import DataFrameWriter, SparkSession


pytestmark = pytest.mark.spark


def ignoring(spark: SparkSession) -> DataFrameWriter:
    # No rows at all: that there is something afterwards is what counts.
    return spark.sql("SELECT 1 AS id WHERE false").coalesce(1).write.mode("ignore")


# Derby comes with Spark.
JDBC, DERBY = "jdbc:derby:memory:ignored;create=true", "org.apache.derby.jdbc.EmbeddedDriver"
TABLE = "CREATE TABLE IF NOT EXISTS ignored_partition (id INT, day STRING) USING parquet PARTITIONED BY (day)"
INTO = "INSERT OVERWRITE ignored_partition PARTITION (day = '1') IF NOT EXISTS SELECT 1"

WRITES: dict[str, Callable[[SparkSession, Path], object]] = {
    "ignored-files": lambda s, f: ignoring(s).parquet(str(f / "ignored-files")),
    "ignored_table": lambda s, _: ignoring(s).format("parquet").saveAsTable("ignored_table"),
    "ignored_sql": lambda s, _: s.sql("CREATE TABLE IF NOT EXISTS ignored_sql USING parquet AS SELECT 1 AS id"),
    "ignored-delta": lambda s, f: ignoring(s).format("delta").save(str(f / "ignored-delta")),
    "ignored_delta_table": lambda s, _: ignoring(s).format("delta").saveAsTable("ignored_delta_table"),
    "ignored_jdbc": lambda s, _: ignoring(s).jdbc(JDBC, "ignored_jdbc", properties={"driver": DERBY}),
    "ignored_partition": lambda s, _: s.sql(INTO),
    "ignored_iceberg": sql(
        "CREATE NAMESPACE IF NOT EXISTS ice.db",
        "CREATE TABLE IF NOT EXISTS ice.db.ignored_iceberg USING iceberg AS SELECT 1 AS id",
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_only_the_first_is_emitted(watched: Watched, tmp_path: Path, name: str) -> None:
    watched.spark.sql(TABLE)
    watched.new_events()
    WRITES[name](watched.spark, tmp_path)
    first = watched.new_events()
    assert [line.split()[:2] for line in run_lines(first)] == [["wrote", name]]
    WRITES[name](watched.spark, tmp_path)
    second = watched.new_events()
    assert run_lines(second) == []
    assert [short(e.dataset_event.dataset.name) for e in second if e.dataset_event is not None] == []
