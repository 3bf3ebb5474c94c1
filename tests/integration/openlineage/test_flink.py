"""A streaming job of PyFlink in its local executor, posting to `headwater serve` by OpenLineage's listener.

    UPDATE_GOLDENS=1 uv run pytest -n0 -m study tests/integration/openlineage/test_flink.py

records anew what it posts, and the graph.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.stack import ensure_jars, java_runtime, ports
from support.api_tokens import TOKEN
from support.client_environments import programs_of
from support.openlineage_recordings import check_recording, intake
from support.other_spark import NotToBeHadError
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld
    from support.stack import StackUnderTest

# Its environment has 700 MB.
pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.study, pytest.mark.timeout(600)]

FILES = Path(__file__).parent / "flink"
TOPICS = {"orders": 2, "paid": 1}
# How long the job runs: enough for the listener to ask for checkpoints several times.
SECONDS = 30.0


def test_a_streaming_job_is_in_the_graph(
    world: RealWorld, stack: StackUnderTest, settings: dict[str, str], tmp_path: Path, neo4j_driver: Driver
) -> None:
    try:
        programs = programs_of(FILES / "requirements.txt")
    except NotToBeHadError as error:
        pytest.skip(f"PyFlink can't be installed: {error}")
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    for made in admin.create_topics([NewTopic(name, partitions, 1) for name, partitions in TOPICS.items()]).values():
        made.result(patience(30))
    try:
        orders = Producer({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
        for number in range(50):
            orders.produce("orders", json.dumps({"id": number, "customer": f"c{number % 3}", "amount": number}))
        assert orders.flush(patience(30)) == 0
        with intake(settings) as server:
            assert _ran(programs, _home(programs, tmp_path), server.url(), stack, tmp_path) == "RUNNING"
    finally:
        for gone in admin.delete_topics(list(TOPICS), operation_timeout=patience(10)).values():
            gone.result()
    check_recording("flink", settings, neo4j_driver, {stack.bootstrap_servers: "broker:9092"})


def _ran(programs: Path, home: Path, url: str, stack: StackUnderTest, folder: Path) -> str:
    """The last state of the job before it is cancelled."""
    transport = {"type": "http", "url": url, "auth": {"type": "api_key", "apiKey": TOKEN}}
    # What is YAML is JSON as well.
    (folder / "openlineage.yml").write_text(json.dumps({"transport": transport}), encoding="utf-8")
    environment = {
        **java_runtime().environment(),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder),
        "FLINK_HOME": str(home),
        "FLINK_LOG_DIR": str(folder),
        "OPENLINEAGE_CONFIG": str(folder / "openlineage.yml"),
    }
    arguments = [stack.bootstrap_servers, str(ports.choose(ports.ANY).http), str(patience(SECONDS))]
    command = [str(programs / "python"), str(FILES / "pay.py"), *arguments]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patience(300), check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    *_, state = ran.stdout.strip().split(".")
    return state


def _home(programs: Path, folder: Path) -> Path:
    """A Flink whose jars are PyFlink's together with the listener's and the connector's."""
    [own] = programs.parent.glob("lib/python*/site-packages/pyflink")
    home = folder / "flink"
    # Its scripts look for the rest beside themselves.
    shutil.copytree(own / "bin", home / "bin")
    (home / "lib").mkdir()
    for part in ("conf", "opt", "plugins"):
        if (own / part).exists():
            (home / part).symlink_to(own / part)
    for jar in (*(own / "lib").glob("*.jar"), *ensure_jars("flink")):
        (home / "lib" / jar.name).symlink_to(jar)
    return home
