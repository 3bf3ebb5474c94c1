"""Rows that reach the program and come back: what they may be made of is recorded as possible inputs of the write."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_schemas.events import RunEventType
from support.capture import Captured, RecordingSink
from support.gate import in_gate

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

WAYS: dict[str, Callable[[Any], Any]] = {
    "toPandas": lambda frame: frame.toPandas(),
    "an iterator": lambda frame: list(frame.toLocalIterator()),
    "an RDD that code made": lambda frame: frame.rdd.map(tuple).take(2),
    "collect": lambda frame: frame.collect(),
    "an RDD": lambda frame: frame.rdd.collect(),
    "an RDD's iterator": lambda frame: list(frame.rdd.toLocalIterator()),
    "the first row": lambda frame: [frame.first()],
}
"""The first three are in the gate: a result, an iterator, an RDD."""


@pytest.fixture
def customers(spark: SparkSession, tmp_path: Path) -> Callable[[], DataFrame]:
    path = str(tmp_path / "customers")
    spark.range(2).selectExpr("id", "concat('mail', id) AS email").write.parquet(path)
    return lambda: spark.read.parquet(path)


def uses(sink: RecordingSink, job: str) -> tuple[set[str], bool]:
    """Datasets that a job's last run read, by the last part of the name; True where each is only a possible source."""
    end = sink.last_run(job)
    return {use.dataset.name.rpartition("/")[2] for use in end.inputs}, all(use.possible for use in end.outputs)


def test_rows_that_the_program_hands_over_may_be_of_what_it_read(
    subtests: pytest.Subtests, spark: SparkSession, customers: Callable[[], DataFrame], tmp_path: Path
) -> None:
    for number, (way, read) in enumerate(list(WAYS.items())[: 3 if in_gate() else None]):
        with subtests.test(way):
            sink = RecordingSink()
            with attach(spark, sink=sink, job_name="job") as capture:
                read(customers())
                spark.createDataFrame([("after",)], "x STRING").coalesce(1).write.json(str(tmp_path / f"after{number}"))
                Captured(spark, sink, capture).flushed()
            assert uses(sink, f"job.after{number}") == ({"customers"}, True)
            assert sink.jobs() == {"job", f"job.after{number}"}, "what only reads is no run"


@pytest.mark.nightly
def test_other_writes_of_such_rows(
    subtests: pytest.Subtests, captured: Captured, customers: Callable[[], DataFrame], tmp_path: Path
) -> None:
    """An RDD of them, a table that is made by a query, and beside an input that the plan has; nothing came before."""
    spark = captured.spark
    spark.createDataFrame([("before",)], "x STRING").write.json(str(tmp_path / "before"))
    (tmp_path / "names.txt").write_text("a\n")
    rows = [tuple(row) for row in customers().collect()]
    assert spark.sparkContext.textFile(str(tmp_path / "names.txt")).collect() == ["a"]
    spark.sparkContext.parallelize(rows).saveAsTextFile(str(tmp_path / "texts"))
    handed = spark.createDataFrame(rows, "id LONG, email STRING")
    other = str(tmp_path / "other")
    spark.range(2).write.parquet(other)
    handed.join(spark.read.parquet(other), "id").write.json(str(tmp_path / "joined"))
    try:
        handed.write.option("path", str(tmp_path / "made")).saveAsTable("made_of_rows")
        sink = captured.flushed()
    finally:
        spark.sql("DROP TABLE IF EXISTS made_of_rows")
    [table] = {job for job in sink.jobs() if "made" in job}
    assert uses(sink, "job.before") == (set(), False)
    assert uses(sink, "job.other") == (set(), False), "its plan has all that it is made of"
    for job, expected in {
        "job.texts": {"customers", "names.txt"},
        "job.joined": {"customers", "names.txt", "other"},
        table: {"customers", "names.txt"},
    }.items():
        with subtests.test(job):
            assert uses(sink, job) == (expected, True)


@pytest.mark.nightly
def test_rows_that_a_temporary_view_names(
    captured: Captured, customers: Callable[[], DataFrame], tmp_path: Path
) -> None:
    """`createDataFrame(frame.toPandas()).createOrReplaceTempView("v")`, then SQL: a view has no known origin."""
    spark = captured.spark
    spark.createDataFrame(customers().toPandas()).createOrReplaceTempView("handed")
    try:
        spark.sql("SELECT email FROM handed").write.json(str(tmp_path / "by_sql"))
    finally:
        spark.catalog.dropTempView("handed")
    sink = captured.flushed()
    reads, possible = uses(sink, "job.by_sql")
    assert (len(reads), possible) == (2, True)
    assert "customers" in reads
    plans = [event.plan_event for event in sink.events if event.job is not None and event.job.name == "job.by_sql"]
    [complete] = [plan.lineage.complete for plan in plans if plan is not None]
    assert not complete


@pytest.mark.nightly
def test_what_functions_may_use_is_read(captured: Captured, customers: Callable[[], DataFrame], tmp_path: Path) -> None:
    """`udf(lambda id: mails[id])`: the plan of the write has nothing of the customers."""
    spark = captured.spark
    orders = str(tmp_path / "orders")
    spark.range(2).write.parquet(orders)
    mails = {row.id: row.email for row in customers().collect()}
    spark.read.parquet(orders).selectExpr("id + 1 AS id").write.parquet(str(tmp_path / "plain"))
    found = spark.read.parquet(orders).select(F.udf(mails.get, "string")("id").alias("mail"))
    for name in ("one", "two"):
        found.write.parquet(str(tmp_path / name))
    sink = captured.flushed()
    assert uses(sink, "job.plain") == ({"orders"}, False)
    assert uses(sink, "job.two") == ({"orders"}, False)
    assert uses(sink, "job.collect")[0] == {"customers"}
    assert not sink.last_run("job.collect").outputs
    assert sink.run_types("job.collect") == [RunEventType.START, RunEventType.COMPLETE], "once"


def test_what_functions_of_a_stream_may_use_is_read(
    captured: Captured, customers: Callable[[], DataFrame], tmp_path: Path
) -> None:
    spark = captured.spark
    orders = str(tmp_path / "orders")
    spark.range(2).write.parquet(orders)
    mails = {row.id: row.email for row in customers().collect()}
    stream = spark.readStream.schema("id LONG").parquet(orders)
    for name, expression in (("plain", F.col("id") + 1), ("mails", F.udf(mails.get, "string")("id"))):
        writer = stream.select(expression.alias("x")).writeStream.queryName(name).trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / f"{name}.checkpoint")).start(
            str(tmp_path / name)
        ).awaitTermination()
        jobs = captured.flushed().jobs()
        assert ("job.collect" in jobs) == (name == "mails")
    assert uses(captured.flushed(), "job.collect")[0] == {"customers"}


def test_nothing_is_looked_at_where_that_is_off(
    spark: SparkSession, customers: Callable[[], DataFrame], tmp_path: Path
) -> None:
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", capture_reads="off") as capture:
        rows = customers().where("id > 0").collect()
        spark.createDataFrame(rows).write.json(str(tmp_path / "after"))
        Captured(spark, sink, capture).flushed()
    assert uses(sink, "job.after") == (set(), False)
