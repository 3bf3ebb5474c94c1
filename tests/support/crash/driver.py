"""Driver: one life of the job, in a process group of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from headwater.stack import ensure_jars, java_runtime
from support.waiting import eventually, patience

# Startup of Spark takes most of it, mostly 20 s; on two cores with ten times the work that they can do, minutes.
SECONDS = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Orders of one start of the job.

    Attributes:
        folder: of the whole history: checkpoints, data, events, outbox.
        life: which start this is; names its marks and its events.
        brokers: Kafka's, for the data.
        topics: what the names of the data's topics begin with.
        queries: those to start.
        sink: where lineage goes, `outbox` or `file`.
        coalesce: how many micro-batches may share an event.
        lineage_brokers, lineage_prefix: where the outbox relays to.
    """

    folder: str
    life: str
    brokers: str
    topics: str
    queries: tuple[str, ...]
    sink: str
    coalesce: int
    lineage_brokers: str
    lineage_prefix: str


class Driver:
    """Starts the job."""

    def __init__(self, orders: Orders) -> None:
        self.folder = folder = Path(orders.folder)
        self.life = orders.life
        self.log = folder / f"log-{self.life}"
        jars = ",".join(str(jar) for jar in ensure_jars("spark"))
        options = ["--master", "local[2]", "--driver-memory", "768m", "--jars", jars]
        options += ["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
        for setting in ("spark.ui.enabled=false", "spark.sql.shuffle.partitions=1"):
            options += ["--conf", setting]
        (folder / "events").mkdir(exist_ok=True)
        (folder / "in").mkdir(exist_ok=True)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("job.py")), json.dumps(asdict(orders))],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={
                    **os.environ,
                    **java_runtime().environment(),
                    "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"]),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "HEADWATER_KAFKA_CLUSTER_NAME": "here",
                },
                cwd=folder,
                start_new_session=True,
            )

    def wait_for(self, mark: str, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Waits until the job has left a mark: `started`, `caught-up`."""

        def is_left() -> bool:
            if (self.folder / f"{mark}-{self.life}").exists():
                return True
            if self.process.poll() is not None:
                raise RuntimeError(f"the driver has ended: {self.output()}")
            meanwhile()
            return False

        try:
            eventually(is_left, SECONDS, expecting=f"mark {mark!r}")
        except AssertionError as error:
            raise TimeoutError(f"{error}: {self.output()}") from None

    def kill(self, *, python_alone: bool = False) -> None:
        """SIGKILL, and waits until all of it is gone.

        Args:
            python_alone: leaves the JVM to notice by itself that its Python is gone; it commits on until then.
        """
        if python_alone:
            self.process.kill()
        else:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        try:
            eventually(lambda: not _alive(self.process.pid), 20, expecting="the JVM has ended by itself")
        except AssertionError:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            eventually(lambda: not _alive(self.process.pid), 20, expecting="the JVM has ended")

    def end(self) -> None:
        """Has the job end properly."""
        (self.folder / "end").touch()
        try:
            if self.process.wait(patience(SECONDS)) != 0:
                raise RuntimeError(f"the driver has failed: {self.output()}")
        finally:
            self.kill() if self.process.poll() is None else None
            (self.folder / "end").unlink()

    def output(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-4_000:]


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
