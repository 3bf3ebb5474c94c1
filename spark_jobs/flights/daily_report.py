"""Batch job 4: the daily report, hourly delays joined with the weather at the airport, one row per day and airline.

Each column comes from the flights, or from the weather of the hours and airports that have scheduled flights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import data
import pipeline
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEW_YORK = "America/New_York"


def main() -> None:
    """Run the job."""
    options = pipeline.parse(pipeline.parser(__doc__))
    spark = pipeline.session("flights-daily-report")
    with pipeline.captured(spark, options):
        delays = spark.read.parquet(options.output("delays"))
        rows = report(delays, data.read(spark, options.data, "weather"))
        rows.coalesce(1).write.mode("overwrite").parquet(options.output("daily_report"))
    spark.stop()


def conditions(temp: float | None, wind: float | None, rain: float | None, sight: float | None) -> str:
    """Classify an hour's weather by °F, mph, inches and miles. A missing measurement counts as calm and clear."""
    if rain and rain > 0:
        return "snow" if temp is not None and temp <= 32 else "rain"
    if wind is not None and wind >= 25:
        return "wind"
    return "fog" if sight is not None and sight < 3 else "fair"


def report(delays: DataFrame, weather: DataFrame) -> DataFrame:
    """One row per New York day, origin and airline, delays in minutes over the flights that left."""
    sky = F.udf(conditions, "string")
    observed = weather.select(
        F.col("origin"),
        F.col("time_hour").alias("hour"),
        F.col("wind_speed").alias("wind"),
        F.col("precip").alias("rain"),
        sky("temp", "wind_speed", "precip", "visib").alias("sky"),
    )
    hours = delays.join(observed, ["origin", "hour"], "left")
    day = F.to_date(F.from_utc_timestamp("hour", NEW_YORK)).alias("day")
    return (
        hours.groupBy(day, "origin", "carrier", "airline")
        .agg(
            F.sum("flights").alias("flights"),
            (F.sum("flights") - F.sum("departed")).alias("cancelled"),
            F.round(F.sum("delay_minutes") / F.sum("departed"), 1).alias("mean_delay"),
            F.max("max_delay").alias("max_delay"),
            F.round(F.sum("late") / F.sum("flights"), 3).alias("late_share"),
            F.max_by("sky", F.struct("max_delay", "hour")).alias("sky_at_max_delay"),
            F.max("wind").alias("max_wind"),
            F.round(F.sum("rain"), 2).alias("rain"),
        )
        .orderBy("day", "origin", "carrier")
    )


if __name__ == "__main__":
    main()
