"""A record that ends every consumer that comes to it becomes a dead letter, and the others are applied."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.soak.consumer import ConsumerProcess
from support.materializer import events
from support.materializer.ended import POISON
from support.materializer.worlds import RealWorld
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

PROGRAM = ("-m", "support.materializer.ended")

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(900)]


def test_it_is_set_aside_and_the_partition_goes_on(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    world.put_many([*(events.good(number) for number in range(30)), POISON])
    world.put_many(events.good(number) for number in range(30, 50))
    world.put_many((events.good(number) for number in range(50, 60)), partition=1)
    found = {"PYTHONPATH": str(Path(__file__).parents[2])}  # where `support` is
    statuses: list[int] = []
    # Each begins once the brokers have given up on the one before, 15 s after it ended.
    while 0 not in statuses and len(statuses) < 9:
        with tempfile.TemporaryDirectory() as folder:
            consumer = ConsumerProcess({**settings, **found}, Path(folder), "--until-caught-up", program=PROGRAM)
            try:
                statuses.append(consumer.wait(patience(120)))
            finally:
                consumer.end()
    assert statuses == [-9] * 6 + [0]
    (letter,) = world.letters()
    assert (letter.headers["headwater.reason"], letter.value) == (b"SKIPPED", POISON)
    (record,) = neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r) AS runs").records
    assert record["runs"] == 60
