"""Statements on frames that become RDDs, on RDDs, and on Python data sources. Functions that workers run are nested:
so they are sent to them whole, since no worker could import this module."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def people(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(str(folder / "people"))


ROWS = "SELECT * FROM VALUES (1, 'ann', 30), (2, 'bob', 17), (3, 'cid', 44) AS v(id, name, age)"


def prepared(spark: SparkSession, folder: Path) -> None:
    spark.sql(ROWS).coalesce(1).write.parquet(str(folder / "people"))
    (folder / "lines.txt").write_text("one\ntwo\n")
    spark.sparkContext.setCheckpointDir(str(folder / "checkpoints"))


def local_checkpoint(spark: SparkSession, folder: Path) -> None:
    grown = people(spark, folder).where("age > 18").select(F.upper("name").alias("who"), "age").localCheckpoint()
    grown.groupBy("who").agg(F.max("age").alias("oldest")).write.parquet(str(folder / "kept-locally"))


def checkpoint(spark: SparkSession, folder: Path) -> None:
    grown = people(spark, folder).where("age > 18").checkpoint(eager=False)
    again = grown.select(F.concat("name", F.lit("!")).alias("loud"), "id").checkpoint()
    again.write.parquet(str(folder / "kept"))


def joined_with_itself(spark: SparkSession, folder: Path) -> None:
    kept = people(spark, folder).select("id", (F.col("age") + 1).alias("next")).localCheckpoint()
    pairs = kept.alias("a").join(kept.alias("b"), F.col("a.id") == F.col("b.next"))
    pairs.select("a.id", F.col("b.next").alias("other")).write.parquet(str(folder / "pairs"))


def by_way_of_an_rdd(spark: SparkSession, folder: Path) -> None:
    rows = people(spark, folder).where("id < 3").select("name", "age").rdd.map(lambda row: (row.name, row.age * 2))
    spark.createDataFrame(rows, "name STRING, twice INT").write.parquet(str(folder / "mapped"))


def by_way_of_a_named_rdd(spark: SparkSession, folder: Path) -> None:
    rows = people(spark, folder).select("name", "age").rdd.map(lambda row: (row.name, row.age * 2))
    spark.createDataFrame(rows, "name STRING, twice INT").createOrReplaceTempView("doubled")
    spark.sql("SELECT name AS who FROM doubled").write.parquet(str(folder / "of-a-view"))


def collected(spark: SparkSession, folder: Path) -> None:
    rows = people(spark, folder).select("id", "name")
    spark.createDataFrame(rows.collect(), "id INT, name STRING").coalesce(1).write.parquet(str(folder / "of-a-list"))
    spark.createDataFrame(rows.toPandas()).coalesce(1).write.parquet(str(folder / "of-pandas"))
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    spark.createDataFrame(rows.toPandas()).coalesce(1).write.parquet(str(folder / "of-arrow"))
    spark.conf.unset("spark.sql.execution.arrow.pyspark.enabled")


def of_constants(spark: SparkSession, folder: Path) -> None:
    pairs = "SELECT a.n, b.n AS m FROM v a JOIN v b ON a.n = b.n + 1"
    spark.sql(f"WITH v AS (SELECT * FROM VALUES (1), (2) AS t(n)) {pairs}").write.parquet(str(folder / "of-values"))
    spark.range(3).coalesce(1).write.parquet(str(folder / "of-range"))


def shuffled_rdds(spark: SparkSession, folder: Path) -> None:
    ages = people(spark, folder).select("id", "age").rdd.map(tuple)
    more = spark.sparkContext.parallelize([(1, 5)])
    summed: Any = ages.union(more).reduceByKey(lambda one, other: one + other)
    spark.createDataFrame(summed, "id INT, total INT").write.parquet(str(folder / "summed"))


def text_file(spark: SparkSession, folder: Path) -> None:
    lines = spark.sparkContext.textFile(str(folder / "lines.txt")).map(lambda line: (line, len(line)))
    spark.createDataFrame(lines, "line STRING, length INT").write.parquet(str(folder / "counted"))


def each_partition(spark: SparkSession, folder: Path) -> None:
    people(spark, folder).where("age > 18").foreachPartition(lambda _rows: None)


def each_row(spark: SparkSession, folder: Path) -> None:
    people(spark, folder).foreach(lambda _row: None)


def saved_as_text(spark: SparkSession, folder: Path) -> None:
    people(spark, folder).select("name").rdd.map(lambda row: row.name).saveAsTextFile(str(folder / "names"))


def saved_as_hadoop_files(spark: SparkSession, folder: Path) -> None:
    pairs = people(spark, folder).select("id", "name").rdd.map(tuple)
    kind = "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat"
    pairs.saveAsNewAPIHadoopFile(str(folder / "pairs-of-hadoop"), kind)
    spark.sparkContext.parallelize([1, 2]).saveAsPickleFile(str(folder / "pickled"))


def failing(spark: SparkSession, folder: Path) -> None:
    def fails(rows: Any) -> None:
        raise LookupError("no more, password=hunter2")

    try:
        people(spark, folder).foreachPartition(fails)
    except Exception as error:  # noqa: BLE001 - PySpark has several for a failed task
        assert "no more" in str(error)  # noqa: PT017 - what is emitted of it is the test
    else:
        raise AssertionError("the action did not fail")


def python_source(spark: SparkSession, folder: Path) -> None:
    spark.sql(ROWS).coalesce(1).write.parquet(str(folder / "clients"))
    from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, WriterCommitMessage

    class Reader(DataSourceReader):
        def read(self, partition: Any) -> Any:
            yield (1, "ann")

    class Writer(DataSourceWriter):
        def write(self, iterator: Any) -> WriterCommitMessage:
            list(iterator)
            return WriterCommitMessage()

    class Crm(DataSource):
        @classmethod
        def name(cls) -> str:
            return "crm"

        def schema(self) -> str:
            return "id INT, name STRING"

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

        def writer(self, schema: Any, overwrite: bool) -> DataSourceWriter:
            return Writer()

    spark.dataSource.register(Crm)


def python_read(spark: SparkSession, folder: Path) -> None:
    rows = spark.read.format("crm").load().select(F.upper("name").alias("who"))
    rows.coalesce(1).write.parquet(str(folder / "from-crm"))


def python_read_at_a_path(spark: SparkSession, folder: Path) -> None:
    spark.read.format("crm").load(str(folder / "export.crm")).coalesce(1).write.parquet(str(folder / "from-export"))


def python_written(spark: SparkSession, folder: Path) -> None:
    clients = spark.read.parquet(str(folder / "clients"))
    clients.select("id", F.upper("name").alias("name")).write.format("crm").mode("append").save()


def python_replaced(spark: SparkSession, folder: Path) -> None:
    clients = spark.read.parquet(str(folder / "clients")).select("id", "name")
    clients.write.format("crm").mode("overwrite").save(str(folder / "export.crm"))
