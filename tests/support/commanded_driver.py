"""A Spark driver with capture that does what it is commanded to, for tests of what operators see of drivers.

    python -m support.commanded_driver FOLDER

It reads a command from each line, a method of `Job` and a number, and prints `done` after it. It ends with its input.
Its environment has the settings of capture.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater_producers.spark import Capture

READY_SECONDS = 120
FLUSH_SECONDS = 10


class CommandedDriver:
    """The process, seen by a test."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._log = folder / "driver.log"
        path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "support.commanded_driver", str(folder)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                env={**environment, "PYTHONPATH": path},
            )
        self._done = 0
        self._await_done()

    @property
    def log(self) -> str:
        """Its output so far."""
        return self._log.read_text(encoding="utf-8")

    def do(self, command: str, number: int) -> None:
        """Let it do something, and wait until it is done."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command} {number}\n")
        self.process.stdin.flush()
        self._await_done()

    def end(self) -> None:
        """Let it come to its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(patience(60)) == 0, self.log

    def _await_done(self) -> None:
        self._done += 1

        def done() -> bool:
            assert self.process.poll() is None, self.log
            return self.log.count("done\n") >= self._done

        eventually(done, READY_SECONDS, every=0.1, expecting="the driver is done")


@contextlib.contextmanager
def driving(environment: Mapping[str, str], folder: Path) -> Iterator[CommandedDriver]:
    """A driver that is gone at the end of the block."""
    folder.mkdir()
    driver = CommandedDriver(environment, folder)
    try:
        yield driver
    finally:
        driver.process.kill()
        driver.process.wait()


class Job:
    """Job of the driver, and what it is told to do."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._capture = self._attached()
        self._count = 0

    def write(self, number: int) -> None:
        """Write so many tables."""
        for _ in range(number):
            self._write("id")

    def write_wide(self, number: int) -> None:
        """Write so many tables, the lineage of each of which is some hundred kilobytes."""
        for _ in range(number):
            self._write(*(f"id AS column_{self._count}_{column}_{'x' * 400}" for column in range(300)))

    def write_at_once(self, number: int) -> None:
        """Write so many tables from as many threads."""
        with ThreadPoolExecutor(number) as threads:
            list(threads.map(lambda _: self._write("id"), range(number)))

    def write_unreadable(self, number: int) -> None:
        """Write so many tables of a technology whose connector meets what it doesn't expect.

        Plans that no connector of ours can read are defects, which are mended: there is none to cause this with.
        """
        from headwater_producers.spark.connectors.connector import Connector
        from headwater_producers.spark.connectors.registry import REGISTRY

        class Bewildered(Connector):
            classes = frozenset({"NoopTable"})

            def write(self, command: Any) -> None:
                raise LookupError

        bewildered = Bewildered()
        REGISTRY.add(bewildered)
        self.write(number)
        self._capture.flush(FLUSH_SECONDS)
        REGISTRY.remove(bewildered)

    def stream(self, number: int) -> None:
        """Run a streaming query for so many micro-batches."""
        folder = self._folder / "in"
        folder.mkdir(exist_ok=True)
        before = len(list(folder.iterdir()))
        for file in range(before, before + number):
            (folder / f"{file:03}.csv").write_text(f"{file}\n")
        frame = self._spark.readStream.schema("a INT").option("maxFilesPerTrigger", 1).csv(str(folder))
        query: Any = frame.writeStream.format("noop").queryName("q")
        started = query.option("checkpointLocation", str(self._folder / "cp")).trigger(availableNow=True).start()
        assert started.awaitTermination(int(patience(READY_SECONDS)))
        self._capture.flush(FLUSH_SECONDS)

    def stream_unseen(self, number: int) -> None:
        """Run the query without capture."""
        self._capture.close()
        self.stream(number)
        self._capture = self._attached()

    def keep(self, number: int) -> None:
        """Let checkpoints keep so many micro-batches."""
        self._spark.conf.set("spark.sql.streaming.minBatchesToRetain", number)

    def _attached(self) -> Capture:
        from headwater_producers.spark import attach

        return attach(self._spark, job_name="commanded")

    def _write(self, *columns: str) -> None:
        self._count += 1
        self._spark.range(1).selectExpr(*columns).write.mode("overwrite").format("noop").save()


def main() -> None:
    from pyspark.sql import SparkSession

    folder = Path(sys.argv[1])
    job = Job(SparkSession.builder.appName("commanded").getOrCreate(), folder)
    sys.stdout.write("done\n")
    sys.stdout.flush()
    for line in sys.stdin:
        command, number = line.split()
        getattr(job, command)(int(number))
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
