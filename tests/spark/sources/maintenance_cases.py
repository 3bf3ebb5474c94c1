"""Delta's commands that write a table without a query of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark.sources.cases import Case, Family, sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_SIZE = "spark.databricks.delta.optimize.batchSize"


def in_batches(spark: SparkSession, _folder: Path) -> None:
    """Under a size that every partition exceeds: each is a commit of its own."""
    for number in range(2):
        spark.sql(f"INSERT INTO cut_up VALUES ({number}, 'Oslo'), ({number}, 'Bergen')")
    spark.conf.set(BATCH_SIZE, "1")
    try:
        spark.sql("OPTIMIZE cut_up")
    finally:
        spark.conf.unset(BATCH_SIZE)


def folder_converted(spark: SparkSession, folder: Path) -> None:
    path = folder / "to-convert"
    spark.sql("SELECT 1 AS id, 'Oslo' AS city").write.partitionBy("city").parquet(str(path))
    for _ in range(2):
        # What is converted already stays as it is.
        spark.sql(f"CONVERT TO DELTA parquet.`{path}` PARTITIONED BY (city STRING)")


def by_delta_table(spark: SparkSession, folder: Path) -> None:
    """The methods of `delta.tables.DeltaTable`, which are those of the JVM's class."""
    jvm: Any = spark._jvm
    table = jvm.io.delta.tables.DeltaTable.forName(spark._jsparkSession, "cut_up")
    table.delete("id = 0")
    spark.sql("INSERT INTO cut_up VALUES (2, 'Oslo')")
    table.optimize().executeCompaction()
    table.vacuum()


MAINTENANCE = Family(
    "Maintenance",
    sql(
        "CREATE TABLE kept (id INT, s STRUCT<a: STRING, b: INT>) USING delta",
        "INSERT INTO kept VALUES (1, struct('a', 1))",
        "INSERT INTO kept VALUES (2, struct('b', 2))",
        "CREATE TABLE cut_up (id INT, city STRING) USING delta PARTITIONED BY (city)",
        "CREATE TABLE of_files USING parquet AS SELECT 1 AS id",
        "CREATE TABLE marked (id INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO marked SELECT CAST(id AS INT) FROM range(0, 10, 1, 1)",
        "DELETE FROM marked WHERE id = 3",
    ),
    (
        Case("OPTIMIZE", sql("OPTIMIZE kept")),
        Case(
            "OPTIMIZE … ZORDER BY", sql("INSERT INTO kept VALUES (3, struct('c', 3))", "OPTIMIZE kept ZORDER BY (id)")
        ),
        Case("OPTIMIZE in several commits", in_batches),
        Case(
            "REORG TABLE … APPLY (PURGE)", sql("REORG TABLE marked APPLY (PURGE)", "REORG TABLE marked APPLY (PURGE)")
        ),
        Case("RESTORE TABLE … TO VERSION AS OF", sql("RESTORE TABLE kept TO VERSION AS OF 1")),
        Case("VACUUM", sql("VACUUM kept DRY RUN", "VACUUM kept")),
        Case("CONVERT TO DELTA, a folder, twice", folder_converted),
        Case("CONVERT TO DELTA, a table", sql("CONVERT TO DELTA default.of_files"), columns=True),
        Case("DeltaTable: delete(), optimize(), vacuum()", by_delta_table),
        Case("CREATE TABLE … SHALLOW CLONE", sql("CREATE TABLE cloned SHALLOW CLONE kept"), columns=True),
        Case(
            "CREATE OR REPLACE TABLE … SHALLOW CLONE … VERSION AS OF",
            sql("CREATE OR REPLACE TABLE cloned_again SHALLOW CLONE kept VERSION AS OF 1"),
        ),
        Case("SHALLOW CLONE to a path", sql("CREATE TABLE delta.`{folder}/cloned-path` SHALLOW CLONE kept")),
    ),
)
