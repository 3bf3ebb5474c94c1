"""One Spark driver of the benchmark: `python driver.py PORT KIND FOLDER`. It runs tasks that the benchmark requests.

Benchmark and driver communicate over the loopback interface, with one JSON document per line. The driver ends when the
benchmark has ended.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.errors import HeadwaterError
from headwater.stack.ports import LOOPBACK
from headwater_benchmarks.measuring import own_peak_mb, peak_mb, processor_seconds
from headwater_producers.spark import Capture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SCHEMA = (
    "id BIGINT, carrier STRING, origin STRING, target STRING, delay DOUBLE, distance BIGINT, at STRING, note STRING"
)


class DriverConnection:
    """One end of the connection between the benchmark and a driver."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(None)
        self._connection = connection
        self._file = connection.makefile("rw", encoding="utf-8")

    def send(self, document: dict[str, Any]) -> None:
        """Send one document."""
        self._file.write(json.dumps(document) + "\n")
        self._file.flush()

    def receive(self) -> dict[str, Any] | None:
        """Receive the next document; None if the other end has closed the connection."""
        line = self._file.readline()
        return json.loads(line) if line else None

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        """Let a driver run a task; return its answer.

        Raises:
            HeadwaterError: the task failed, or the driver has ended.
        """
        self.send({"task": task, **arguments})
        answer = self.receive()
        if answer is None:
            raise HeadwaterError(f"A Spark driver of the benchmark ended during {task!r}.")
        if "error" in answer:
            raise HeadwaterError(f"A Spark driver of the benchmark failed in {task!r}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._connection.close()


class BenchmarkedDriver:
    """The session, its streaming query, and the capture, if any. Each public method is a task."""

    def __init__(self, spark: SparkSession, capture: Capture | None, folder: Path) -> None:
        self._spark = spark
        self._capture = capture
        self._folder = folder
        self._query: StreamingQuery | None = None
        self._reported = 0
        gateway: Any = spark.sparkContext._gateway  # noqa: SLF001
        self._jvm_pid = int(gateway.proc.pid)

    def start_query(self, broker: str, source: str, target: str, records: int) -> dict[str, Any]:
        """Start a query from Kafka to Kafka, which parses, filters and extends JSON; `records` limits a micro-batch."""
        from pyspark.sql import functions as f

        read = (
            self._spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", broker)
            .option("subscribe", source)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", records)
            .load()
        )
        flights = read.select(f.from_json(read.value.cast("string"), SCHEMA).alias("flight"), "timestamp")
        derived = flights.select("flight.*", "timestamp").where("distance > 200")
        derived = derived.select(
            f.md5("carrier").alias("carrier"),
            f.concat_ws("-", "origin", "target").alias("route"),
            f.when(f.col("delay") > 15, "late").otherwise("on time").alias("state"),
            (f.col("distance") / f.greatest(f.col("delay"), f.lit(1.0))).alias("ratio"),
            f.to_timestamp("at").alias("at"),
            "timestamp",
        )
        value = f.to_json(f.struct(*derived.columns))
        self._query = (
            derived.select(derived.route.alias("key"), value.alias("value"))
            .writeStream.format("kafka")
            .queryName("bench")
            .option("kafka.bootstrap.servers", broker)
            .option("topic", target)
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .start()
        )
        return {}

    def drain_query(self) -> dict[str, Any]:
        """Process all available records; return ids and trigger durations of the micro-batches since the last call."""
        assert self._query is not None  # noqa: S101  it was started
        used = self._used()
        self._query.processAllAvailable()
        used = self._used() - used
        found = []
        # The JVM's objects are read, because PySpark would parse the whole progress of each micro-batch.
        for progress in self._query._jsq.recentProgress():  # noqa: SLF001
            if progress.numInputRows() and progress.batchId() >= self._reported:
                milliseconds = int(progress.durationMs().get("triggerExecution"))
                found.append({"batch": int(progress.batchId()), "milliseconds": milliseconds})
        self._reported = found[-1]["batch"] + 1 if found else self._reported
        return {"batches": found, "processor_seconds": used}

    def stop_query(self) -> dict[str, Any]:
        """End the query, and wait until all events are delivered."""
        assert self._query is not None  # noqa: S101  it was started
        self._query.stop()
        return self._flush()

    def write(self, rows: int, columns: int, projections: int, times: int) -> dict[str, Any]:
        """Write a frame as Parquet several times; return the seconds of each write, and of the flush of all events.

        The frame of numbers goes through several projections, each of which computes each column from two columns of
        the projection before.
        """
        seconds, used = [], self._used()
        for _ in range(times):
            frame = self._spark.range(rows).selectExpr(*(f"id + {number} AS c{number}" for number in range(columns)))
            for _ in range(projections):
                frame = frame.selectExpr(
                    *(f"c{number} * 2 + c{(number + 7) % columns} % 3 AS c{number}" for number in range(columns))
                )
            begun = time.perf_counter()
            frame.write.mode("overwrite").parquet(str(self._folder / f"wide-{columns}"))
            seconds.append(time.perf_counter() - begun)
        return {"seconds": seconds, **self._flush(), "processor_seconds": self._used() - used}

    def memory(self) -> dict[str, Any]:
        """Peaks of the memory so far, in MB."""
        return {"jvm": peak_mb(self._jvm_pid), "python": own_peak_mb()}

    def _flush(self) -> dict[str, Any]:
        begun = time.perf_counter()
        if self._capture is not None:
            flushed, status = self._capture.flush(120), self._capture.status()
            if not flushed or status.failed or status.dropped or status.publish_failed:
                raise RuntimeError(f"capture lost events: {status}")
        return {"flush_seconds": time.perf_counter() - begun}

    def _used(self) -> float:
        return time.process_time() + processor_seconds(self._jvm_pid)


def main() -> None:
    """Serve requests until the benchmark has ended."""
    port, kind, folder = sys.argv[1:]
    connection = DriverConnection(socket.create_connection((LOOPBACK, int(port))))
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("bench").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    capture = None
    if kind == "headwater":
        from headwater_producers.spark import attach

        capture = attach(spark)
    driver = BenchmarkedDriver(spark, capture, Path(folder))
    connection.send({"folder": folder})
    while (request := connection.receive()) is not None:
        try:
            answer = getattr(driver, request.pop("task"))(**request)
        except Exception as error:  # noqa: BLE001  reported to the benchmark, which decides
            answer = {"error": f"{type(error).__name__}: {error}"}
        connection.send(answer)
    spark.stop()


if __name__ == "__main__":
    main()
