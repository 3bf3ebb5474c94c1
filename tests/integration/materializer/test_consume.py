"""`headwater consume` as a process: sharing, stopping, health."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from headwater_consumers.materializer.accounting import account
from support.gate import first_in_gate
from support.materializer import events
from support.materializer.process import consuming, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.mark.parametrize("number", first_in_gate(1, [signal.SIGTERM, signal.SIGINT]))
def test_a_signal_drains_commits_and_exits_0(
    world: RealWorld, settings: dict[str, str], number: signal.Signals
) -> None:
    world.put_many(events.good(number) for number in range(600))
    with consuming({**settings, "HEADWATER_MATERIALIZER_BATCH_MAX_RECORDS": "20"}) as consumer:
        consumer.until(lambda: consumer.metric("events_applied_total") > 0, "progress")
        assert consumer.stop(number) == 0
        totals = consumer.document
    figures = account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"])
    assert 0 < totals["applied"] == totals["consumed"] == figures.applied, "what was read was applied and committed"
    assert figures.pending == 600 - figures.applied


def test_until_caught_up_waits_for_partitions_that_another_consumer_has(
    world: RealWorld, settings: dict[str, str]
) -> None:
    world.put_many((events.good(number) for number in range(50)), partition=0)
    with consuming(settings) as other:
        other.until(lambda: other.metric("events_applied_total") == 50, "progress")
        world.put_many((events.good(100 + number) for number in range(50)), partition=1)
        run_until_caught_up(settings)
    assert account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"]).closed


@pytest.mark.nightly
def test_a_topic_deleted_and_created_again_under_a_running_consumer_is_read_from_its_beginning(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    group = settings["HEADWATER_MATERIALIZER_GROUP"]
    world.put_many(events.good(number) for number in range(20))
    with consuming(settings) as consumer:
        consumer.until(lambda: consumer.metric("events_applied_total") == 20, "progress")
        world.recreate()
        # More than before, so that going on at the old offset would find records, and skip twenty.
        world.put_many(events.good(100 + number) for number in range(30))
        # Not by the number of applied events: until the first commit notices the new topic, some are read in vain.
        consumer.until(
            lambda: account(world.client, world.topics, group).closed, "the new topic's events", seconds=patience(120)
        )
        assert consumer.stop() == 0
    (record,) = neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r) AS runs").records
    assert record["runs"] == 50
    figures = account(world.client, world.topics, group)
    assert (figures.acknowledged, figures.applied, figures.closed) == (30, 30, True)
