"""The statements that docs/sources-and-sinks.md lists: a title, and code to run in the `lake` session.

`setup` of a family runs once before its cases and isn't shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from spark.sources import rdd_cases as rdds

Step = Callable[[SparkSession, Path], Any]

MERGE = """
MERGE INTO {target} t USING (SELECT id, upper(name) AS name, n FROM {source} WHERE n > 0) s ON t.id = s.id
WHEN MATCHED AND s.n > 15 THEN UPDATE SET t.name = s.name
WHEN MATCHED AND s.n > 100 THEN DELETE
WHEN NOT MATCHED THEN INSERT (id, name, n) VALUES (s.id, s.name, s.n + 1)
WHEN NOT MATCHED BY SOURCE AND t.n < 0 THEN UPDATE SET t.n = 0
"""


@dataclass(frozen=True)
class Case:
    title: str
    run: Step
    columns: bool = False
    """True when its columns are in its golden, too."""


@dataclass(frozen=True)
class Family:
    name: str
    setup: Step
    cases: tuple[Case, ...]
    columns: bool = False
    """True when the columns of each case are in its golden, too."""


def sql(*statements: str) -> Step:
    def run(spark: SparkSession, folder: Path) -> None:
        for statement in statements:
            spark.sql(statement.replace("{folder}", str(folder)))

    return run


def nothing(_spark: SparkSession, _folder: Path) -> None:
    pass


ROWS = "SELECT * FROM VALUES (1, 'a', 10L), (2, 'b', 20L) AS v(id, name, n)"


def table_cases(provider: str, catalog: str) -> tuple[Case, ...]:
    """Cases of a Delta or an Iceberg table."""
    source, target = f"{catalog}source", f"{catalog}target"
    return (
        Case(
            "CREATE TABLE",
            # The second time it makes nothing, and nothing is emitted.
            sql(*[f"CREATE TABLE IF NOT EXISTS {target} (id INT, name STRING, n BIGINT) USING {provider}"] * 2),
        ),
        Case(
            "CREATE OR REPLACE TABLE",
            sql(*(f"CREATE OR REPLACE TABLE {catalog}replaced ({name} INT) USING {provider}" for name in "ab")),
        ),
        Case("CREATE TABLE AS", sql(f"CREATE TABLE {catalog}made USING {provider} AS SELECT id, n FROM {source}")),
        Case(
            "CREATE OR REPLACE TABLE AS",
            sql(f"CREATE OR REPLACE TABLE {catalog}made USING {provider} AS SELECT n FROM {source}"),
        ),
        Case("INSERT INTO", sql(f"INSERT INTO {target} SELECT * FROM {source}")),
        Case("INSERT OVERWRITE", sql(f"INSERT OVERWRITE {target} SELECT * FROM {source}")),
        Case("writeTo().append()", lambda s, _: s.table(source).writeTo(target).append()),
        Case("writeTo().overwrite()", lambda s, _: s.table(source).writeTo(target).overwrite(_all())),
        Case("writeTo().create()", lambda s, _: s.table(source).writeTo(f"{catalog}new").using(provider).create()),
        Case(
            "writeTo().createOrReplace()",
            lambda s, _: s.table(source).writeTo(f"{catalog}new").using(provider).createOrReplace(),
        ),
        Case("writeTo().replace()", lambda s, _: s.table(source).writeTo(f"{catalog}new").using(provider).replace()),
        Case("saveAsTable()", lambda s, _: s.table(source).write.format(provider).saveAsTable(f"{catalog}saved")),
        Case("insertInto()", lambda s, _: s.table(source).write.insertInto(target)),
        Case("MERGE", sql(MERGE.format(target=target, source=source)), columns=True),
        Case("UPDATE", sql(f"UPDATE {target} SET name = concat(name, 'x') WHERE n > 15"), columns=True),
        Case("DELETE", sql(f"DELETE FROM {target} WHERE n > 15"), columns=True),
        Case(
            "INSERT INTO … REPLACE WHERE",
            sql(
                f"INSERT INTO {target} REPLACE WHERE n > 5 SELECT id, upper(name) AS name, n FROM {source} WHERE n > 5"
            ),
            columns=True,
        ),
        Case("time travel", lambda s, f: _travel(s, source, f)),
        Case("ALTER TABLE ADD COLUMNS", sql(f"ALTER TABLE {target} ADD COLUMNS (z INT)")),
        Case("DROP TABLE", sql(f"DROP TABLE {catalog}new")),
    )


EVOLVING = """
MERGE INTO alike t USING (SELECT id, name, n, n + 1 AS more FROM source) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
"""


def _all() -> Any:
    from pyspark.sql import functions

    return functions.lit(True)


def _travel(spark: SparkSession, table: str, folder: Path) -> None:
    if "." in table:
        first = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1").first()
        assert first is not None
        frame = spark.sql(f"SELECT id FROM {table} VERSION AS OF {first.snapshot_id}")
    else:
        frame = spark.sql(f"SELECT id FROM {table} VERSION AS OF 0")
    frame.write.parquet(str(folder / f"travelled-{table}"))


def file_case(kind: str) -> Case:
    def run(spark: SparkSession, folder: Path) -> None:
        frame = spark.sql("SELECT CAST(id AS STRING) AS value FROM VALUES (1), (2), (3) AS v(id)")
        frame.coalesce(1).write.format(kind).save(str(folder / f"{kind}-in"))
        spark.read.format(kind).load(str(folder / f"{kind}-in")).write.format(kind).save(str(folder / f"{kind}-out"))

    return Case(kind, run)


def _partitions(spark: SparkSession, _folder: Path) -> None:
    spark.table("ice.db.source").writeTo("ice.db.parts").overwritePartitions()


def _delta_path(spark: SparkSession, folder: Path) -> None:
    path = str(folder / "path")
    spark.table("source").write.format("delta").partitionBy("id").save(path)
    spark.read.format("delta").load(path).write.format("delta").mode("append").save(path)


def _evolving(spark: SparkSession, _folder: Path) -> None:
    spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        spark.sql(EVOLVING)
    finally:
        spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")


def _changes(spark: SparkSession, folder: Path) -> None:
    spark.sql("CREATE TABLE fed (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    spark.sql("INSERT INTO fed VALUES (1)")
    spark.sql("SELECT id, _change_type FROM table_changes('fed', 0)").write.json(str(folder / "changes"))
    reader = spark.read.option("readChangeFeed", "true").option("startingVersion", 1).option("endingVersion", 1)
    reader.table("fed").write.json(str(folder / "changes-read"))


def _cached(spark: SparkSession, folder: Path) -> None:
    frame = spark.table("plain_source").cache()
    frame.write.json(str(folder / "first"))
    frame.write.json(str(folder / "second"))
    frame.unpersist()


def _jdbc(spark: SparkSession, folder: Path) -> None:
    # Derby comes with Spark.
    options = {"url": "jdbc:derby:memory:sources;create=true", "driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    rows = spark.sql("SELECT 1 AS id, 'x' AS name")
    rows.write.format("jdbc").options(**options, dbtable="people").save()
    spark.read.format("jdbc").options(**options, dbtable="people").load().write.json(str(folder / "from-jdbc"))


def _in_memory(spark: SparkSession, folder: Path) -> None:
    spark.createDataFrame([(1, "a")], "id INT, name STRING").createOrReplaceTempView("mine")
    spark.table("mine").write.json(str(folder / "from-memory"))


def _failing(spark: SparkSession, folder: Path) -> None:
    spark.sql(ROWS).coalesce(1).write.parquet(str(folder / "whole"))
    rows = spark.read.parquet(str(folder / "whole")).selectExpr("IF(id < 2, id, raise_error('enough')) AS id", "name")
    try:
        rows.write.parquet(str(folder / "half"))
    except Exception as error:  # noqa: BLE001 - PySpark has several for a failed task
        assert "enough" in str(error)  # noqa: PT017 - what is emitted of it is the test
    else:
        raise AssertionError("the write did not fail")


def _unknown(spark: SparkSession, _folder: Path) -> None:
    # Rows choose their topic, and there is no broker: that it was tried is emitted all the same.
    rows = spark.table("ice.db.source").selectExpr("name AS topic", "name AS value")
    writer = rows.write.format("kafka").option("kafka.bootstrap.servers", "localhost:1")
    try:
        writer.option("kafka.max.block.ms", "1").save()
    except Exception as error:  # noqa: BLE001 - whatever the connector calls it
        assert "kafka" in str(error).lower()  # noqa: PT017 - what is emitted of it is the test


FAMILIES = (
    Family(
        "Delta",
        sql(f"CREATE TABLE source USING delta AS {ROWS}"),
        (
            *table_cases("delta", ""),
            Case("CREATE TABLE LIKE", sql(*["CREATE TABLE IF NOT EXISTS alike LIKE source"] * 2)),
            Case(
                "ALTER TABLE ADD CONSTRAINT, COMMENT ON TABLE",
                sql("ALTER TABLE alike ADD CONSTRAINT c CHECK (id > 0)", "COMMENT ON TABLE alike IS 'like source'"),
            ),
            Case("MERGE that adds a column", _evolving, columns=True),
            Case("DELETE that meets no row", sql("DELETE FROM alike WHERE id = 77")),
            Case("table_changes(), readChangeFeed", _changes, columns=True),
            Case("save() and load() of a path", _delta_path),
            Case("ALTER TABLE RENAME", sql("ALTER TABLE made RENAME TO renamed")),
        ),
    ),
    Family(
        "Iceberg",
        sql(
            "CREATE NAMESPACE IF NOT EXISTS ice.db",
            f"CREATE TABLE ice.db.source USING iceberg AS {ROWS}",
            "CREATE TABLE ice.db.parts (id INT, name STRING, n BIGINT) USING iceberg PARTITIONED BY (id)",
            "CREATE TABLE ice.db.moving USING iceberg TBLPROPERTIES ('write.merge.mode'='merge-on-read', "
            "'write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read') "
            "AS SELECT * FROM ice.db.source",
        ),
        (
            *table_cases("iceberg", "ice.db."),
            Case(
                "ALTER TABLE CREATE BRANCH, WRITE ORDERED BY",
                sql("ALTER TABLE ice.db.source CREATE BRANCH b", "ALTER TABLE ice.db.source WRITE ORDERED BY id"),
            ),
            Case("writeTo().overwritePartitions()", _partitions),
            Case(
                "MERGE, merge-on-read",
                sql(MERGE.format(target="ice.db.moving", source="ice.db.source")),
                columns=True,
            ),
            Case(
                "UPDATE, merge-on-read",
                sql("UPDATE ice.db.moving SET name = lower(name) WHERE n > 15"),
                columns=True,
            ),
            Case("DELETE, merge-on-read", sql("DELETE FROM ice.db.moving WHERE n > 15"), columns=True),
        ),
    ),
    Family(
        "Tables",
        sql("CREATE TABLE plain_source USING parquet AS SELECT 1 AS id, 'a' AS name"),
        (
            Case("CREATE TABLE", sql(*["CREATE TABLE IF NOT EXISTS plain (id INT, name STRING) USING parquet"] * 2)),
            Case("CREATE TABLE AS", sql("CREATE TABLE plain_made USING parquet AS SELECT id FROM plain_source")),
            Case(
                "FROM … INSERT INTO … INSERT INTO …",
                sql(
                    "FROM plain_source INSERT INTO plain SELECT id, name INSERT INTO plain_made SELECT id WHERE id > 0"
                ),
                columns=True,
            ),
            Case("CREATE VIEW", sql(*["CREATE VIEW IF NOT EXISTS once AS SELECT id FROM plain"] * 2)),
            Case("INSERT INTO", sql("INSERT INTO plain SELECT * FROM plain_source")),
            Case(
                "a view", sql("CREATE VIEW seen AS SELECT id FROM plain", "INSERT INTO plain SELECT id, 'v' FROM seen")
            ),
            Case("INSERT INTO a table that is read", sql("INSERT INTO plain SELECT id + 1, name FROM plain")),
            Case("a cached frame, twice", _cached),
            Case("ALTER TABLE ADD COLUMNS", sql("ALTER TABLE plain ADD COLUMNS (z INT)")),
            Case("ALTER TABLE RENAME", sql("ALTER TABLE plain_source RENAME TO plain_renamed")),
            Case("TRUNCATE TABLE", sql("TRUNCATE TABLE plain")),
            Case("DROP TABLE", sql("DROP TABLE plain")),
        ),
    ),
    Family(
        "Others",
        nothing,
        (
            Case("JDBC", _jdbc),
            Case("rows made in the program", _in_memory),
            Case("a write that fails halfway", _failing),
            Case("a sink that isn't known", _unknown),
        ),
    ),
    Family(
        "RDDs",
        rdds.prepared,
        (
            Case("localCheckpoint()", rdds.local_checkpoint),
            Case("checkpoint()", rdds.checkpoint),
            Case("a checkpointed frame joined with itself", rdds.joined_with_itself),
            Case("createDataFrame(frame.rdd.map(…))", rdds.by_way_of_an_rdd),
            Case("a temporary view of createDataFrame(frame.rdd.map(…))", rdds.by_way_of_a_named_rdd),
            Case("createDataFrame(frame.collect()), createDataFrame(frame.toPandas())", rdds.collected),
            Case("VALUES joined with itself, range()", rdds.of_constants),
            Case("createDataFrame of RDDs put together", rdds.shuffled_rdds),
            Case("createDataFrame(sc.textFile(…))", rdds.text_file),
            Case("foreachPartition()", rdds.each_partition),
            Case("foreach()", rdds.each_row),
            Case("rdd.saveAsTextFile()", rdds.saved_as_text),
            Case("rdd.saveAsNewAPIHadoopFile(), saveAsPickleFile()", rdds.saved_as_hadoop_files),
            Case("foreachPartition() that fails", rdds.failing),
        ),
        columns=True,
    ),
    Family(
        "Python",
        rdds.python_source,
        (
            Case("read of a Python data source", rdds.python_read),
            Case("read of one at a path", rdds.python_read_at_a_path),
            Case("append to one", rdds.python_written),
            Case("overwrite of one at a path", rdds.python_replaced),
        ),
        columns=True,
    ),
    Family("Files", nothing, tuple(file_case(kind) for kind in ("parquet", "csv", "json", "orc", "text", "avro"))),
)
