"""Work of the drivers: one streaming query, and batch writes of many columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_benchmarks.capture.feed import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def start_query(
    spark: SparkSession, *, bootstrap_servers: str, source: str, target: str, checkpoint: str, records: int
) -> StreamingQuery:
    """Kafka to Kafka: JSON parsed, filtered, derived from and written as JSON; at most `records` in a micro-batch."""
    from pyspark.sql import functions as f

    read = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", records)
        .load()
    )
    flights = read.select(f.from_json(read.value.cast("string"), SCHEMA).alias("flight"), "timestamp").select(
        "flight.*", "timestamp"
    )
    derived = flights.where("distance > 200").select(
        f.md5("carrier").alias("carrier"),
        f.concat_ws("-", "origin", "target").alias("route"),
        f.when(f.col("delay") > 15, "late").otherwise("on time").alias("state"),
        (f.col("distance") / f.greatest(f.col("delay"), f.lit(1.0))).alias("ratio"),
        f.to_timestamp("at").alias("at"),
        "timestamp",
    )
    value = f.to_json(f.struct(*derived.columns))
    return (
        derived.select(derived.route.alias("key"), value.alias("value"))
        .writeStream.format("kafka")
        .queryName("bench")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("topic", target)
        .option("checkpointLocation", checkpoint)
        .start()
    )


def trigger_milliseconds(query: StreamingQuery, *, skip: int) -> list[dict[str, Any]]:
    """Id, rows and trigger duration of each micro-batch after the first `skip`."""
    found = []
    # The JVM's own objects: PySpark would parse each progress whole.
    for progress in query._jsq.recentProgress():  # noqa: SLF001
        duration = progress.durationMs()
        if progress.numInputRows() and progress.batchId() >= skip:
            found.append(
                {
                    "batch": int(progress.batchId()),
                    "rows": int(progress.numInputRows()),
                    "milliseconds": int(duration.get("triggerExecution")),
                }
            )
    return found


def wide_frame(spark: SparkSession, *, rows: int, columns: int, projections: int) -> DataFrame:
    """`columns` columns of numbers, each derived from two others in each of several projections."""
    frame = spark.range(rows).selectExpr(*(f"id + {number} AS c{number}" for number in range(columns)))
    for _ in range(projections):
        frame = frame.selectExpr(
            *(f"c{number} * 2 + c{(number + 7) % columns} % 3 AS c{number}" for number in range(columns))
        )
    return frame


def write(frame: DataFrame, path: str) -> None:
    """Writes it as Parquet, over what was there."""
    frame.write.mode("overwrite").parquet(path)
