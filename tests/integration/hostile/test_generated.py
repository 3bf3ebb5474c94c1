"""Hostile inputs at every door: each ends as an answer, an error or a dead letter, and all that is good is applied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from headwater_benchmarks.processes import PROGRAM, serving
from support import hostile_inputs
from support.materializer import events
from support.materializer.process import consuming, environment
from support.materializer.worlds import RealWorld
from support.openlineage import run_event
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(1_800)]

SEED = 39
MOST_KILOBYTES = 400_000
SECONDS = 30
# By a process between: the kernel counts what the one that starts another has in memory, and pytest may have a lot.
MEASURED = """
import json, os, subprocess, sys
_, status, used = os.wait4(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss, used.ru_utime + used.ru_stime]))
"""
EVERY = {"HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO": "1"}


@pytest.fixture
def settings(stack: StackUnderTest, topic_prefix: str) -> dict[str, str]:
    return environment(stack, topic_prefix) | EVERY


def peak_kilobytes(pid: int) -> int:
    """The most that a process has had in memory at once."""
    (line,) = [each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmHWM")]
    return int(line.split()[1])


def good_runs(driver: Driver, numbers: range) -> int:
    """Number of these good events that are in the graph."""
    ids = [events.run_start(number).run.run_id for number in numbers]  # type: ignore[union-attr]
    (record,) = driver.execute_query("MATCH (r:HwRun) WHERE r.run_id IN $ids RETURN count(r) AS n", ids=ids).records
    return int(record["n"])


def test_records(world: RealWorld, settings: dict[str, str], neo4j_driver: Driver) -> None:
    sent = 0
    with consuming(settings) as consumer:
        for kind, value in hostile_inputs.inputs(hostile_inputs.RECORDS, SEED):
            world.put(value)
            world.put(events.good(sent))
            sent += 1
            consumer.until(
                lambda: good_runs(neo4j_driver, range(sent)) == sent,  # noqa: B023 - within the turn
                f"the good event behind {kind}",
                seconds=patience(SECONDS),
            )
        for number, codec in enumerate(("gzip", "lz4", "snappy", "zstd")):
            world.compressed(codec, [bytes(10_000_000 + 8_000_000 * number)])
            world.put(events.good(sent))
            sent += 1
            consumer.until(
                lambda: good_runs(neo4j_driver, range(sent)) == sent,  # noqa: B023 - within the turn
                f"the good event behind zeros in {codec}",
                seconds=patience(SECONDS),
            )
        assert peak_kilobytes(consumer.process.pid) <= MOST_KILOBYTES
    assert all(letter.headers["headwater.reason"] for letter in world.letters())


def test_bodies(world: RealWorld, settings: dict[str, str], neo4j_driver: Driver) -> None:
    doors = {"HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true", "HEADWATER_SERVE_DECLARE": "true"}
    kinds = [
        ("/api/v1/lineage", "application/json", hostile_inputs.DOCUMENTS),
        ("/api/v1/review", "application/json", hostile_inputs.REVIEWS),
        ("/api/v1/declarations?file=x.yaml&set=x", "application/yaml", hostile_inputs.DECLARATIONS),
    ]
    taken = 0
    with (
        serving({**settings, **doors}) as server,
        httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(SECONDS)) as client,
    ):
        for path, content_type, of_path in kinds:
            for kind, body in hostile_inputs.inputs(of_path, SEED):
                answer = client.post(path, content=body, headers={"Content-Type": content_type})
                assert answer.status_code < 500 or answer.status_code == 503, (kind, answer.text[:500])
                assert len(answer.content) < 5_000_000, kind
                assert client.post("/api/v1/lineage", json=run_event(taken)).status_code == 201, kind
                taken += 1
        assert peak_kilobytes(server.process.pid) <= MOST_KILOBYTES
    with consuming(settings, "--until-caught-up") as consumer:
        assert consumer.wait(patience(300)) == 0, consumer.stderr
    query = "MATCH (r:HwRun)-[:OF]->(j:HwJob {namespace: 'shop'}) WHERE r.state = 'COMPLETE' RETURN j.name"
    names = {str(record[0]) for record in neo4j_driver.execute_query(query).records}
    assert {f"totals_{number}" for number in range(taken)} <= names


def test_files(stack: StackUnderTest, settings: dict[str, str], subtests: pytest.Subtests) -> None:
    commands = [
        (["emit", "openlineage", "--dry-run"], hostile_inputs.DOCUMENTS),
        (["declare", "--check"], hostile_inputs.DECLARATIONS),
    ]
    for command, kinds in commands:
        for number, (kind, content) in enumerate(hostile_inputs.inputs(kinds, SEED)):
            with subtests.test(kind=kind, number=number), tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "input.yaml"
                file.write_bytes(content)
                with (errors := Path(folder) / "errors").open("wb") as stderr:
                    measured = subprocess.run(
                        [sys.executable, "-I", "-S", "-c", MEASURED, sys.executable, *PROGRAM, *command, str(file)],
                        env={**os.environ, **settings, "HEADWATER_DATA_DIR": folder},
                        stdout=subprocess.PIPE,
                        stderr=stderr,
                        check=True,
                    )
                ended, kilobytes, seconds = json.loads(measured.stdout)
                text = errors.read_text(encoding="utf-8")
                assert ended in (0, 2), text[-500:]
                assert "Traceback" not in text
                assert kilobytes <= MOST_KILOBYTES
                assert seconds <= SECONDS
