"""Load flights onto the topic flights.departed, in event-time order, keyed by carrier and flight number.

A slice is one Spark write; slices follow each other in time, and inside a slice one sorted task feeds the producer, so
every partition of the topic is in the order of scheduled departures.
"""

from __future__ import annotations

import argparse
import time
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import data
import pipeline
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

YEAR_START = date(2013, 1, 1)
YEAR_DAYS = 365


def main() -> None:
    """Write the slices one after the other, pausing between them."""
    options = pipeline.parse(arguments())
    spark = pipeline.session("flights-load")
    flags = options.rest
    with pipeline.captured(spark, options):
        flights = of_days(
            data.read(spark, options.data, "flights"), YEAR_START, YEAR_START + timedelta(days=flags.days)
        )
        # The file is one CSV of 31 MB: parse it once, not once a slice (the year is 30 MB in memory).
        flights.persist()
        for number, (first, end) in enumerate(slices(YEAR_START, flags.days, flags.slices)):
            if number:
                time.sleep(flags.pause_seconds)
            records(of_days(flights, first, end)).write.format("kafka").option(
                "kafka.bootstrap.servers", options.kafka
            ).option("topic", pipeline.DEPARTED).save()
            print(f"flights of {first} until {end} are on {pipeline.DEPARTED}", flush=True)
    spark.stop()


def arguments() -> argparse.ArgumentParser:
    """The script's flags."""
    flags = pipeline.parser(__doc__)
    flags.add_argument("--days", type=day_count, default=31, help="number of days of 2013, from 1 January")
    flags.add_argument("--slices", type=pipeline.positive, default=8, help="number of Spark writes")
    flags.add_argument("--pause-seconds", type=float, default=1.0, help="pause between two writes, in seconds")
    return flags


def day_count(text: str) -> int:
    """An argparse type: 1 to 365."""
    days = pipeline.positive(text)
    if days > YEAR_DAYS:
        raise argparse.ArgumentTypeError(f"the data cover one year: {days} days are too many")
    return days


def slices(start: date, days: int, count: int) -> list[tuple[date, date]]:
    """Cut `days` days into `count` half-open ranges, none empty, their lengths at most a day apart.

    More slices than days makes one slice a day.
    """
    count = min(count, days)
    bounds = [start + timedelta(days=days * number // count) for number in range(count + 1)]
    return list(pairwise(bounds))


def of_days(flights: DataFrame, first: date, end: date) -> DataFrame:
    """The flights scheduled on New York's days `[first, end)`."""
    day = F.make_date("year", "month", "day")
    return flights.where((day >= F.lit(first)) & (day < F.lit(end)))


def records(flights: DataFrame) -> DataFrame:
    """The flights as Kafka records, ordered by event time."""
    value = flights.select(
        F.timestamp_add("MINUTE", F.col("minute"), F.col("time_hour")).alias("event_time"),
        *("carrier", "flight", "tailnum", "origin", "dest", "distance", "dep_delay", "arr_delay", "air_time"),
    )
    # The file has one or two splits, which are sorted as one, so that every partition of the topic is in order.
    return (
        value.coalesce(1)
        .sortWithinPartitions("event_time", "carrier", "flight", "origin")
        .select(
            F.concat("carrier", "flight").alias("key"),
            F.to_json(F.struct(*value.columns)).alias("value"),
        )
    )


if __name__ == "__main__":
    main()
