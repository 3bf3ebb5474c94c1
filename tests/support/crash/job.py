"""A driver that is killed: streaming queries, captured. `python job.py ORDERS`, which is the JSON of a `driver.Orders`.

copy     Kafka ─▶ Kafka
files    files ─▶ duplicates taken out by event time ─▶ Parquet
split    rate-micro-batch ─▶ foreachBatch ─▶ two folders of Parquet

Its lineage goes to Kafka by way of an outbox, or to a file that gets it late, as by a producer whose broker is slow: a
kill loses what is in memory.
"""

from __future__ import annotations

import json
import struct
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import Capture, attach
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


HELD_SECONDS = 0.4


class SlowFile:
    """An EventSink: a file that gets what was published up to 0.4 s ago. Records are length-prefixed."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._held: list[bytes] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._write_now_and_then, daemon=True).start()

    def publish(self, event: LineageEvent) -> None:
        value = encode(event)
        with self._lock:
            self._held.append(struct.pack(">I", len(value)) + value)

    def flush(self, timeout_seconds: float) -> int:
        with self._lock:
            self._file.write(b"".join(self._held))
            self._held.clear()
        return 0

    def close(self) -> None:
        self.flush(0)

    def _write_now_and_then(self) -> None:
        while True:
            time.sleep(HELD_SECONDS)
            self.flush(0)


def copy(spark: SparkSession, brokers: str, topics: str) -> Any:
    kafka = {"kafka.bootstrap.servers": brokers}
    source = spark.readStream.format("kafka").options(**kafka, subscribe=f"{topics}in", startingOffsets="earliest")
    rows = (
        source.option("maxOffsetsPerTrigger", 25)
        .load()
        .select("key", F.upper(F.col("value").cast("string")).alias("value"))
    )
    return rows.writeStream.format("kafka").options(**kafka, topic=f"{topics}out")


def files(spark: SparkSession, folder: Path) -> Any:
    source = spark.readStream.schema("id BIGINT, at TIMESTAMP").option("maxFilesPerTrigger", 1)
    rows = source.json(str(folder / "in")).withWatermark("at", "10 seconds").dropDuplicates(["id", "at"])
    return rows.writeStream.format("parquet").option("path", str(folder / "files"))


def split(spark: SparkSession, folder: Path) -> Any:
    def both(frame: DataFrame, batch_id: int) -> None:
        frame.where("value % 2 = 0").write.mode("append").parquet(str(folder / "even"))
        frame.where("value % 2 = 1").write.mode("append").parquet(str(folder / "odd"))

    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 6).option("startTimestamp", 1_000)
    return source.load().writeStream.foreachBatch(both)


def captured(spark: SparkSession, orders: dict[str, Any], folder: Path) -> Capture:
    settings: dict[str, Any] = {
        "coalesce_max_batches": orders["coalesce"],
        "coalesce_max_seconds": 600.0,
        "capture_drain_timeout_seconds": 120.0,
    }
    if orders["sink"] == "file":
        return attach(spark, sink=SlowFile(folder / "events" / orders["life"]), **settings)
    return attach(
        spark,
        kafka_bootstrap_servers=orders["lineage_brokers"],
        topic_prefix=orders["lineage_prefix"],
        topic_partitions=1,
        outbox_path=folder / "outbox",
        **settings,
    )


def make_durable(capture: Capture) -> None:
    """Returns when all that has happened would survive the process. That Kafka has it nobody can wait for."""
    emission = capture._emission
    if emission is None or not emission.durability.secure(120):
        raise RuntimeError(capture.status())


def leave_nothing(capture: Capture) -> None:
    """Returns when Kafka has everything, what dead drivers have left included."""
    outbox = capture.status().outbox
    while outbox is not None and outbox.events:
        time.sleep(0.1)
        outbox = capture.status().outbox


def main(orders: dict[str, Any]) -> None:
    folder, life = Path(orders["folder"]), orders["life"]
    spark = SparkSession.builder.appName("killed").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    capture = captured(spark, orders, folder)
    writers = {
        "copy": lambda: copy(spark, orders["brokers"], orders["topics"]),
        "files": lambda: files(spark, folder),
        "split": lambda: split(spark, folder),
    }
    queries: list[StreamingQuery] = []
    for name in orders["queries"]:
        checkpoint = str(folder / "checkpoints" / name)
        named = writers[name]().queryName(name).option("checkpointLocation", checkpoint)
        queries.append(named.trigger(processingTime="400 milliseconds").start())
    (folder / f"started-{life}").touch()
    # A query has a progress only once it has a plan: so all have emitted their START, and what went before it.
    while any(query.lastProgress is None and query.isActive for query in queries):
        time.sleep(0.05)
    make_durable(capture)
    (folder / f"caught-up-{life}").touch()
    while not (folder / "end").exists():
        time.sleep(0.1)
        if failed := [query.exception() for query in queries if query.exception() is not None]:
            raise RuntimeError(failed)
    for query in queries:
        query.stop()
    if not capture.flush(120):
        raise RuntimeError(capture.status())
    leave_nothing(capture)
    capture.close()
    status = capture.status()
    if status.failed or status.dropped or status.publish_failed or status.lost or status.gaps:
        raise RuntimeError(status)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
