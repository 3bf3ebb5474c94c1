"""Bad input, slow clients and a Kafka that hangs, at the door of a real `headwater serve`."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from headwater_benchmarks.processes import PROGRAM, ServeProcess, serving
from support.materializer.process import document_of, run_until_caught_up
from support.openlineage import run_data, run_event, run_id
from support.running import events_on
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ONE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def door(settings: dict[str, str], world: RealWorld) -> Iterator[ServeProcess]:
    limits = {"HEADWATER_SERVE_INTAKE_TIMEOUT_SECONDS": "2", "HEADWATER_SERVE_BODY_TIMEOUT_SECONDS": "2"}
    given = {**settings, **limits, "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
    with serving(given) as server:
        server.url()
        yield server


@pytest.fixture
def client(door: ServeProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=door.url(), trust_env=False, timeout=patience(60)) as client:
        yield client


def runs(driver: Driver) -> set[str]:
    records = driver.execute_query("MATCH (r:HwRun) WHERE r.state = 'COMPLETE' RETURN r.run_id").records
    return {str(record[0]) for record in records}


def send_bad_input(client: httpx.Client) -> set[str]:
    """Send bad input of every kind with good events in between, and check the answers; the good events' runs."""
    assert client.post(ONE, json=run_event(0)).status_code == 201
    bomb = gzip.compress(b" " * 1_000_000_000, compresslevel=9)
    bad: list[tuple[bytes, dict[str, str], int]] = [
        (b"not JSON", {}, 400),
        (run_data(90, run={}), {}, 400),
        (run_data(91, padding="x" * 10_000_000), {}, 400),
        (b'{"a":' * 1_000 + b"1" + b"}" * 1_000, {}, 400),
        (b"[" * 10_000_000, {}, 400),
        (b" " * 17_000_000, {}, 413),
        (bomb, {"Content-Encoding": "gzip"}, 413),
    ]
    for number, (body, headers, status) in enumerate(bad, start=1):
        answer = client.post(ONE, content=body, headers={**JSON, **headers})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
        assert client.post(ONE, json=run_event(number)).status_code == 201
    # A batch of millions of elements, and one with a 10 MB facet, 1,000 levels and a broken one among good ones.
    assert client.post(BATCH, content=b"[" + b"1," * 5_000_000 + b"1]", headers=JSON).status_code == 413
    mixed = [run_data(20), b'{"a":' * 1_000 + b"1" + b"}" * 1_000, run_data(92, padding="x" * 10_000_000), run_data(21)]
    answer = client.post(BATCH, content=b"[" + b",".join(mixed) + b"]", headers=JSON)
    assert (answer.status_code, [each["index"] for each in answer.json()["refused"]]) == (207, [1, 2])
    with ThreadPoolExecutor(16) as pool:
        headers = {**JSON, "Content-Encoding": "gzip"}
        answers = list(pool.map(lambda _: client.post(ONE, content=bomb, headers=headers).status_code, range(32)))
    assert set(answers) <= {413, 503}
    return {run_id(number) for number in [*range(len(bad) + 1), 20, 21]}


def test_bad_input_is_refused_and_good_events_around_it_reach_the_graph(
    client: httpx.Client, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    good = send_bad_input(client)
    assert run_until_caught_up(settings)["dead_lettered"] == 0
    assert runs(neo4j_driver) == good


@pytest.mark.nightly
def test_bad_input_is_refused_in_bounded_memory(door: ServeProcess, client: httpx.Client) -> None:
    def memory_mb(name: str) -> float:
        status = Path(f"/proc/{door.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    assert client.post(ONE, json=run_event(0)).status_code == 201
    before = memory_mb("VmRSS")
    send_bad_input(client)
    assert memory_mb("VmHWM") - before < 400, "a body may have 16 MiB, all together 64 MiB"


@pytest.mark.nightly
def test_while_kafka_hangs_it_is_503_and_every_event_that_was_acknowledged_is_there(
    door: ServeProcess, client: httpx.Client, settings: dict[str, str], stack: StackUnderTest, neo4j_driver: Driver
) -> None:
    assert client.post(ONE, json=run_event(0)).status_code == 201
    with stack.paused("kafka"):
        for path, body in ((ONE, run_event(1)), (BATCH, [run_event(1), run_event(2)])):
            answer = client.post(path, json=body)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:kafka-unavailable")
            assert answer.headers["retry-after"]
        assert client.get("/livez").status_code == 200
    eventually(
        lambda: client.post(BATCH, json=[run_event(1), run_event(2)]).status_code == 201,
        60,
        every=0.2,
        expecting="Kafka takes events again",
    )
    assert door.stop(signal.SIGTERM) == 0
    run_until_caught_up(settings)
    assert runs(neo4j_driver) == {run_id(number) for number in range(3)}


@pytest.mark.nightly
def test_a_server_that_is_killed_has_lost_nothing_that_it_acknowledged(
    door: ServeProcess, client: httpx.Client, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    acknowledged: set[str] = set()

    def post(first: int) -> None:
        with httpx.Client(base_url=door.url(), trust_env=False, timeout=patience(10)) as mine:
            for number in range(first, first + 1_000):
                try:
                    if mine.post(ONE, json=run_event(number)).status_code == 201:
                        acknowledged.add(run_id(number))
                except httpx.TransportError:
                    return

    threads = [threading.Thread(target=post, args=(1_000 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(acknowledged) >= 100, 60, expecting="a hundred events are acknowledged")
    door.kill()
    for thread in threads:
        thread.join(patience(30))
        assert not thread.is_alive()
    run_until_caught_up(settings)
    assert acknowledged <= runs(neo4j_driver)


@pytest.mark.nightly
def test_a_broker_that_isnt_there_is_503_until_it_is(world: RealWorld, settings: dict[str, str]) -> None:
    nowhere = {"HEADWATER_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9", "HEADWATER_SERVE_INTAKE_TIMEOUT_SECONDS": "1"}
    given = {**settings, **nowhere, "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
    with serving(given) as server, httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(30)) as client:
        answer = client.post(ONE, json=run_event(1))
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:kafka-unavailable")
        assert "127.0.0.1:9" not in answer.text
        ready = client.get("/readyz")
        assert ready.status_code == 200, "questions are answered"
        assert ready.json() == {"ready": True, "graph_reachable": True, "kafka_reachable": False}
        missing = client.get("/api/v1/assets/orders")
        assert missing.status_code == 404
        assert server.stop(signal.SIGTERM, seconds=patience(30)) == 0


@pytest.mark.nightly
def test_an_interrupted_emit_shows_what_was_sent(
    settings: dict[str, str], world: RealWorld, stack: StackUnderTest, neo4j_driver: Driver
) -> None:
    sent = {run_id(number) for number in range(50)}

    def published() -> set[str]:
        events = events_on(stack.bootstrap_servers, world.topics.events)
        return {event.run.run_id for event in events if event.run is not None}

    emit = subprocess.Popen(
        [sys.executable, *PROGRAM, "emit", "openlineage", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", **settings},
    )
    try:
        assert emit.stdin is not None
        for number in range(50):
            emit.stdin.write(run_data(number) + b"\n")
        emit.stdin.flush()
        eventually(lambda: published() == sent, 60, every=0.5, expecting="all that was written is on the topic")
        emit.send_signal(signal.SIGINT)
        output, errors = emit.communicate(timeout=patience(60))
    finally:
        emit.kill()
    assert emit.returncode == 130, errors
    document = json.loads(output)
    assert document["interrupted"]
    assert (document["read"], document["sent"]) == (50, document["events"])
    run_until_caught_up(settings)
    assert runs(neo4j_driver) == sent


@pytest.mark.nightly
def test_emit_without_a_broker_ends_with_status_4(settings: dict[str, str], world: RealWorld, tmp_path: Path) -> None:
    (tmp_path / "events").write_bytes(run_data(1))
    nowhere = {"HEADWATER_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9"}
    document_of(settings | nowhere, "emit", "openlineage", str(tmp_path / "events"), status=4)
