"""Streaming query 3: count flights per route with foreachBatch, which upserts a table and publishes what changed.

The table is Parquet with one partition per micro-batch: partition N has the counts of every route after batch N. A
batch reads the newest earlier partition and overwrites its own partition. So if a batch runs again after a crash, no
flight is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pipeline
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNTS = "origin STRING, dest STRING, flights BIGINT, miles BIGINT, last_seen TIMESTAMP"


def main() -> None:
    """Run the query."""
    options = pipeline.parse(pipeline.stream_parser(__doc__))
    spark = pipeline.session("flights-routes")
    table = options.home / "routes"

    def upsert(batch: DataFrame, batch_id: int) -> None:
        changed = count_routes(batch)
        counts = merge(stored(batch, table, batch_id), changed)
        counts.coalesce(1).write.mode("overwrite").parquet(part(table, batch_id))
        changed.select(
            F.concat_ws("-", "origin", "dest").alias("key"), F.to_json(F.struct(*changed.columns)).alias("value")
        ).write.format("kafka").option("kafka.bootstrap.servers", options.kafka).option("topic", pipeline.ROUTES).save()

    with pipeline.captured(spark, options):
        flights = pipeline.read_topic(spark, options, pipeline.ENRICHED, pipeline.ENRICHED_FLIGHT)
        query = (
            flights.writeStream.queryName("routes")
            .foreachBatch(upsert)
            .option("checkpointLocation", options.checkpoint("routes"))
        )
        pipeline.run_stream(query, options)
    spark.stop()


def count_routes(flights: DataFrame) -> DataFrame:
    """Flights, miles and the last scheduled departure of each route in a micro-batch."""
    return flights.groupBy("origin", "dest").agg(
        F.count("*").alias("flights"),
        F.sum("distance").alias("miles"),
        F.max("event_time").alias("last_seen"),
    )


def merge(before: DataFrame | None, changed: DataFrame) -> DataFrame:
    """Counts after a micro-batch: the earlier counts plus the micro-batch's counts."""
    every = changed if before is None else before.unionByName(changed)
    return every.groupBy("origin", "dest").agg(
        F.sum("flights").alias("flights"),
        F.sum("miles").alias("miles"),
        F.max("last_seen").alias("last_seen"),
    )


def stored(batch: DataFrame, table: Path, batch_id: int) -> DataFrame | None:
    """The table as it was before `batch_id`; None before the first."""
    before = previous(batch_id, (folder.name for folder in table.glob("batch_id=*")))
    if before is None:
        return None
    return batch.sparkSession.read.schema(COUNTS).parquet(part(table, before))


def part(table: Path, batch_id: int) -> str:
    """URI of one micro-batch's partition of the table."""
    return pipeline.uri(table / f"batch_id={batch_id}")


def previous(batch_id: int, partitions: Iterable[str]) -> int | None:
    """The newest batch before `batch_id` among partition folders such as `batch_id=7`."""
    return max((number for name in partitions if (number := int(name.partition("=")[2])) < batch_id), default=None)


if __name__ == "__main__":
    main()
