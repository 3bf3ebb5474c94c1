"""Streaming query 2: delay statistics of flights.enriched per hour, origin and carrier, appended to Parquet.

Append mode writes an hour when the watermark has passed the hour's end, so the newest two to three hours of flights
are still in state when the query stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pipeline
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LATE_MINUTES = 20  # more than the US Department of Transportation counts as delayed


def main() -> None:
    """Run the query."""
    options = pipeline.parse(pipeline.stream_parser(__doc__))
    spark = pipeline.session("flights-delays")
    with pipeline.captured(spark, options):
        flights = pipeline.read_topic(spark, options, pipeline.ENRICHED, pipeline.ENRICHED_FLIGHT)
        query = (
            statistics(flights)
            .writeStream.queryName("delays")
            .outputMode("append")
            .format("parquet")
            .option("path", options.output("delays"))
            .option("checkpointLocation", options.checkpoint("delays"))
        )
        pipeline.run_stream(query, options)
    spark.stop()


def statistics(flights: DataFrame) -> DataFrame:
    """One row per hour of scheduled departure, origin and carrier. Delays in minutes, over the flights that left."""
    return (
        flights.withWatermark("event_time", "2 hours")
        .groupBy(F.window("event_time", "1 hour"), "origin", "carrier", "airline")
        .agg(
            F.count("*").alias("flights"),
            F.count("dep_delay").alias("departed"),
            F.sum("dep_delay").alias("delay_minutes"),
            F.count(F.when(F.col("dep_delay") > LATE_MINUTES, 1)).alias("late"),
            F.sum("seats").alias("seats"),
        )
        .select(
            F.col("window.start").alias("hour"),
            *("origin", "carrier", "airline", "flights", "departed", "delay_minutes", "late", "seats"),
        )
    )


if __name__ == "__main__":
    main()
