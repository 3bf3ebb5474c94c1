"""Streaming query 1: parse flights.departed, join airlines and planes, write flights.enriched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pipeline
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main() -> None:
    """Run the query."""
    options = pipeline.parse(pipeline.stream_parser(__doc__))
    spark = pipeline.session("flights-enrich")
    with pipeline.captured(spark, options):
        flights = pipeline.read_topic(spark, options, pipeline.DEPARTED, pipeline.FLIGHT)
        enriched = enrich(flights, data.read(spark, options.data, "airlines"), data.read(spark, options.data, "planes"))
        records = enriched.select(
            F.concat("carrier", "flight").alias("key"), F.to_json(F.struct(*enriched.columns)).alias("value")
        )
        query = (
            records.writeStream.queryName("enrich")
            .format("kafka")
            .option("kafka.bootstrap.servers", options.kafka)
            .option("topic", pipeline.ENRICHED)
            .option("checkpointLocation", options.checkpoint("enrich"))
        )
        pipeline.run_stream(query, options)
    spark.stop()


def enrich(flights: DataFrame, airlines: DataFrame, planes: DataFrame) -> DataFrame:
    """Join each flight with its airline's name and its plane. These are left joins, so that no flight is lost."""
    airline = airlines.select("carrier", F.col("name").alias("airline"))
    plane = planes.select("tailnum", "manufacturer", "model", "seats", F.col("year").alias("built"))
    return (
        flights.join(F.broadcast(airline), "carrier", "left")
        .join(F.broadcast(plane), "tailnum", "left")
        .select(*flights.columns, "airline", "manufacturer", "model", "seats", "built")
    )


if __name__ == "__main__":
    main()
