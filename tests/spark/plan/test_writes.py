"""Descriptions of a real session's write commands: datasets, modes, schemas, columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.jdbc import _tables_of
from headwater_producers.spark.execution import describe
from headwater_producers.spark.explain import explain_lineage
from headwater_producers.spark.jvm.size import estimated_bytes
from headwater_producers.spark.jvm.versions import WRAPPING_COMMANDS
from headwater_producers.spark.plan import PlanDescription, PlanOutput, PlanSettings, SourceKind, WriteMode
from headwater_schemas.events import Certainty, DatasetRef, LifecycleChange
from spark.plan.goldens import check, edge_lines, lines
from spark.plan.listener import executions
from support.capture import files_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def described(spark: SparkSession, write: Callable[[], object]) -> list[PlanDescription]:
    """Descriptions of the commands that `write` runs."""
    with executions(spark) as found:
        write()
    return [d for d in (describe(execution, session=spark) for execution in found) if d.command]


def only(descriptions: list[PlanDescription]) -> tuple[PlanDescription, PlanOutput]:
    (description,) = descriptions
    (output,) = description.outputs
    return description, output


def fields(output: PlanOutput) -> list[tuple[str, str | None]]:
    assert output.schema is not None
    return [(field.path, field.type) for field in output.schema.fields]


def test_overwriting_partitioned_files(tables: SparkSession, tmp_path: Path) -> None:
    frame = tables.sql("SELECT id, upper(name) AS name, city FROM people WHERE age > 18")
    writer = frame.write.mode("overwrite").partitionBy("city")
    description, output = only(described(tables, lambda: writer.parquet(f"{tmp_path}/adults")))
    assert description.command == "InsertIntoHadoopFsRelationCommand"
    assert output.dataset == DatasetRef("file", f"{tmp_path}/adults")
    assert (output.mode, output.lifecycle) == (WriteMode.OVERWRITE, LifecycleChange.OVERWRITE)
    assert (output.format, output.partition_columns) == ("parquet", ("city",))
    assert fields(output) == [("id", "int"), ("name", "string"), ("city", "string")]
    (source,) = description.inputs
    assert source.kind is SourceKind.TABLE
    assert [link.name for link in source.symlinks] == ["default.people"]
    check("writes", "overwriting partitioned files", edge_lines(description.lineage))


def test_files_read_are_a_position(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(5).repartition(2).write.parquet(f"{tmp_path}/numbers")
    write = spark.read.parquet(f"{tmp_path}/numbers").write.mode("append")
    description, output = only(described(spark, lambda: write.json(f"{tmp_path}/copy")))
    (source,) = description.inputs
    files = sorted((tmp_path / "numbers").glob("*.parquet"))
    assert files_of(source.position).count == len(files)
    assert files_of(source.position).bytes == sum(file.stat().st_size for file in files)
    assert [path.rsplit("/", 1)[1] for path in files_of(source.position).paths] == [file.name for file in files]
    assert source.certainty is Certainty.EXACT
    assert (output.mode, output.format, output.lifecycle) == (WriteMode.APPEND, "json", None)


def test_save_as_table_is_one_dataset_by_both_its_commands(tables: SparkSession) -> None:
    every = described(tables, lambda: tables.table("cities").write.saveAsTable("copied"))
    found = [d for d in every if d.command not in WRAPPING_COMMANDS]
    assert [d.command for d in found] == ["InsertIntoHadoopFsRelationCommand", "CreateDataSourceTableAsSelectCommand"]
    inner, outer = (d.outputs[0] for d in found)
    assert inner.dataset == outer.dataset
    assert (outer.mode, outer.lifecycle) == (WriteMode.CREATE, LifecycleChange.CREATE)
    assert [link.name for link in outer.symlinks] == ["default.copied"]
    check("writes", "create table as select", edge_lines(found[1].lineage))


def test_insert_into_a_table(tables: SparkSession) -> None:
    tables.sql("CREATE TABLE places (place STRING, land STRING) USING parquet")
    statement = "INSERT INTO places SELECT city, upper(country) FROM cities"
    description, output = only(described(tables, lambda: tables.sql(statement)))
    assert (output.kind, output.mode) == (SourceKind.TABLE, WriteMode.APPEND)
    assert fields(output) == [("place", "string"), ("land", "string")]
    check("writes", "insert into a table", edge_lines(description.lineage))


def test_insert_overwrite_by_name(tables: SparkSession) -> None:
    tables.sql("CREATE TABLE lands (land STRING, place STRING) USING parquet")
    statement = "INSERT OVERWRITE lands BY NAME SELECT city AS place, country AS land FROM cities"
    description, output = only(described(tables, lambda: tables.sql(statement)))
    assert output.mode is WriteMode.OVERWRITE
    check("writes", "insert overwrite by name", edge_lines(description.lineage))


def test_insert_into_a_partition(tables: SparkSession) -> None:
    tables.sql("CREATE TABLE parts (name STRING, city STRING) USING parquet PARTITIONED BY (city)")
    statement = "INSERT INTO parts PARTITION (city = 'Oslo') SELECT name FROM people"
    description, output = only(described(tables, lambda: tables.sql(statement)))
    assert output.partition_columns == ("city",)
    check("writes", "insert into a partition", edge_lines(description.lineage))


def test_create_view(tables: SparkSession) -> None:
    statement = "CREATE VIEW grown AS SELECT name FROM people WHERE age > 18"
    description, output = only(described(tables, lambda: tables.sql(statement)))
    assert output.type == "VIEW"
    assert output.dataset.name.endswith("default.grown")
    check("writes", "create view", edge_lines(description.lineage))


def test_a_statement_that_reads_through_views_names_them(tables: SparkSession) -> None:
    tables.sql("CREATE VIEW of_age AS SELECT id, name AS who FROM people WHERE age > 18")
    tables.sql("CREATE VIEW of_age_named AS SELECT upper(who) AS who FROM of_age")
    tables.sql("CREATE TEMPORARY VIEW of_age_passing AS SELECT who FROM of_age_named")
    write = tables.sql("SELECT who FROM of_age_passing").write.format("noop").mode("overwrite")
    description, _ = only(described(tables, write.save))
    read = {each.dataset.name.rsplit("/", 1)[-1]: each.type for each in description.inputs}
    assert read == {"people": "TABLE", "default.of_age": "VIEW", "default.of_age_named": "VIEW"}
    check("writes", "through views", edge_lines(description.lineage))


def test_noop(tables: SparkSession) -> None:
    write = tables.table("cities").write.format("noop").mode("overwrite")
    description, output = only(described(tables, write.save))
    assert description.command == "OverwriteByExpression"
    assert output.dataset == DatasetRef("memory://spark/headwater-tests", "noop")
    assert output.kind is SourceKind.GENERATED


def test_kafka_batch_write_that_fails_is_described_all_the_same(tables: SparkSession) -> None:
    frame = tables.sql(
        "SELECT name AS key, to_json(struct(id, city, address.street AS street)) AS value "
        "FROM people JOIN trips USING (id)"
    )
    writer = frame.write.format("kafka").option("kafka.bootstrap.servers", "localhost:1").option("topic", "people")
    failing = writer.option("kafka.max.block.ms", "1")
    description, output = only(described(tables, lambda: _failing(failing.save, tables)))
    assert output.dataset == DatasetRef("kafka://localhost:1", "people")
    assert (output.kind, output.mode) == (SourceKind.KAFKA, WriteMode.ERROR_IF_EXISTS)
    assert fields(output) == [
        ("key", "string"),
        ("value", "string"),
        ("value.id", "int"),
        ("value.city", "string"),
        ("value.street", "string"),
    ]
    check("writes", "kafka batch write", edge_lines(description.lineage))


def _failing(write: Callable[[], object], spark: SparkSession) -> None:
    # An empty frame would be written without asking the broker: it has no tasks that fail.
    spark.sql("SELECT 1").collect()
    try:
        write()
    except Exception as error:  # noqa: BLE001 - whatever the connector calls it
        assert "kafka" in str(error).lower()  # noqa: PT017 - writing nothing may succeed


def test_topics_by_column(tables: SparkSession) -> None:
    statement = "SELECT IF(age > 18, 'adults', 'minors') AS topic, name AS value FROM people"
    writer = tables.sql(statement).write.format("kafka").option("kafka.bootstrap.servers", "localhost:1")
    (description,) = described(tables, lambda: _failing(writer.option("kafka.max.block.ms", "1").save, tables))
    assert [output.dataset.name for output in description.outputs] == ["adults", "minors"]
    assert description.lineage.complete


def test_topics_by_rows_are_reported_as_unknown(tables: SparkSession) -> None:
    statement = "SELECT city AS topic, name AS value FROM people"
    writer = tables.sql(statement).write.format("kafka").option("kafka.bootstrap.servers", "localhost:1")
    (description,) = described(tables, lambda: _failing(writer.option("kafka.max.block.ms", "1").save, tables))
    assert description.outputs == ()
    assert (
        description.lineage.incomplete_reason == "rows choose their topic, so the plan doesn't show the written topics"
    )


def test_upsert_of_a_folder_into_itself(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS id, 10L AS n").write.parquet(f"{tmp_path}/counts")
    old = spark.read.parquet(f"{tmp_path}/counts")
    new = spark.read.parquet(f"{tmp_path}/counts").selectExpr("id", "n + 1 AS n")
    both = old.union(new).groupBy("id").sum("n").withColumnRenamed("sum(n)", "n")
    description, output = only(described(spark, lambda: both.write.parquet(f"{tmp_path}/next")))
    assert output.dataset.name.endswith("/next")
    assert len(description.inputs) == 1
    check("writes", "upsert", edge_lines(description.lineage))


def test_collecting_writes_nothing(tables: SparkSession) -> None:
    with executions(tables) as found:
        tables.table("people").select("name").collect()
    description = describe(found[-1], session=tables)
    assert (description.outputs, description.command) == ((), None)
    assert [source.dataset.name.rsplit("/", 1)[-1] for source in description.inputs] == ["people"]


def test_a_plan_beyond_the_cap_keeps_its_datasets(tables: SparkSession, tmp_path: Path) -> None:
    write = tables.table("people").select("name").write
    with executions(tables) as found:
        write.parquet(f"{tmp_path}/names")
    description = describe(found[0], session=tables, settings=PlanSettings(max_plan_bytes=100))
    assert description.lineage.incomplete_reason == "the plan's JSON is larger than 100 bytes"
    assert description.upstream is None
    assert fields(description.outputs[0]) == [("name", "string")]
    assert edge_lines(description.lineage)[0] == "names.* <- people UNKNOWN"


@pytest.mark.parametrize("fields_of_struct", [1, 300])
def test_the_size_of_a_plan_is_known_before_it_is_made(spark: SparkSession, fields_of_struct: int) -> None:
    """Each of many small operators repeats the type of a wide struct that passes through it."""
    struct = ", ".join(f"f{number}: BIGINT" for number in range(fields_of_struct))
    frame = spark.createDataFrame([], f"id BIGINT, s STRUCT<{struct}>")
    for number in range(20):
        frame = frame.withColumn(f"c{number}", functions.col("id") + number)
    plan = frame._jdf.queryExecution().analyzed()
    actual = len(plan.toJSON())
    assert actual / 2 < estimated_bytes(plan, enough=1 << 30) < actual * 2


@pytest.mark.nightly
@pytest.mark.parametrize("type_of_each", ["BIGINT", "STRUCT<a: INT, b: STRUCT<latitude: DOUBLE, longitude: DOUBLE>>"])
def test_the_size_of_a_plan_of_many_columns_too(spark: SparkSession, type_of_each: str) -> None:
    frame = spark.createDataFrame([], ", ".join(f"column_{number} {type_of_each}" for number in range(200)))
    for _ in range(3):
        frame = frame.select(*(functions.coalesce(name, name).alias(name) for name in frame.columns))
    plan = frame._jdf.queryExecution().analyzed()
    actual = len(plan.toJSON())
    assert actual / 2 < estimated_bytes(plan, enough=1 << 30) < actual * 2


def test_literals_can_be_hidden(tables: SparkSession) -> None:
    frame = tables.sql("SELECT concat(name, 'secret', 7) AS x FROM people WHERE city = 'Oslo'")
    found = lines(explain_lineage(frame, settings=PlanSettings(literals=False)))
    assert found == [
        "x <- people.name DERIVE: concat(name, ?, cast(? as string))",
        "* <- people.city FILTER_DEPENDENCY: (city = ?)",
    ]


def test_a_cluster_has_the_name_it_is_given(spark: SparkSession) -> None:
    frame = spark.readStream.format("kafka").options(**{"kafka.bootstrap.servers": "b:1,a:2", "subscribe": "t"}).load()
    explained = explain_lineage(frame.select("value"), settings=PlanSettings(kafka_cluster_names={"*": "main"}))
    assert [source.namespace for source in explained.outputs[0].sources] == ["kafka://main"]


def test_commands_without_columns_are_no_problem(tables: SparkSession) -> None:
    tables.sql("CREATE TABLE gone (a INT) USING parquet")
    with executions(tables) as found:
        tables.sql("DROP TABLE gone")
        tables.sql("REFRESH TABLE people")
    descriptions = [describe(execution, session=tables) for execution in found]
    assert all(not d.outputs and d.lineage.complete for d in descriptions), descriptions


def test_tables_of_a_jdbc_query(spark: SparkSession) -> None:
    # Derby comes with Spark.
    url = "jdbc:derby:memory:lineage;create=true"
    options = {"url": url, "driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    spark.sql("SELECT 1 AS id, 'x' AS name").write.format("jdbc").options(**options, dbtable="people").save()
    query = "(SELECT p.* FROM people p WHERE 1 IN (SELECT count(*) FROM people)) q"
    table = explain_lineage(spark.read.format("jdbc").options(**options, dbtable="people").load())
    queried = explain_lineage(spark.read.format("jdbc").options(**options, dbtable=query).load())
    check("writes", "jdbc table", lines(table))
    check("writes", "jdbc query", lines(queried))
    inner = 'SELECT p."id", upper(p."name") AS who FROM people p WHERE p."id" > 1'
    emitted = f'SELECT q.who, q."id" FROM ({inner}) q'
    of_columns = explain_lineage(spark.read.format("jdbc").options(**options, query=emitted).load().where("id < 9"))
    check("writes", "jdbc query that names its columns", lines(of_columns))
    whole = 'SELECT 1 AS one, p.*, upper(p."name") AS who FROM people p WHERE EXISTS (SELECT * FROM people q)'
    of_all = explain_lineage(spark.read.format("jdbc").options(**options, query=whole).load())
    check("writes", "jdbc query of all columns", lines(of_all))


def test_tables_of_a_query_by_sparks_own_parser(spark: SparkSession) -> None:
    query = "WITH q AS (SELECT a FROM s.t WHERE EXISTS (SELECT 1 FROM u)) SELECT a FROM q UNION SELECT b FROM v"
    assert sorted(_tables_of(query, SessionContext(spark, PlanSettings()))) == ["s.t", "u", "v"]
