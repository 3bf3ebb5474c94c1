"""Descriptions of streaming queries, and their use by writes inside foreachBatch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from headwater_producers.spark.execution import describe, describe_streaming
from headwater_producers.spark.plan import PlanDescription, SourceKind, WriteMode
from headwater_schemas.events import DatasetRef
from headwater_schemas.identity import plan_digest
from spark.plan.goldens import check, edge_lines
from spark.plan.listener import executions
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

pytestmark = pytest.mark.spark

FLIGHT = "carrier STRING, origin STRING, dest STRING, tailnum STRING, dep_delay DOUBLE, time_hour TIMESTAMP"
# Nothing listens there, and nothing needs to: a query makes its plan before it asks its sources. They give up soon,
# because a query can't be stopped while Kafka's client waits (a minute, by default).
NOWHERE = "localhost:1"
IMPATIENT = {
    "kafka.bootstrap.servers": NOWHERE,
    "kafka.default.api.timeout.ms": "200",
    "kafka.request.timeout.ms": "100",
    "fetchOffset.numRetries": "1",
    "fetchOffset.retryIntervalMs": "1",
}


@pytest.fixture(scope="module")
def reference(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with airlines as CSV and planes as Parquet."""
    folder = str(tmp_path_factory.mktemp("reference"))
    airlines = spark.sql("SELECT 'AA' AS carrier, 'American' AS name")
    airlines.coalesce(1).write.option("header", "true").csv(f"{folder}/airlines")
    spark.sql("SELECT 'N1' AS tailnum, 1999 AS year, 'BOEING' AS maker").write.parquet(f"{folder}/planes")
    spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(id, name)").write.parquet(f"{folder}/numbers")
    return folder


def topic(spark: SparkSession, name: str) -> DataFrame:
    return spark.readStream.format("kafka").options(**IMPATIENT, subscribe=name).load()


def flights(spark: SparkSession, name: str) -> DataFrame:
    parsed = F.from_json(F.col("value").cast("string"), FLIGHT).alias("flight")
    return topic(spark, name).select(parsed).select("flight.*")


def plan_of(writer: DataStreamWriter, spark: SparkSession, checkpoint: object) -> PlanDescription:
    """The description of the query, which is stopped as soon as it has a plan."""
    query: Any = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        return _when_planned(query, spark)
    finally:
        query.stop()


def _when_planned(query: StreamingQuery, spark: SparkSession) -> PlanDescription:
    def planned() -> PlanDescription | None:
        description = describe_streaming(query, session=spark)
        return description if description.streaming is not None else None

    found = eventually(planned, 60, every=0.05, expecting="the query has a plan")
    assert found is not None
    return found


def enriched(spark: SparkSession, reference: str) -> DataFrame:
    airlines = spark.read.option("header", "true").csv(f"{reference}/airlines")
    planes = spark.read.parquet(f"{reference}/planes")
    joined = flights(spark, "flights.departed").join(airlines, "carrier", "left").join(planes, "tailnum", "left")
    late = F.when(F.col("dep_delay") > 15, "late").otherwise("on time").alias("state")
    row = F.struct("carrier", F.col("name").alias("airline"), "origin", "dep_delay", "time_hour", "maker", late)
    return joined.select(F.col("origin").cast("binary").alias("key"), F.to_json(row).alias("value"))


def to_topic(frame: DataFrame, name: str) -> DataStreamWriter:
    return frame.writeStream.format("kafka").option("kafka.bootstrap.servers", NOWHERE).option("topic", name)


def test_topic_to_topic(spark: SparkSession, reference: str, tmp_path: Path) -> None:
    description = plan_of(to_topic(enriched(spark, reference), "flights.enriched"), spark, tmp_path)
    assert description.command == "WriteToMicroBatchDataSource"
    assert description.streaming is not None
    assert description.streaming.source_descriptions == ("KafkaV2[Subscribe[flights.departed]]",)
    source, airlines, planes = description.inputs
    assert (source.dataset, source.kind) == (DatasetRef(f"kafka://{NOWHERE}", "flights.departed"), SourceKind.KAFKA)
    assert (source.source_index, source.bootstrap_servers) == (0, NOWHERE)
    assert [item.dataset.name.rsplit("/", 1)[1] for item in (airlines, planes)] == ["airlines", "planes"]
    assert airlines.source_index is None
    assert airlines.position is not None
    (output,) = description.outputs
    assert (output.dataset.name, output.mode) == ("flights.enriched", WriteMode.APPEND)
    assert output.schema is not None
    assert ("value.dep_delay", "double") in [(field.path, field.type) for field in output.schema.fields]
    check("streaming", "topic to topic", edge_lines(description.lineage))


def test_windows_to_parquet(spark: SparkSession, tmp_path: Path) -> None:
    delays = flights(spark, "flights.enriched").withWatermark("time_hour", "2 hours")
    stats = delays.groupBy(F.window("time_hour", "1 hour"), "origin", "carrier")
    rows = stats.agg(F.avg("dep_delay").alias("mean_delay"), F.count("*").alias("flights"))
    columns = rows.select(F.col("window.start").alias("hour"), "origin", "carrier", "mean_delay", "flights")
    writer = columns.writeStream.format("parquet").partitionBy("origin").option("path", f"{tmp_path}/stats")
    description = plan_of(writer, spark, tmp_path / "checkpoint")
    (output,) = description.outputs
    assert output.dataset == DatasetRef("file", f"{tmp_path}/stats")
    assert (output.format, output.partition_columns, output.mode) == ("parquet", ("origin",), WriteMode.APPEND)
    check("streaming", "windows to parquet", edge_lines(description.lineage))


def test_a_restarted_query_has_the_same_digest(spark: SparkSession, reference: str, tmp_path: Path) -> None:
    first = plan_of(to_topic(enriched(spark, reference), "flights.enriched"), spark, tmp_path)
    again = plan_of(to_topic(enriched(spark, reference), "flights.enriched"), spark, tmp_path)
    assert plan_digest(first.lineage) == plan_digest(again.lineage)
    assert first.lineage == again.lineage


def test_several_topics_share_a_source(spark: SparkSession, tmp_path: Path) -> None:
    names = topic(spark, "b,a").select("topic", "value")
    description = plan_of(to_topic(names.select("value"), "both"), spark, tmp_path)
    assert [(i.dataset.name, i.source_index) for i in description.inputs] == [("a", 0), ("b", 0)]
    check("streaming", "two topics of one source", edge_lines(description.lineage))


def test_topics_of_a_pattern_are_reported_as_unknown(spark: SparkSession, tmp_path: Path) -> None:
    source = spark.readStream.format("kafka").options(**IMPATIENT, subscribePattern="flights\\..*")
    frame = source.load().select("value")
    description = plan_of(to_topic(frame, "all"), spark, tmp_path)
    assert not description.lineage.complete
    assert description.inputs == ()
    assert description.outputs[0].dataset.name == "all"
    assert description.streaming is not None
    assert description.streaming.pattern_sources == (0,)


def test_topics_of_a_pattern_are_emitted_by_progress(spark: SparkSession, tmp_path: Path) -> None:
    source = spark.readStream.format("kafka").options(**IMPATIENT, subscribePattern="flights\\..*")
    writer = to_topic(source.load().select("value"), "all").option("checkpointLocation", str(tmp_path))
    query = writer.start()
    try:
        _when_planned(query, spark)
        description = describe_streaming(query, session=spark, topics={0: ["flights.b", "flights.a"]})
    finally:
        query.stop()
    assert [(i.dataset.name, i.topic_pattern) for i in description.inputs] == [
        ("flights.a", "flights\\..*"),
        ("flights.b", "flights\\..*"),
    ]
    assert description.lineage.complete


def test_sources_are_numbered_as_progress_numbers_them(spark: SparkSession, reference: str, tmp_path: Path) -> None:
    numbers = spark.readStream.schema("id INT, name STRING").parquet(f"{reference}/numbers")
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    joined = rate.join(numbers, rate.value == numbers.id).union(rate.selectExpr("timestamp", "value", "1", "'x'"))
    writer = joined.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    query = writer.start()
    try:
        _first_progress(query)
        progress: Any = query.lastProgress
        description = describe_streaming(query, session=spark)
    finally:
        query.stop()
    assert description.streaming is not None
    emitted = tuple(source["description"] for source in progress["sources"])
    assert description.streaming.source_descriptions == emitted
    for source in description.inputs:
        assert source.source_index is not None
        assert ("numbers" in source.dataset.name) is ("numbers" in emitted[source.source_index])


def _first_progress(query: StreamingQuery) -> None:
    eventually(lambda: query.lastProgress is not None, 60, every=0.05, expecting="a micro-batch has ended")


def test_writes_inside_for_each_batch(spark: SparkSession, reference: str, tmp_path: Path) -> None:
    numbers = spark.readStream.schema("id INT, name STRING").parquet(f"{reference}/numbers")
    counted = numbers.where("id > 0").groupBy(F.upper("name").alias("letter")).agg(F.sum("id").alias("total"))
    spark.sql("SELECT 'A' AS letter, 5L AS total").write.parquet(f"{tmp_path}/old")

    def upsert(batch: DataFrame, _number: int) -> None:
        old = spark.read.parquet(f"{tmp_path}/old")
        kept = old.join(batch, "letter", "left_anti")
        kept.unionByName(batch).write.mode("overwrite").parquet(f"{tmp_path}/new")
        pairs = batch.alias("a").join(batch.alias("b"), F.col("a.total") == F.col("b.total"))
        pairs.select("a.letter", F.col("b.letter").alias("other")).write.mode("append").json(f"{tmp_path}/pairs")

    writer = counted.writeStream.outputMode("complete").foreachBatch(upsert).trigger(availableNow=True)
    with executions(spark) as found:
        query = writer.option("checkpointLocation", f"{tmp_path}/checkpoint").start()
        assert query.awaitTermination(int(patience(90)))
    outer = describe_streaming(query, session=spark)
    assert outer.streaming is not None
    assert (outer.outputs, outer.streaming.sink_kind) == ((), SourceKind.CALLBACK)
    inner = [describe(execution, session=spark, upstream=outer.upstream) for execution in found]
    new, pairs = (description for description in inner if description.command)
    assert sorted(i.dataset.name.rsplit("/", 1)[1] for i in new.inputs) == ["numbers", "old"]
    assert [i.source_index for i in pairs.inputs] == [0]
    check("streaming", "foreachBatch: upsert", edge_lines(new.lineage))
    check("streaming", "foreachBatch: self-join of the batch", edge_lines(pairs.lineage))
    blind = [describe(execution, session=spark) for execution in found]
    assert not any(description.lineage.complete for description in blind if description.command)


def test_a_query_without_a_plan_yet_says_so(spark: SparkSession) -> None:
    description = describe_streaming(object(), session=spark)
    assert description.lineage.incomplete_reason == "the plan couldn't be read (AttributeError)"


def test_stateful_pandas(spark: SparkSession, reference: str) -> None:
    from headwater_producers.spark.explain import explain_lineage
    from spark.plan.goldens import lines

    numbers = spark.readStream.schema("id INT, name STRING").parquet(f"{reference}/numbers")
    counted = numbers.groupBy("name").applyInPandasWithState(
        lambda _key, frames, _state: frames, "name STRING, n INT", "n INT", "update", "NoTimeout"
    )
    check("streaming", "applyInPandasWithState", lines(explain_lineage(counted)))


def test_deduplication_within_the_watermark(spark: SparkSession) -> None:
    from headwater_producers.spark.explain import explain_lineage
    from spark.plan.goldens import lines

    rows = flights(spark, "flights").withWatermark("time_hour", "1 hour").dropDuplicatesWithinWatermark(["tailnum"])
    check("streaming", "dropDuplicatesWithinWatermark", lines(explain_lineage(rows.select("carrier"))))


def test_stream_to_stream_join(spark: SparkSession) -> None:
    from headwater_producers.spark.explain import explain_lineage
    from spark.plan.goldens import lines

    left = flights(spark, "departed").withWatermark("time_hour", "1 hour").select("tailnum", "time_hour", "origin")
    right = flights(spark, "arrived").withWatermark("time_hour", "1 hour").select("tailnum", "dest")
    check("streaming", "stream-stream join", lines(explain_lineage(left.join(right, "tailnum").drop("time_hour"))))
