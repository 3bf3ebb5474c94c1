"""A record that ends every consumer that comes to it becomes a dead letter, and the others are applied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition

from headwater_benchmarks.processes import ConsumerProcess, running
from headwater_consumers.kafka.offsets import OffsetReader
from support.materializer import events
from support.materializer.ended import POISON
from support.materializer.worlds import Listener, RealWorld, gather
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
        with running(ConsumerProcess, {**settings, **found}, "--until-caught-up", program=PROGRAM) as consumer:
            statuses.append(consumer.wait(patience(120)))
    assert statuses == [-9] * 6 + [0]
    (letter,) = world.letters()
    assert (letter.headers["headwater.reason"], letter.value) == (b"SKIPPED", POISON)
    (record,) = neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r) AS runs").records
    assert record["runs"] == 60


def test_a_new_group_that_is_stopped_before_its_first_commit_leaves_no_attempt(world: RealWorld) -> None:
    world.put_many(events.good(number) for number in range(3))
    attempts = []
    for _ in range(2):
        source = world.source()
        source.subscribe(Listener())
        gather(source, 3)
        source.close()
        offsets = OffsetReader(world.client, group=world.group)
        at = TopicPartition(world.topics.events, 0)
        attempts.append(offsets.committed([at], timeout_seconds=patience(10))[world.topics.events, 0].begun_by)
    assert attempts == [(), ()]
