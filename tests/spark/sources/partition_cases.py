"""Writes of partitioned folders and tables, and DDL that changes some of their partitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions

from spark.sources.cases import Case, Family, sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = "SELECT * FROM VALUES (1, 'Oslo'), (2, 'Bergen') AS v(id, city)"


def rows(spark: SparkSession) -> DataFrame:
    return spark.sql(ROWS).coalesce(1)


def by_a_literal(spark: SparkSession, folder: Path) -> None:
    frame = rows(spark).withColumn("day", functions.lit("2024-01-03"))
    frame.write.partitionBy("day", "city").parquet(str(folder / "by-day"))


def by_rows(spark: SparkSession, folder: Path) -> None:
    rows(spark).write.partitionBy("city").parquet(str(folder / "by-city"))


def into_a_folder(spark: SparkSession, folder: Path) -> None:
    rows(spark).drop("city").write.parquet(str(folder / "by-folder" / "day=2024-01-01" / "city=a%3Ab"))


def delta_by_rows(spark: SparkSession, folder: Path) -> None:
    rows(spark).write.format("delta").partitionBy("city").save(str(folder / "delta-by-city"))


def delta_replaced(spark: SparkSession, folder: Path) -> None:
    writer = rows(spark).where("id = 1").write.format("delta").mode("overwrite")
    writer.option("replaceWhere", "city = 'Oslo'").save(str(folder / "delta-by-city"))


def delta_deleted(spark: SparkSession, folder: Path) -> None:
    spark.sql(f"DELETE FROM delta.`{folder}/delta-by-city` WHERE city = 'Bergen'")


DAYS = (
    Case(
        "INSERT INTO … PARTITION (day = …, city = …)",
        sql("INSERT INTO days PARTITION (day = '2024-01-01', city = 'Oslo') SELECT 1"),
    ),
    Case(
        "INSERT INTO … PARTITION (day = …, city)", sql(f"INSERT INTO days PARTITION (day = '2024-01-02', city) {ROWS}")
    ),
    Case(
        "INSERT OVERWRITE … PARTITION (day = …, city = …)",
        sql("INSERT OVERWRITE days PARTITION (day = '2024-01-01', city = 'Oslo') SELECT 2"),
    ),
    Case(
        "ALTER TABLE … ADD PARTITION",
        sql(
            "ALTER TABLE days ADD PARTITION (day = '2024-01-04', city = 'Oslo') "
            "PARTITION (day = '2024-01-05', city = 'Oslo')"
        ),
    ),
    Case(
        "ALTER TABLE … RENAME PARTITION",
        sql(
            "ALTER TABLE days PARTITION (day = '2024-01-05', city = 'Oslo') "
            "RENAME TO PARTITION (day = '2024-01-06', city = 'Oslo')"
        ),
    ),
    Case(
        "ALTER TABLE … PARTITION SET LOCATION",
        sql("ALTER TABLE days PARTITION (day = '2024-01-06', city = 'Oslo') SET LOCATION '{folder}/elsewhere'"),
    ),
    Case("ALTER TABLE … DROP PARTITION", sql("ALTER TABLE days DROP PARTITION (day = '2024-01-04', city = 'Oslo')")),
    Case("TRUNCATE TABLE … PARTITION", sql("TRUNCATE TABLE days PARTITION (day = '2024-01-02')")),
    Case("MSCK REPAIR TABLE", sql("MSCK REPAIR TABLE days")),
    Case("ALTER TABLE … RECOVER PARTITIONS", sql("ALTER TABLE days RECOVER PARTITIONS")),
)

PARTITIONS = Family(
    "Partitions",
    sql("CREATE TABLE days (id INT, day STRING, city STRING) USING parquet PARTITIONED BY (day, city)"),
    (
        Case("partitionBy() with a literal for one column", by_a_literal),
        Case("partitionBy() of rows", by_rows),
        Case("save() into a partition's folder", into_a_folder),
        *DAYS,
        Case(
            "Iceberg, ALTER TABLE … ADD PARTITION FIELD",
            sql(
                "CREATE NAMESPACE IF NOT EXISTS ice.db",
                "CREATE TABLE ice.db.fields (id INT, day DATE) USING iceberg",
                "ALTER TABLE ice.db.fields ADD PARTITION FIELD months(day)",
                "INSERT INTO ice.db.fields VALUES (1, DATE '2024-01-31')",
            ),
        ),
        Case("Delta, partitionBy()", delta_by_rows),
        Case("Delta, replaceWhere", delta_replaced),
        Case("Delta, DELETE of a partition", delta_deleted),
    ),
)
