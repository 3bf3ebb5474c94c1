"""Measure temperature and pressure at four sites, once a minute, from one hour to another of 1 June 2026.

    headwater run --with kafka measure.py 127.0.0.1:9092 0 15

The readings go to the topics `thermometers` and `barometers`, two hours in a write, each site to its own partition.
They are the same in every run. Thermometer 1 shows 15 degrees too much from 14:00 until 15:00.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SITES = 4
SEED = 38
WRITE_HOURS = 2


def main() -> None:
    """Write the hours that the command line names."""
    kafka, begin, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    spark = (
        SparkSession.builder.appName("measure")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    for first in range(begin, end, WRITE_HOURS):
        readings = minutes(spark, first, min(first + WRITE_HOURS, end))
        send(readings.withColumn("celsius", celsius()), "celsius", "thermometers", kafka)
        send(readings.withColumn("hectopascals", hectopascals()), "hectopascals", "barometers", kafka)
    spark.stop()


def minutes(spark: SparkSession, first: int, end: int) -> DataFrame:
    """A row for each minute of these hours and each site, by time."""
    day = spark.range(first * 60, end * 60, numPartitions=1).withColumnRenamed("id", "minute")
    at = F.timestamp_add("MINUTE", F.col("minute"), F.lit("2026-06-01").cast("timestamp"))
    return day.select("minute", F.explode(F.sequence(F.lit(1), F.lit(SITES))).alias("site"), at.alias("at"))


def celsius() -> Column:
    """Temperature: highest at 16:00 and at site 4, up to 1.5 degrees of noise, and the fault of thermometer 1."""
    is_bad = (F.col("site") == 1) & F.col("minute").between(14 * 60, 15 * 60 - 1)
    true = 17 + F.col("site") + 7 * F.cos((F.col("minute") - 16 * 60) * 2 * 3.1416 / 1440) + noise("celsius", 1.5)
    return F.round(true + F.when(is_bad, 15).otherwise(0), 1)


def hectopascals() -> Column:
    """Pressure: a low every hour, one site after the other, and up to 1 hectopascal of noise."""
    low = 7 * F.cos((F.col("minute") / 60 + F.col("site") / 4) * 2 * 3.1416)
    return F.round(1004 + low + noise("hectopascals", 1), 1)


def noise(name: str, most: float) -> Column:
    """A number between -most and most, the same in every run."""
    return (F.pmod(F.xxhash64(F.lit(SEED), F.lit(name), "site", "minute"), F.lit(2001)) / 1000 - 1) * most


def send(readings: DataFrame, value: str, topic: str, kafka: str) -> None:
    """Append readings to a topic; one task sends all of them, so each partition is in order of time."""
    records = readings.select(
        F.col("site").cast("string").alias("key"),
        F.to_json(F.struct("site", "at", value)).alias("value"),
        (F.col("site") - 1).alias("partition"),
    )
    records.write.format("kafka").option("kafka.bootstrap.servers", kafka).option("topic", topic).save()


if __name__ == "__main__":
    main()
