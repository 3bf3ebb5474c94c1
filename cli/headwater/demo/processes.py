"""Child processes of the demo: the Spark scripts and the consumer. They end with the demo, even if it is killed."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headwater.demo.facts import committed_batches
from headwater.demo.folder import DemoFolder
from headwater.demo.jobs import DemoJob, scripts_folder
from headwater.demo.view import JobState, JobView
from headwater.errors import HeadwaterError
from headwater.stack import StackInfo, ensure_jars, java_runtime
from headwater.stack.process import GuardedProcess
from headwater_consumers.materializer.settings import MaterializerSettings

GROUP = MaterializerSettings().group
"""Default consumer group of `headwater consume`, so that a later consumer doesn't read the demo's records again."""

# Measured on query 2 over one month: 20 s of CPU with these options, 40 s without. The jobs are too short for the
# optimizing compiler, and the heaps too small for a concurrent collector.
_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_DRIVER_HEAP = "512m"

# The user's settings for other installations of Spark, Java and Headwater must not affect the demo.
_NOT_INHERITED = ("SPARK_", "PYSPARK_", "HADOOP_", "HEADWATER_", "FLIGHTS_")

_RESTARTS = 3


def job_command(job: DemoJob) -> list[str]:
    """The command of a script."""
    return [sys.executable, str(scripts_folder() / f"{job.name}.py"), *job.arguments]


def consumer_command() -> list[str]:
    """The command of the consumer."""
    return [sys.executable, "-m", "headwater", "consume"]


def environment(folder: DemoFolder, info: StackInfo) -> dict[str, str]:
    """Environment of every child process: the stack's addresses, Java and jars."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
    kept = {name: os.environ[name] for name in ("HEADWATER_CACHE_DIR",) if name in os.environ}
    return {
        **inherited,
        **kept,
        **java_runtime().environment(),
        "PYTHONUNBUFFERED": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": submit_arguments(ensure_jars("spark")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder.work),
        "FLIGHTS_HOME": str(folder.home),
        "FLIGHTS_KAFKA": info.bootstrap_servers,
        "HEADWATER_CONFIG": str(folder.settings_file),
        "HEADWATER_DATA_DIR": str(folder.root),
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": info.bootstrap_servers,
        "HEADWATER_KAFKA_CLUSTER_NAME": info.settings()["kafka"]["cluster_name"],
        "HEADWATER_NEO4J_URI": info.neo4j_uri,
        "HEADWATER_NEO4J_USER": info.neo4j_user,
        "HEADWATER_NEO4J_PASSWORD": info.neo4j_password,
        "HEADWATER_MATERIALIZER_GROUP": GROUP,
        "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
        "HEADWATER_LOG_FORMAT": "text",
    }


def submit_arguments(jars: list[Path]) -> str:
    """`PYSPARK_SUBMIT_ARGS`: arguments of spark-submit."""
    options = {
        "--master": "local[1]",
        "--driver-memory": _DRIVER_HEAP,
        "--driver-java-options": _JVM,
        "--jars": ",".join(map(str, jars)),
        "--conf": "spark.ui.showConsoleProgress=false",
    }
    return shlex.join([*(part for option in options.items() for part in option), "pyspark-shell"])


@dataclass(slots=True)
class Running:
    """Process of a job.

    Attributes:
        started: Start time, monotonic seconds.
        seconds: Duration; None while the process runs.
    """

    job: DemoJob
    process: GuardedProcess
    started: float = field(default_factory=time.monotonic)
    seconds: float | None = None

    @classmethod
    def start(cls, job: DemoJob, folder: DemoFolder, variables: Mapping[str, str]) -> Running:
        """Start the job's script."""
        log = folder.logs / f"{job.name}.log"
        return cls(job, GuardedProcess(f"Job {job.name}", job_command(job), output=log, environment=variables))

    def finished(self) -> bool:
        """Return True if the process has ended well.

        Raises:
            HeadwaterError: The process has failed; the message has the end of its log.
        """
        status = self.process.exit_status()
        if status is None:
            return False
        self.process.stop()
        if status:
            raise ended_badly(self.process, status)
        if self.seconds is None:
            self.seconds = time.monotonic() - self.started
        return True


class DemoConsumer:
    """Process of the consumer. `watch` restarts it if it was killed from outside, as in production."""

    def __init__(self, folder: DemoFolder, variables: Mapping[str, str]) -> None:
        self._folder = folder
        self._variables = variables
        self.restarts = 0
        self._process = self._start()

    @property
    def pid(self) -> int:
        """Process id of the running consumer."""
        return self._process.pid

    @property
    def log(self) -> Path:
        """Output of the consumer."""
        return self._process.log

    def log_tail(self) -> str:
        """Last lines of the consumer's output."""
        return self._process.log_tail()

    def watch(self) -> None:
        """Restart the consumer if it was killed.

        Raises:
            HeadwaterError: The consumer failed, or was killed too often.
        """
        status = self._process.exit_status()
        if status is None:
            return
        self._process.stop()
        if status >= 0 or self.restarts == _RESTARTS:
            raise ended_badly(self._process, status)
        self.restarts += 1
        self._process = self._start()

    def stop(self) -> None:
        """Let the consumer drain, commit and end.

        Raises:
            HeadwaterError: The consumer ended with an error.
        """
        self._process.stop()
        if status := self._process.exit_status():
            raise ended_badly(self._process, status)

    def abandon(self) -> None:
        """End the consumer and ignore its exit status."""
        self._process.stop()

    def _start(self) -> GuardedProcess:
        log = self._folder.logs / (f"consumer-{self.restarts}.log" if self.restarts else "consumer.log")
        return GuardedProcess("The consumer", consumer_command(), output=log, environment=self._variables)


def ended_badly(process: GuardedProcess, status: int) -> HeadwaterError:
    """The error for a child that failed."""
    how = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
    return HeadwaterError(f"{process.name} {how}.\n{process.log_tail(30)}", fix=f"See {process.log}.")


class Pipeline:
    """The jobs of one demo. Call `step` until it returns that all are done."""

    def __init__(self, jobs: Sequence[DemoJob], folder: DemoFolder, variables: Mapping[str, str]) -> None:
        self._jobs = jobs
        self._folder = folder
        self._variables = variables
        self._running: dict[str, Running] = {}
        self._done: set[str] = set()

    def step(self) -> bool:
        """Start jobs that can start, mark topics of jobs that should finish; return True if all jobs are done.

        Raises:
            HeadwaterError: A job failed; the message has the end of its log.
        """
        for job in self._jobs:
            ready = self._done.issuperset(job.after)
            if job.name not in self._running:
                if ready or job.streaming:
                    self._running[job.name] = Running.start(job, self._folder, self._variables)
            elif self._running[job.name].finished():
                self._done.add(job.name)
            elif ready and job.streaming:
                self._folder.marker(job.name).touch()
        return len(self._done) == len(self._jobs)

    def stop(self) -> None:
        """End all running jobs, at the same time."""
        for running in self._running.values():
            running.process.request_stop()
        for running in self._running.values():
            running.process.stop()

    def views(self) -> list[JobView]:
        """States of the jobs for display."""
        return [self._view(job) for job in self._jobs]

    def _view(self, job: DemoJob) -> JobView:
        running = self._running.get(job.name)
        if running is None:
            return JobView(job, JobState.WAITING)
        batches = committed_batches(self._folder, job.name) if job.streaming else None
        if running.seconds is not None:
            return JobView(job, JobState.DONE, running.seconds, batches)
        marked = job.streaming and self._folder.marker(job.name).exists()
        state = JobState.FINISHING if marked else JobState.RUNNING
        return JobView(job, state, time.monotonic() - running.started, batches)
