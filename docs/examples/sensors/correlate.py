"""Send an alert for every site and five minutes in which it was hot and the pressure low.

    headwater run --with kafka correlate.py 127.0.0.1:9092

It processes what the topics `thermometers` and `barometers` hold now; the next run continues from its checkpoint.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HOT_CELSIUS = 24
LOW_HECTOPASCALS = 1001
READINGS = 120  # of each topic in a micro-batch: those of half an hour


def main() -> None:
    """Run the query until everything is processed."""
    kafka = sys.argv[1]
    spark = (
        SparkSession.builder.appName("correlate")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    thermometers = readings(spark, kafka, "thermometers", "celsius")
    barometers = readings(spark, kafka, "barometers", "hectopascals")
    query = (
        alerts(thermometers, barometers)
        .select(F.col("site").cast("string").alias("key"), F.to_json(F.struct("*")).alias("value"))
        .writeStream.queryName("correlate")
        .format("kafka")
        .option("kafka.bootstrap.servers", kafka)
        .option("topic", "alerts")
        .option("checkpointLocation", "checkpoint")
    )
    query.trigger(availableNow=True).start().awaitTermination()
    spark.stop()


def readings(spark: SparkSession, kafka: str, topic: str, value: str) -> DataFrame:
    """A stream of a topic's readings."""
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", kafka)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", READINGS)
        .load()
    )
    schema = f"site INT, at TIMESTAMP, {value} DOUBLE"
    return records.select(F.from_json(F.col("value").cast("string"), schema).alias("reading")).select("reading.*")


def alerts(thermometers: DataFrame, barometers: DataFrame) -> DataFrame:
    """Five minutes of a site with their means of both sensors, if these are hot and low.

    One watermark holds for both streams. Two, joined by Spark, would have the least of both.
    """
    return (
        thermometers.unionByName(barometers, allowMissingColumns=True)
        .withWatermark("at", "5 minutes")
        .groupBy("site", F.window("at", "5 minutes"))
        .agg(F.round(F.avg("celsius"), 1).alias("celsius"), F.round(F.avg("hectopascals"), 1).alias("hectopascals"))
        .where((F.col("celsius") >= HOT_CELSIUS) & (F.col("hectopascals") < LOW_HECTOPASCALS))
        .select("site", F.col("window.start").alias("since"), "celsius", "hectopascals")
    )


if __name__ == "__main__":
    main()
