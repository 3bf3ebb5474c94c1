"""Keep the events topic in Parquet, partitioned by day: `spark-submit archive.py --output s3a://lineage/archive`.

Each start continues where the last one stopped, archives the topic's records so far, and stops: schedule it hourly or
daily. With `--follow` it keeps running. `headwater graph rebuild --archive` reads the archive. Records are kept
unchanged, also unreadable ones, with their coordinates. Each record is in the archive exactly once.

    topic, topic_id, partition, offset    position of the record; the id changes if a topic is deleted and created again
    timestamp                             time of publication, which decides the record's day (UTC)
    key, value, headers                   the record

The archive's folder `_checkpoints` has a checkpoint for each incarnation of the topic.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REQUEST_SECONDS = 20


def main() -> None:
    """Run the job."""
    options = _parse()
    spark = SparkSession.builder.appName("lineage-archive").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    topic_id = incarnation(options.kafka, options.topic)
    writer = (
        records(spark, options.kafka, options.topic, topic_id)
        .writeStream.queryName("lineage-archive")
        .format("parquet")
        .partitionBy("day")
        .option("path", options.output)
        .option("checkpointLocation", f"{options.output}/_checkpoints/{options.topic}-{topic_id}")
    )
    trigger = {"processingTime": options.follow} if options.follow else {"availableNow": True}
    query = writer.trigger(**trigger).start()
    query.awaitTermination()
    spark.stop()


def records(spark: SparkSession, servers: str, topic: str, topic_id: str) -> DataFrame:
    """Records of the topic from its beginning, with the archive's columns."""
    read = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    return read.select(
        "topic",
        F.lit(topic_id).alias("topic_id"),
        "partition",
        "offset",
        "timestamp",
        "key",
        "value",
        "headers",
        F.to_date("timestamp").alias("day"),
    )


def incarnation(servers: str, topic: str) -> str:
    """Kafka's id of the topic's incarnation.

    Raises:
        KafkaException: there is no such topic, or the brokers don't answer.
    """
    admin = AdminClient({"bootstrap.servers": servers})
    asked = admin.describe_topics(TopicCollection([topic]), request_timeout=_REQUEST_SECONDS)
    return str(asked[topic].result().topic_id)


def _parse() -> argparse.Namespace:
    flags = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0], allow_abbrev=False)
    prefix = os.environ.get("HEADWATER_TOPIC_PREFIX") or "lineage"
    kafka = os.environ.get("HEADWATER_KAFKA_BOOTSTRAP_SERVERS")
    flags.add_argument("--output", required=True, help="folder of the archive, as Spark writes it")
    flags.add_argument(
        "--kafka",
        default=kafka,
        required=not kafka,
        help="bootstrap servers (environment: HEADWATER_KAFKA_BOOTSTRAP_SERVERS)",
    )
    flags.add_argument("--topic", default=f"{prefix}.events", help="the events topic")
    flags.add_argument("--follow", metavar="INTERVAL", help="keep running; interval between triggers, e.g. '5 minutes'")
    return flags.parse_args()


if __name__ == "__main__":
    main()
