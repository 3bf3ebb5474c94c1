"""Tables that Spark reads and writes by Hive's SerDes, in the session `hive`, whose metastore is Derby's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spark.sources.cases import Case, Family, sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = "SELECT * FROM VALUES (1, 'Oslo'), (2, 'Bergen') AS v(id, city)"


def loaded_files(spark: SparkSession, folder: Path) -> None:
    for name in ("plain.csv", "cut.csv"):
        (folder / name).write_text("7\u0001seven\n")
    spark.sql(f"LOAD DATA LOCAL INPATH '{folder}/plain.csv' INTO TABLE plain")


def loaded_partition(spark: SparkSession, folder: Path) -> None:
    spark.sql(f"LOAD DATA INPATH '{folder}/cut.csv' OVERWRITE INTO TABLE cut PARTITION (city = 'Oslo')")


HIVE = Family(
    "Hive",
    sql(
        "CREATE DATABASE hive LOCATION '{folder}/hive.db'",
        "USE hive",
        "CREATE TABLE plain (id INT, city STRING) STORED AS TEXTFILE",
        "CREATE TABLE cut (id INT) PARTITIONED BY (city STRING) STORED AS TEXTFILE",
        "SET hive.exec.dynamic.partition.mode = nonstrict",
    ),
    (
        Case("CREATE TABLE … STORED AS", sql("CREATE TABLE made (id INT, city STRING) STORED AS RCFILE")),
        Case("INSERT INTO", sql(f"INSERT INTO plain {ROWS}")),
        Case("INSERT OVERWRITE", sql("INSERT OVERWRITE TABLE made SELECT id + 1, upper(city) FROM plain")),
        Case(
            "INSERT INTO … PARTITION (city = …)", sql("INSERT INTO cut PARTITION (city = 'Oslo') SELECT id FROM plain")
        ),
        Case(
            "INSERT OVERWRITE, by rows", sql("INSERT OVERWRITE TABLE cut PARTITION (city) SELECT id, city FROM plain")
        ),
        Case("a query of it", sql("INSERT INTO plain SELECT id, lower(city) FROM cut WHERE city > 'C'")),
        Case("CREATE TABLE … STORED AS … AS", sql("CREATE TABLE picked STORED AS TEXTFILE AS SELECT id FROM plain")),
        Case(
            "CREATE TABLE … STORED AS PARQUET AS", sql("CREATE TABLE parquet STORED AS PARQUET AS SELECT id FROM plain")
        ),
        Case("INSERT INTO … STORED AS PARQUET", sql("INSERT INTO parquet SELECT id FROM parquet")),
        Case(
            "INSERT OVERWRITE LOCAL DIRECTORY",
            sql(
                "INSERT OVERWRITE LOCAL DIRECTORY '{folder}/local' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' "
                "SELECT id FROM plain"
            ),
        ),
        Case(
            "INSERT OVERWRITE DIRECTORY … STORED AS",
            sql("INSERT OVERWRITE DIRECTORY '{folder}/stored' STORED AS TEXTFILE SELECT city FROM plain"),
        ),
        Case(
            "INSERT OVERWRITE DIRECTORY USING",
            sql("INSERT OVERWRITE DIRECTORY '{folder}/used' USING json SELECT city FROM plain"),
        ),
        Case("LOAD DATA LOCAL INPATH", loaded_files),
        Case("LOAD DATA INPATH … OVERWRITE … PARTITION", loaded_partition),
        Case("ALTER TABLE … DROP PARTITION", sql("ALTER TABLE cut DROP PARTITION (city = 'Oslo')")),
        Case("TRUNCATE TABLE", sql("TRUNCATE TABLE made")),
        Case("DROP TABLE", sql("DROP TABLE made")),
    ),
    columns=True,
)
