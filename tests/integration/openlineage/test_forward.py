"""`headwater forward openlineage` from a real Kafka: to a collector, a file, a topic, and back into a graph."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.processes import CommandProcess, running
from headwater_consumers.kafka.topic_reader import records_to_end
from support.collector import collecting
from support.materializer import events
from support.materializer.process import run_until_caught_up
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

COUNT = 20


class ForwardProcess(CommandProcess):
    command = ("forward", "openlineage")


def forward(
    settings: dict[str, str], folder: Path, *arguments: str
) -> contextlib.AbstractContextManager[ForwardProcess]:
    return running(ForwardProcess, settings, "--refused", str(folder / "refused.jsonl"), *arguments)


@pytest.fixture
def forwarding(settings: dict[str, str], world: RealWorld) -> dict[str, str]:
    world.put_many(map(events.good, range(COUNT)))
    return {name: value for name, value in settings.items() if "NEO4J" not in name}


@pytest.mark.nightly
def test_to_a_collector_that_goes_away_refuses_and_comes_back(forwarding: dict[str, str], tmp_path: Path) -> None:
    with collecting() as server:
        server.answers.extend([(201, {}), (503, {"Retry-After": "1"}), (0, {}), (0, {}), (422, {})])
        given = {**forwarding, "HEADWATER_FORWARD_TOKEN": "a-secret-token"}
        with forward(given, tmp_path, "--to", server.url, "--port", "0") as process:
            process.until(lambda: len(server.bodies) == COUNT - 1, "all but one", seconds=patience(60))
            assert re.findall(r"on http://127.0.0.1:(\d+)", process.stderr)
            assert process.stop(signal.SIGTERM) == 0
            assert process.document == {"consumed": COUNT, "skipped": 0, "delivered": COUNT - 1, "refused": 1}
            assert "a-secret-token" not in process.stderr
        (refused,) = map(json.loads, (tmp_path / "refused.jsonl").read_text().splitlines())
        assert refused["status"] == "422"
        assert {headers["Authorization"] for _, headers in server.requests} == {"Bearer a-secret-token"}
        bodies = [json.loads(body) for body in server.bodies]
        assert len({body["run"]["runId"] for body in bodies}) == COUNT - 1
        # The offsets are committed: nothing is left.
        with forward(forwarding, tmp_path, "--to", server.url, "--until-caught-up") as again:
            assert again.wait(patience(60)) == 0, again.stderr
            assert again.document["consumed"] == 0
        assert len(server.bodies) == COUNT - 1


def test_compressed_and_in_parallel_each_document_arrives_once(forwarding: dict[str, str], tmp_path: Path) -> None:
    with collecting() as server:
        server.answers.extend([(201, {}), (201, {}), (503, {}), (422, {})])
        chosen = {"HEADWATER_FORWARD_COMPRESSION": "GZIP", "HEADWATER_FORWARD_POSTS_IN_PARALLEL": "4"}
        with forward({**forwarding, **chosen}, tmp_path, "--to", server.url, "--until-caught-up") as process:
            assert process.wait(patience(90)) == 0, process.stderr
            document = process.document
        bodies = [json.loads(gzip.decompress(body)) for body in server.bodies]
    assert document["consumed"] == COUNT
    assert document["delivered"] == len(bodies) == len({body["run"]["runId"] for body in bodies})
    # Whatever was refused before another post failed was posted, and taken, with the batch's second attempt.
    assert document["refused"] == COUNT - len(bodies) <= 1


@pytest.mark.nightly
def test_to_a_topic_and_from_there_into_the_same_graph(
    forwarding: dict[str, str],
    settings: dict[str, str],
    world: RealWorld,
    topic: str,
    stack: StackUnderTest,
    tmp_path: Path,
    neo4j_driver: Driver,
) -> None:
    file = tmp_path / "out.jsonl"
    for name, to in (("topic", f"kafka:{topic}"), ("file", str(file))):
        with forward(forwarding, tmp_path, "--to", to, "--group", name + topic, "--until-caught-up") as process:
            assert process.wait(patience(90)) == 0, process.stderr
            assert process.document["delivered"] == COUNT
    records = list(records_to_end({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2}, topic))
    assert len(records) == COUNT
    assert sorted(file.read_bytes().splitlines()) == sorted(record.value or b"" for record in records)
    assert all((record.key or b"").startswith(b"run:") for record in records)
    before = run_until_caught_up(settings)
    (runs,) = neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r)").records[0]
    totals = run_until_caught_up(settings, "--openlineage-topic", topic)
    assert before["applied"] == COUNT
    assert totals["openlineage"]["dead_lettered"] == 0
    assert neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r)").records[0][0] == runs


def test_what_would_go_round_in_circles_is_refused(
    forwarding: dict[str, str], world: RealWorld, tmp_path: Path
) -> None:
    with forward(forwarding, tmp_path, "--to", f"kafka:{world.topics.events}") as process:
        assert process.wait(patience(60)) == 2
