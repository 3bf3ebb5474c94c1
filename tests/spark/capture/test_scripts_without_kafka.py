"""Real scripts whose broker isn't there: how they end, and what the next start finds."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.stack import java_runtime
from headwater_producers.outbox import Outbox
from headwater_schemas.codec import Decoder
from headwater_schemas.events import RunEventType
from support.fake_producer import FakeCluster
from support.outbox import EVENTS, metrics, publisher
from support.running import small
from support.waiting import eventually, patience

pytestmark = pytest.mark.spark

SECONDS = 240.0  # startup of Spark takes most of it

SCRIPT = """
import os, sys
from pyspark.sql import SparkSession
from headwater_producers.spark import attach

folder, ending = sys.argv[1:]
spark = SparkSession.builder.appName("ends").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
capture = attach(spark)
spark.range(5).write.parquet(f"{folder}/rows")
if ending == "killed":
    assert capture._emission.durability.secure(600), "all that happened is on disk"
    os.kill(os.getpid(), 9)
"""


def run(folder: Path, ending: str, **settings: str) -> subprocess.CompletedProcess[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        dead_broker = f"127.0.0.1:{probe.getsockname()[1]}"
    script = folder / "job.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {
        **os.environ,
        **java_runtime().environment(),
        "PYSPARK_SUBMIT_ARGS": shlex.join([*small(), "pyspark-shell"]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": dead_broker,
        "HEADWATER_OUTBOX_PATH": str(folder / "outbox"),
        "HEADWATER_CAPTURE_DRAIN_TIMEOUT_SECONDS": str(patience(2)),
        **settings,
    }
    return subprocess.run(
        [sys.executable, str(script), str(folder), ending],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=patience(SECONDS),
    )


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_fail_job_is_an_exit_code_and_the_data_stays(tmp_path: Path) -> None:
    ended = run(tmp_path, "last line", HEADWATER_EMISSION_POLICY="fail_job", HEADWATER_OUTBOX_ENABLED="false")
    assert ended.returncode == 1, ended.stderr[-4_000:]
    assert "lineage isn't durable (emission_policy fail_job)" in ended.stderr
    assert (tmp_path / "rows" / "_SUCCESS").exists()


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_a_killed_driver_leaves_what_it_had_seen_to_the_next_start(tmp_path: Path) -> None:
    ended = run(tmp_path, "killed")
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-4_000:]
    [place] = (tmp_path / "outbox").iterdir()
    cluster = FakeCluster()
    with Outbox(place, publisher(cluster), metrics=metrics()) as outbox:
        eventually(
            lambda: outbox.figures().relayed > 0 and outbox.figures().events == 0, 60, expecting="all is relayed"
        )
    decoder = Decoder()
    emitted = [
        (event.job.name, event.run_event.type)
        for event in map(decoder.decode, cluster.delivered[EVENTS])
        if event.run_event is not None and event.job is not None
    ]
    assert emitted == [
        ("ends", RunEventType.START),
        ("ends.rows", RunEventType.START),
        ("ends.rows", RunEventType.COMPLETE),
    ]
