"""One Spark driver of the benchmark: `python driver.py <port> <kind> <folder>`. Does what it is asked to, in order."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater_benchmarks.capture import jobs
from headwater_benchmarks.capture.link import call
from headwater_benchmarks.memory import own_peak_mb, peak_mb, processor_seconds, processor_seconds_of
from headwater_producers.spark import Capture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class Driver:
    """The session, its query if there is one, and the capture if there is one."""

    def __init__(self, spark: SparkSession, capture: Capture | None, folder: Path) -> None:
        self._spark = spark
        self._capture = capture
        self._folder = folder
        self._query: StreamingQuery | None = None
        self._reported = 0

    @property
    def _jvm_pid(self) -> int:
        gateway: Any = self._spark.sparkContext._gateway  # noqa: SLF001
        return int(gateway.proc.pid)

    def start_query(self, **arguments: Any) -> dict[str, Any]:
        """Starts the streaming query."""
        self._query = jobs.start_query(self._spark, checkpoint=str(self._folder / "checkpoint"), **arguments)
        return {}

    def drain_query(self) -> dict[str, Any]:
        """Has the query process all that there is; its micro-batches since the last time."""
        if self._query is None:
            raise RuntimeError("no query")
        python, jvm = time.process_time(), processor_seconds_of(self._jvm_pid)
        self._query.processAllAvailable()
        python, jvm = time.process_time() - python, processor_seconds_of(self._jvm_pid) - jvm
        found = jobs.trigger_milliseconds(self._query, skip=self._reported)
        self._reported = found[-1]["batch"] + 1 if found else self._reported
        return {
            "batches": found,
            "python_seconds": python,
            "jvm_seconds": jvm,
        }

    def stop_query(self) -> dict[str, Any]:
        """Ends the query."""
        if self._query is not None:
            self._query.stop()
        return self.flush()

    def write(self, rows: int, columns: int, projections: int, times: int) -> dict[str, Any]:
        """Writes that many times in a row; the seconds of each, and those until all was delivered."""
        seconds = []
        used = self._used()
        for _ in range(times):
            frame = jobs.wide_frame(self._spark, rows=rows, columns=columns, projections=projections)
            begun = time.perf_counter()
            jobs.write(frame, str(self._folder / f"wide-{columns}"))
            seconds.append(time.perf_counter() - begun)
        flushed = self.flush()
        return {"seconds": seconds, "processor_seconds": self._used() - used, **flushed}

    def flush(self) -> dict[str, Any]:
        """Waits until everything is delivered."""
        begun = time.perf_counter()
        if self._capture is not None:
            if not self._capture.flush(120):
                raise RuntimeError(f"not delivered: {self._capture.status()}")
            status = self._capture.status()
            if status.failed or status.dropped or status.publish_failed:
                raise RuntimeError(f"not all was captured: {status}")
        return {"flush_seconds": time.perf_counter() - begun}

    def memory(self) -> dict[str, Any]:
        """Peaks so far, in MB."""
        return {"jvm": peak_mb(self._jvm_pid), "python": own_peak_mb()}

    def _used(self) -> float:
        return processor_seconds(self._jvm_pid)


def main() -> None:
    """Serves until the benchmark is gone."""
    port, kind, folder = sys.argv[1:]
    line = call(int(port))
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("bench").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    capture = None
    if kind == "headwater":
        from headwater_producers.spark import attach

        capture = attach(spark)
    driver = Driver(spark, capture, Path(folder))
    line.send({"ready": True, "folder": folder})
    while (request := line.receive()) is not None:
        task = request.pop("task")
        if task == "end":
            break
        try:
            answer = getattr(driver, task)(**request)
        except Exception as error:  # noqa: BLE001  the benchmark gets it, and decides
            answer = {"error": f"{type(error).__name__}: {error}"}
        line.send(answer)
    spark.stop()
    line.send({"ended": True})


if __name__ == "__main__":
    main()
