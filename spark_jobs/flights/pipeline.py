"""Shared parts of the flights scripts: their flags, the Spark session, the topics, and the loop of a streaming query.

    load ─▶ flights.departed ─▶ enrich ─▶ flights.enriched ─┬▶ delays ─▶ delays/ ─▶ daily_report ─▶ daily_report/
                                                            └▶ routes ─▶ routes/ and flights.routes

All files that a script writes are under `--home`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

APPLICATION = "flights"
DEPARTED = "flights.departed"
ENRICHED = "flights.enriched"
ROUTES = "flights.routes"

FLIGHT = (
    "event_time TIMESTAMP, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, distance INT, "
    "dep_delay INT, arr_delay INT, air_time INT"
)
"""The JSON value of `flights.departed`. `event_time` is the scheduled departure in UTC; the delays, in minutes, are
null for a flight that never left."""

ENRICHED_FLIGHT = f"{FLIGHT}, airline STRING, manufacturer STRING, model STRING, seats INT, built INT"
"""The JSON value of `flights.enriched`: the flight, with its airline's name and its plane if known."""

POLL_SECONDS = 1  # awaitTermination takes whole seconds


@dataclass(frozen=True, slots=True)
class Options:
    """The flags that every script takes.

    Attributes:
        home: Folder of everything the pipeline reads and writes as files.
        kafka: Bootstrap servers of the pipeline's topics.
        lineage: True if Headwater captures the job.
        rest: The script's own flags.
    """

    home: Path
    kafka: str
    lineage: bool
    rest: argparse.Namespace

    @property
    def data(self) -> Path:
        """Folder of the CSV files."""
        return self.home / "data"

    def output(self, name: str) -> str:
        """URI of a folder that a script writes."""
        return uri(self.home / name)

    def checkpoint(self, query: str) -> str:
        """URI of a streaming query's checkpoint."""
        return uri(self.home / "checkpoints" / query)


def uri(path: Path) -> str:
    """URI of a local path for Hadoop, not percent-encoded. Without the scheme, Hadoop uses its default file system."""
    return f"file://{path}"


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the common flags; a script adds its own flags and passes the parser to `parse`."""
    flags = argparse.ArgumentParser(
        description=(description or "").split("\n", 1)[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    kafka = os.environ.get("FLIGHTS_KAFKA") or os.environ.get("HEADWATER_KAFKA_BOOTSTRAP_SERVERS")
    # No default: a broker at the usual address may be somebody else's.
    flags.add_argument(
        "--kafka", default=kafka, required=not kafka, help="bootstrap servers (environment: FLIGHTS_KAFKA)"
    )
    home = os.environ.get("FLIGHTS_HOME") or "flights-home"
    flags.add_argument("--home", type=Path, default=home, help="folder of data and outputs (environment: FLIGHTS_HOME)")
    flags.add_argument("--no-lineage", action="store_true", help="run without Headwater's capture")
    return flags


def stream_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the flags of a streaming query added."""
    flags = parser(description)
    flags.add_argument("--max-offsets", type=positive, default=2_000, help="maximum number of records in a micro-batch")
    flags.add_argument(
        "--follow-until",
        type=Path,
        metavar="FILE",
        help="keep following the topic until FILE exists, then process what is left and stop; "
        "without it the query processes what the topic holds now and stops",
    )
    flags.add_argument(
        "--trigger-seconds", type=float, default=0.5, help="with --follow-until: seconds between triggers"
    )
    return flags


def positive(text: str) -> int:
    """An argparse type: a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def parse(flags: argparse.ArgumentParser, arguments: list[str] | None = None) -> Options:
    """The command line (default: the process's) as `Options`; a usage error exits with status 2."""
    parsed = flags.parse_args(arguments)
    return Options(parsed.home.absolute(), parsed.kafka, not parsed.no_lineage, parsed)


def session(app: str) -> SparkSession:
    """The Spark session; what `spark-submit --conf` sets wins over the settings here."""
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    conf = SparkConf()
    # The window's state and its aggregate are small: 200 shuffle partitions would be 200 idle tasks a micro-batch.
    conf.setIfMissing("spark.sql.shuffle.partitions", "2")
    # Times are UTC whatever the machine's zone, so that every run writes the same files.
    conf.setIfMissing("spark.sql.session.timeZone", "UTC")
    conf.setIfMissing("spark.ui.enabled", "false")
    spark = SparkSession.builder.config(conf=conf).appName(app).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def captured(spark: SparkSession, options: Options) -> AbstractContextManager[Any]:
    """Context of Headwater's capture: inside the `with`, reads and writes of `spark` become lineage.

    The lineage goes to the Kafka of the HEADWATER_* variables, else to the pipeline's own Kafka.
    """
    if not options.lineage:
        return nullcontext()
    from headwater_producers.spark import attach

    elsewhere = "HEADWATER_KAFKA_BOOTSTRAP_SERVERS" in os.environ
    where: dict[str, Any] = {} if elsewhere else {"kafka_bootstrap_servers": options.kafka}
    return attach(spark, job_name=APPLICATION, job_owner="team:flights", **where)


def read_topic(spark: SparkSession, options: Options, topic: str, schema: str) -> DataFrame:
    """A stream of a topic's JSON values as columns of `schema`."""
    from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", options.kafka)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", options.rest.max_offsets)
        .load()
    )
    return records.select(F.from_json(F.col("value").cast("string"), schema).alias("record")).select("record.*")


def run_stream(query: DataStreamWriter, options: Options) -> None:
    """Start `query`, and return when it has processed everything that `--follow-until` requires.

    Raises:
        StreamingQueryException: The query failed.
    """
    until: Path | None = options.rest.follow_until
    if until is None:
        query.trigger(availableNow=True).start().awaitTermination()
    else:
        follow(query.trigger(processingTime=f"{options.rest.trigger_seconds} seconds").start(), until.exists)


def follow(query: StreamingQuery, finished: Callable[[], bool]) -> None:
    """Let `query` run until `finished()`, then until it has nothing left to process, and stop it between micro-batches.

    Records put on the query's topics before `finished()` became true are processed. Micro-batches without data, which
    only move the watermark, are processed, too.
    """
    while not finished():
        if query.awaitTermination(POLL_SECONDS):
            return
    query.processAllAvailable()
    query.stop()
