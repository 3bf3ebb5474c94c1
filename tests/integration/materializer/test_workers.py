"""`headwater consume --workers`: several processes under one supervisor."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.processes import ConsumerProcess
from support.gate import first_in_gate
from support.materializer import events
from support.materializer.process import consuming
from support.materializer.worlds import RealWorld
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


def process_ids(consumer: ConsumerProcess) -> list[int]:
    """Ids of the workers: children of the supervisor that have a process group of their own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent, group = (folder / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == consumer.process.pid and group == folder.name:
            found.append(int(folder.name))
    return sorted(found)


def until_gone(ids: list[int]) -> None:
    eventually(
        lambda: not any(Path(f"/proc/{number}").exists() for number in ids), 60, expecting="every worker has ended"
    )


def runs_in(driver: Driver) -> int:
    (record,) = driver.execute_query("MATCH (r:HwRun) RETURN count(r) AS runs").records
    return int(record["runs"])


@pytest.mark.parametrize("number", first_in_gate(1, [signal.SIGTERM, signal.SIGINT]))
def test_they_share_the_partitions_and_one_endpoint(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver, number: signal.Signals
) -> None:
    with consuming(settings, "--workers", "2") as consumer:
        for worker in ("0", "1"):
            consumer.until(
                lambda: consumer.metric("partitions_assigned", worker=worker) == 1,  # noqa: B023 - within the turn
                "share",
            )
        for partition in (0, 1):
            world.put_many((events.good(partition * 100 + number) for number in range(50)), partition=partition)
        consumer.until(lambda: consumer.metric("events_applied_total") == 100, "what both did")
        consumer.until(consumer.ready, "readiness")
        ids = process_ids(consumer)
        assert len(ids) == 2
        assert consumer.stop(number) == 0
        until_gone(ids)
        totals = consumer.document
        assert re.search(r"headwater\.consume\[1\]", consumer.stderr)
    assert (totals["consumed"], totals["applied"], totals["released"]) == (100, 100, 0)
    assert sorted(totals["committed"].values()) == [50, 50]
    assert runs_in(neo4j_driver) == 100


@pytest.mark.nightly
def test_one_that_is_killed_is_replaced(world: RealWorld, settings: dict[str, str], neo4j_driver: Driver) -> None:
    with consuming(settings, "--workers", "2") as consumer:
        consumer.until(lambda: consumer.metric("partitions_assigned") == 2, "shares")
        before = process_ids(consumer)
        os.kill(before[0], signal.SIGKILL)
        world.put_many([events.good(number) for number in range(40)], partition=0)
        world.put_many([events.good(100 + number) for number in range(40)], partition=1)
        consumer.until(lambda: len(process_ids(consumer)) == 2 and process_ids(consumer) != before, "another")
        consumer.until(lambda: runs_in(neo4j_driver) == 80, "all of it", seconds=patience(120))
        consumer.until(consumer.ready, "readiness", seconds=patience(120))
        assert "Another is started" in consumer.stderr
        assert consumer.stop() == 0


@pytest.mark.nightly
def test_all_of_them_catch_up(world: RealWorld, settings: dict[str, str], neo4j_driver: Driver) -> None:
    for partition in (0, 1):
        world.put_many([events.good(partition * 100 + number) for number in range(50)], partition=partition)
    with consuming(settings, "--workers", "3", "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 0, consumer.stderr
        assert consumer.document["applied"] == 100
    assert runs_in(neo4j_driver) == 100


def test_an_error_of_one_ends_all(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming({**settings, "HEADWATER_NEO4J_PASSWORD": "wrong"}, "--workers", "2") as consumer:
        assert consumer.wait(patience(120)) == 6, consumer.stderr
        assert "password" in consumer.document["error"]["message"]


@pytest.mark.nightly
def test_they_end_with_their_supervisor(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming(settings, "--workers", "2") as consumer:
        consumer.until(lambda: len(process_ids(consumer)) == 2, "workers")
        consumer.until(lambda: consumer.metric("partitions_assigned") == 2, "shares")
        ids = process_ids(consumer)
        consumer.kill()
        until_gone(ids)


@pytest.mark.nightly
def test_a_port_that_is_taken(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming(settings) as one:
        port = one.port
        with consuming(settings, "--workers", "2", "--port", str(port)) as two:
            assert two.wait(patience(60)) == 2
            assert "--port" in two.document["error"]["fix"]
