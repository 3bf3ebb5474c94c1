from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_schemas.events import ColumnEdge, DatasetRef, RunEventType, TransformationKind
from support.capture import Captured, RecordingSink
from support.gate import first_in_gate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

START, COMPLETE, FAIL = RunEventType.START, RunEventType.COMPLETE, RunEventType.FAIL


def test_a_write_emits_what_it_wrote(captured: Captured, tmp_path: Path) -> None:
    captured.spark.range(100).repartition(2).write.parquet(str(tmp_path / "numbers"))
    sink = captured.flushed()
    assert sink.run_types("job.numbers") == [START, COMPLETE]
    end = sink.last_run("job.numbers")
    [output] = end.outputs
    assert output.dataset == DatasetRef("file", str(tmp_path / "numbers"))
    assert (output.rows, output.files) == (100, 2)
    files = list((tmp_path / "numbers").glob("*.parquet"))
    assert output.bytes == sum(file.stat().st_size for file in files)
    assert end.started_at is not None
    assert end.ended_at is not None
    assert end.started_at < end.ended_at
    assert end.versions is not None
    assert end.versions.engine is not None
    assert end.versions.engine.version == captured.spark.version


def test_a_write_emits_what_it_read(captured: Captured, tmp_path: Path) -> None:
    spark = captured.spark
    spark.range(10).withColumnRenamed("id", "a").write.parquet(str(tmp_path / "left"))
    spark.range(4).withColumnRenamed("id", "a").write.parquet(str(tmp_path / "right"))
    left, right = (spark.read.parquet(str(tmp_path / name)) for name in ("left", "right"))
    left.join(right, "a").groupBy("a").count().write.parquet(str(tmp_path / "counts"))
    sink = captured.flushed()
    end = sink.last_run("job.counts")
    assert {use.dataset.name: use.rows for use in end.inputs} == {
        str(tmp_path / "left"): 10,
        str(tmp_path / "right"): 4,
    }
    assert end.outputs[0].rows == 4
    plans = {event.plan_event.digest for event in sink.of_kind("PLAN") if event.plan_event}
    assert end.plan_digest in plans


@pytest.mark.nightly
def test_rows_that_spark_samples_to_sort_them_are_not_counted_twice(captured: Captured, tmp_path: Path) -> None:
    spark = captured.spark
    spark.range(0, 100, 1, 4).write.parquet(str(tmp_path / "in"))
    rows = spark.read.parquet(str(tmp_path / "in"))
    rows.repartitionByRange(3, "id").write.parquet(str(tmp_path / "sampled"))
    rows.groupBy("id").count().repartitionByRange(3, "id").write.parquet(str(tmp_path / "shuffled_before"))
    rows.orderBy("id").write.parquet(str(tmp_path / "one_range"))
    sink = captured.flushed()
    found = {name: sink.last_run(f"job.{name}") for name in ("sampled", "shuffled_before", "one_range")}
    assert {name: end.inputs[0].rows for name, end in found.items()} == {
        "sampled": None,
        "shuffled_before": 100,
        "one_range": 100,
    }
    assert all((end.inputs[0].files, end.outputs[0].rows) == (4, 100) for end in found.values())


def test_a_plan_beyond_the_cap_is_emitted_as_unknown_and_the_log_says_so(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spark.range(10).write.parquet(str(tmp_path / "in"))
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", capture_max_plan_bytes=100) as capture:
        spark.read.parquet(str(tmp_path / "in")).write.parquet(str(tmp_path / "out"))
        Captured(spark, sink, capture).flushed()
    end = sink.last_run("job.out")
    assert [(use.dataset.name, use.rows) for use in (*end.inputs, *end.outputs)] == [
        (str(tmp_path / "in"), 10),
        (str(tmp_path / "out"), 10),
    ]
    [plan] = [event.plan_event for event in sink.of_kind("PLAN") if event.plan_event]
    assert plan.lineage.incomplete_reason == "the plan's JSON is larger than 100 bytes"
    assert "lineage capture: job job.out: a plan is larger than capture_max_plan_bytes" in caplog.text
    assert [(edge.output_field, edge.input_field, edge.kind) for edge in plan.lineage.edges] == [
        (None, None, TransformationKind.UNKNOWN)
    ]


def test_literals_are_kept_to_the_job_where_that_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    """Also those that Spark keeps in an operator or in a field of an expression, and not as a literal."""
    spark.range(3).selectExpr("id", "cast(id AS string) AS name").write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in")).selectExpr(
        "id",
        "sha2(concat('pepper-SESAME', name), 256) AS h",
        "CASE WHEN name IN ('SESAME', 'b') THEN 'SESAME' ELSE name END AS c",
        "name LIKE ALL ('%SESAME%', 'a%') AS l",
        "name LIKE 'SESAME' ESCAPE '/' AS e",
        "regexp_replace(name, 'SESAME', 'x') AS r",
        "transform(array(name), x -> x || 'SESAME') AS t",
        "'SESAME' AS p",
    )
    for hidden in (True, False):
        sink = RecordingSink()
        with attach(spark, sink=sink, job_name="job", capture_literals=not hidden) as capture:
            frame.where("name <> 'SESAME'").write.partitionBy("p").parquet(str(tmp_path / f"out{hidden}"))
            Captured(spark, sink, capture).flushed()
        assert sink.of_kind("PLAN")
        assert ["SESAME" in str(event) for event in sink.of_kind("PLAN")] == [not hidden]
        assert any("SESAME" in str(event) for event in sink.events) is not hidden


@pytest.mark.parametrize("literals", first_in_gate(1, [False, True]))
def test_a_key_is_in_no_name_and_the_lineage_of_writer_and_reader_meets(
    spark: SparkSession, tmp_path: Path, literals: bool
) -> None:
    made, read, key = str(tmp_path / "made"), str(tmp_path / "read"), "SEKRIT0011223344"
    spark.range(3).selectExpr("cast(id AS string) AS ssn").write.parquet(str(tmp_path / "in"))
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", capture_literals=literals) as capture:
        frame = spark.read.parquet(str(tmp_path / "in"))
        frame.selectExpr(f"aes_encrypt(ssn, '{key}')", f"base64(aes_encrypt(ssn, '{key}'))").write.json(made)
        again = spark.read.json(made)
        again.selectExpr("*", f"upper(`{again.columns[1]}`) AS u").write.json(read)
        Captured(spark, sink, capture).flushed()
    assert key in again.columns[0]
    assert "SEKRIT" not in repr(sink.events)
    written = {edge.output_field for edge in _edges(sink, "job.made")}
    used = {edge.input_field for edge in _edges(sink, "job.read")}
    assert written == used
    assert len(written) == 2


@pytest.mark.nightly
def test_names_that_spark_made_have_no_literals_where_that_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    people = spark.range(3).selectExpr("cast(id AS string) AS name", "id AS x", "'SESAME' AS c")
    people.write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in"))
    frames = {
        "concat": frame.selectExpr("concat(name, 'SESAME')", "'SESAME'", "x + 7654321", "max('SESAME') OVER ()"),
        "sums": frame.groupBy("name").agg(F.sum(F.when(F.col("c") == "SESAME", 1)), F.max(F.lit("SESAME"))),
        "pivot": frame.groupBy("name").pivot("c").sum("x"),
        "pivots": frame.groupBy("name").pivot("c", ["SESAME"]).agg(F.sum("x"), F.max("x").alias("m")),
        "structs": frame.groupBy("name").pivot("c", ["SESAME"]).agg(F.collect_list("x")),
    }
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", capture_literals=False) as capture:
        for name, each in frames.items():
            each.write.json(str(tmp_path / name))
        Captured(spark, sink, capture).flushed()
    for event in sink.events:
        assert "SESAME" not in repr(event)
        assert "7654321" not in repr(event)
    assert {edge.output_field for edge in _edges(sink, "job.pivots")} == {"name", "?_sum(x)", "?_m"}


def _edges(sink: RecordingSink, job: str) -> list[ColumnEdge]:
    [plan] = [event.plan_event for event in sink.of_kind("PLAN") if event.job is not None and event.job.name == job]
    assert plan is not None
    return [edge for edge in plan.lineage.edges if edge.output_field is not None]


def test_several_writes_are_several_runs_of_one_application(captured: Captured, tmp_path: Path) -> None:
    for _ in range(2):
        captured.spark.range(1).write.mode("overwrite").json(str(tmp_path / "again"))
    sink = captured.flushed()
    runs = sink.runs("job.again")
    assert [event.run_event.type for event in runs if event.run_event] == [START, COMPLETE] * 2
    assert len({event.run.run_id for event in runs if event.run}) == 2
    [application] = sink.runs("job")
    parents = {event.run_event.parent.run_id for event in runs if event.run_event and event.run_event.parent}
    assert application.run is not None
    assert parents == {application.run.run_id}


def test_reading_alone_is_not_captured(captured: Captured, tmp_path: Path) -> None:
    captured.spark.range(3).show()
    captured.spark.range(3).count()
    captured.spark.range(3).createOrReplaceTempView("three")
    captured.spark.sql("SHOW TABLES").count()
    assert captured.flushed().jobs() == {"job"}


def test_reading_alone_is_captured_where_it_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "three"))
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", capture_reads="runs") as capture:
        frame = spark.read.parquet(str(tmp_path / "three"))
        assert len(frame.where("id > 0").collect()) == 2
        frame.show()
        assert len(frame.toPandas()) == 3
        assert len(spark.range(3).collect()) == 3, "reads no dataset, so there is nothing to tell"
        frame.write.parquet(str(tmp_path / "copy"))
        Captured(spark, sink, capture).flushed()
    # By what Spark calls them: `toPandas` collects, since 4.2 by Arrow.
    by_arrow = spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"
    reads = Counter(["job.collectToPython", "job.head", f"job.collect{'AsArrow' if by_arrow else ''}ToPython"])
    assert sink.jobs() == {"job", "job.copy", *reads}
    for job, times in reads.items():
        assert sink.run_types(job) == [START, COMPLETE] * times
        end = sink.last_run(job)
        assert [(use.dataset.name, use.files) for use in end.inputs] == [(str(tmp_path / "three"), 1)]
        assert end.outputs == ()
    assert sink.run_types("job.copy") == [START, COMPLETE], "a write is emitted once"


def test_a_table_made_by_a_query_is_one_run(captured: Captured, tmp_path: Path) -> None:
    spark = captured.spark
    location = str(tmp_path / "made")
    try:
        spark.range(7).write.option("path", location).saveAsTable("made")
        sink = captured.flushed()
        [job] = sink.jobs() - {"job"}
        # Its end is emitted again when the table has its name.
        assert sink.run_types(job) == [START, COMPLETE, COMPLETE]
        assert len({event.run.run_id for event in sink.runs(job) if event.run}) == 1
        assert sink.last_run(job).outputs[0].rows == 7
    finally:
        spark.sql("DROP TABLE IF EXISTS made")


def test_a_failed_write_says_why_without_secrets(captured: Captured, tmp_path: Path) -> None:
    broken = captured.spark.range(3).select(F.raise_error(F.lit("no access: password=hunter2")).cast("int").alias("x"))
    with pytest.raises((PySparkException, Py4JJavaError), match="hunter2"):
        broken.write.parquet(str(tmp_path / "never"))
    sink = captured.flushed()
    assert sink.run_types("job.never") == [START, FAIL]
    error = sink.last_run("job.never").error
    assert error is not None
    assert error.type is not None
    assert error.type.startswith("org.apache.spark")
    assert "password=[redacted]" in error.message
    assert error.stack_trace is not None
    assert "\tat org.apache.spark" in error.stack_trace
    assert "hunter2" not in repr(sink.events)


def test_a_failed_write_emits_what_its_finished_tasks_had_read(captured: Captured, tmp_path: Path) -> None:
    spark = captured.spark
    for number, rows in enumerate((40, 3)):
        spark.range(rows).selectExpr(f"{number} AS file").coalesce(1).write.json(str(tmp_path / "in" / f"{number}"))
    reader = spark.read.schema("file INT").option("recursiveFileLookup", True)
    spark.conf.set("spark.sql.files.minPartitionNum", "2")
    try:
        frame = reader.json(str(tmp_path / "in"))
        # The larger file's task comes first, and is done; the other fails.
        with pytest.raises((PySparkException, Py4JJavaError), match="enough"):
            frame.selectExpr("IF(file = 0, file, raise_error('enough')) AS file").write.parquet(str(tmp_path / "out"))
    finally:
        spark.conf.unset("spark.sql.files.minPartitionNum")
    assert captured.flushed().run_types("job.out") == [START, FAIL]
    failed = captured.sink.last_run("job.out")
    [use] = failed.inputs
    assert (use.dataset.name, use.rows, use.files) == (str(tmp_path / "in"), 40, 2)
    assert [(use.dataset.name, use.rows, use.position) for use in failed.outputs] == [
        (str(tmp_path / "out"), None, None)
    ]


@pytest.mark.nightly
def test_a_batch_write_to_kafka_that_can_not_be_reached_fails_as_a_run(captured: Captured) -> None:
    rows = captured.spark.sql("SELECT 'v' AS value")
    writer = rows.write.format("kafka").option("topic", "t").option("kafka.bootstrap.servers", "127.0.0.1:1")
    # PySpark has no exception of its own for a failed task.
    with pytest.raises(Py4JJavaError):
        writer.option("kafka.max.block.ms", "500").save()
    sink = captured.flushed()
    assert sink.run_types("job.t") == [START, FAIL]
    assert sink.last_run("job.t").outputs[0].dataset == DatasetRef("kafka://127.0.0.1:1", "t")
