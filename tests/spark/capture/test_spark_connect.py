"""A real Spark Connect client: the job runs as if nobody had wanted its lineage, and the log says why there is none."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.stack import java_runtime
from headwater.stack.spark import installed_release
from headwater_producers.spark.driver.attach import CONNECT
from support.running import QUICK_JVM
from support.waiting import patience

pytestmark = pytest.mark.spark

SECONDS = 240.0

# The client starts a server of its own, on a port of its own.
SCRIPT = """
import logging, sys
from pyspark.sql import SparkSession
from headwater_producers.spark import attach, explain_lineage

logging.basicConfig(level=logging.WARNING, format="LOG %(levelname)s %(message)s")
spark = SparkSession.builder.config("spark.api.mode", "connect").master("local[1]").getOrCreate()
with attach(spark, job_name="remote") as capture:
    frame = spark.range(3)
    frame.write.parquet(sys.argv[1])
    try:
        explain_lineage(frame)
    except TypeError as error:
        print("explained:", error)
print("captured:", capture.status().enabled, capture.flush(0))
print("rows:", spark.read.parquet(sys.argv[1]).count())
spark.stop()
"""


@pytest.mark.nightly
def test_a_connect_session_is_left_alone_in_words(tmp_path: Path) -> None:
    if installed_release().name == "3.5":
        pytest.skip("PySpark 3.5 has no spark.api.mode")
    if installed_release().name == "4.3":
        pytest.importorskip("zstandard", reason="its Spark Connect needs zstandard, which the locked one doesn't")
    script = tmp_path / "job.py"
    script.write_text(SCRIPT, encoding="utf-8")
    options = ["--driver-memory", "512m", "--driver-java-options", QUICK_JVM, "--conf", "spark.ui.enabled=false"]
    ended = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "rows")],
        env={
            **os.environ,
            **java_runtime().environment(),
            "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
            "HEADWATER_OUTBOX_PATH": str(tmp_path / "outbox"),
        },
        capture_output=True,
        text=True,
        timeout=patience(SECONDS),
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert [line for line in ended.stderr.splitlines() if line.startswith("LOG")] == [f"LOG ERROR {CONNECT}"]
    assert "captured: False True" in ended.stdout
    assert "explained: explain_lineage needs a DataFrame of a classic Spark session" in ended.stdout
    assert "rows: 3" in ended.stdout
    assert not (tmp_path / "outbox").exists()
