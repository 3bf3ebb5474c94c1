"""However a script ends, what it did is delivered: real scripts, each in a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headwater.stack import java_runtime
from support.running import small
from support.waiting import eventually, patience

pytestmark = pytest.mark.spark

# Startup of Spark takes most of it.
SECONDS = 240.0

SCRIPT = """
import json, os, sys, threading, time
from pyspark.sql import SparkSession
from headwater_producers.spark import attach

class Lines:
    def __init__(self, path):
        self.file = open(path, "w", buffering=1)
    def publish(self, event):
        body = event.run_event
        batches = [entry.batch_id for entry in event.interval_event.entries] if event.interval_event else None
        line = {"job": event.job.name if event.job else None, "kind": event.kind, "batches": batches}
        if body:
            line |= {"type": body.type.value, "error": body.error.message if body.error else None}
        self.file.write(json.dumps(line) + "\\n")
    def flush(self, timeout_seconds):
        self.file.write(json.dumps({"kind": "flushed"}) + "\\n")
        return 0
    def close(self):
        self.file.close()

folder, ending = sys.argv[1:]
spark = SparkSession.builder.appName("ends").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
# The second micro-batch waits for others when the script ends.
attach(spark, sink=Lines(f"{folder}/events"), coalesce_max_seconds=600)
spark.range(5).repartition(2).write.parquet(f"{folder}/in")
stream = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1).parquet(f"{folder}/in")
stream = stream.writeStream.format("parquet").queryName("copy")
stream = stream.option("checkpointLocation", f"{folder}/cp")
if ending.startswith("sig"):
    query = stream.start(f"{folder}/out")
    query.processAllAvailable()
    def await_answer():
        # PySpark's handler of SIGINT asks the JVM on the main thread's connection. Between a call and the wait for its
        # answer that hangs, with PySpark alone just as well.
        while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "readinto":
            time.sleep(0.01)
        open(f"{folder}/ready", "w").close()
    threading.Thread(target=await_answer, daemon=True).start()
    query.awaitTermination()
stream.trigger(availableNow=True).start(f"{folder}/out").awaitTermination()
"""

JOBS = ("ends", "ends.in", "ends.copy")
ENDINGS = {
    "last line": "",
    "stop": "spark.stop()",
    "raise": "raise LookupError('token=hunter2')",
    "stop on the way out": "try:\n    raise LookupError('lost')\nfinally:\n    spark.stop()",
    "sigterm": "",
    "sigint": "",
}


class Script:
    """One run of the script, and what it emitted."""

    def __init__(self, folder: Path, ending: str) -> None:
        self.folder = folder
        path = folder / "job.py"
        path.write_text(SCRIPT + ENDINGS[ending] + "\n", encoding="utf-8")
        environment = {
            **os.environ,
            **java_runtime().environment(),
            "PYSPARK_SUBMIT_ARGS": shlex.join([*small(), "pyspark-shell"]),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self.log = folder / "log"
        with self.log.open("wb") as log:
            # A group of its own: SIGTERM is for the driver alone, as from an orchestrator.
            self.process = subprocess.Popen(
                [sys.executable, str(path), str(folder), ending],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )

    def wait(self) -> int:
        try:
            return self.process.wait(patience(SECONDS))
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def wait_until_ready(self) -> None:
        def is_ready() -> bool:
            assert self.process.poll() is None, self.log.read_text(errors="replace")[-4_000:]
            return (self.folder / "ready").exists()

        eventually(is_ready, SECONDS, every=0.1, expecting="the script is ready")

    def emitted(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "events").read_text().splitlines()]


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("ending", "code", "application", "query", "error"),
    [
        ("last line", 0, "COMPLETE", "COMPLETE", None),
        pytest.param("stop", 0, "COMPLETE", "COMPLETE", None, marks=pytest.mark.nightly),
        pytest.param("raise", 1, "FAIL", "COMPLETE", "token=[redacted]", marks=pytest.mark.nightly),
        pytest.param("stop on the way out", 1, "FAIL", "COMPLETE", "lost", marks=pytest.mark.nightly),
        ("sigterm", -signal.SIGTERM, "ABORT", "ABORT", "the driver was terminated"),
        # What the script gets is a Py4JError.
        pytest.param("sigint", 1, "ABORT", "ABORT", "the driver was interrupted", marks=pytest.mark.nightly),
    ],
)
def test_nothing_is_lost(
    tmp_path: Path, ending: str, code: int, application: str, query: str, error: str | None
) -> None:
    script = Script(tmp_path, ending)
    if ending in {"sigterm", "sigint"}:
        script.wait_until_ready()
        script.process.send_signal(signal.Signals[ending.upper()])
    assert script.wait() == code, script.log.read_text(errors="replace")[-4_000:]

    emitted = script.emitted()
    runs = {job: [line["type"] for line in emitted if line["kind"] == "RUN" and line["job"] == job] for job in JOBS}
    assert runs == {"ends": ["START", application], "ends.in": ["START", "COMPLETE"], "ends.copy": ["START", query]}
    assert [line["batches"] for line in emitted if line["kind"] == "INTERVAL"] == [[0], [1]]
    assert emitted[-1]["kind"] == "flushed"
    assert emitted[-2]["job"] == "ends"
    assert emitted[-2]["error"] == error
    if ending == "raise":
        assert "LookupError" in script.log.read_text(errors="replace"), "the traceback is printed as ever"
