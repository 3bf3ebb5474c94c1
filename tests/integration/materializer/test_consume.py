"""`headwater consume` as a process: sharing, stopping, health."""

from __future__ import annotations

import json
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


def test_two_consumers_share_the_partitions_and_one_takes_over_what_the_other_leaves(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    with consuming(settings) as one, consuming(settings) as two:
        for consumer in (one, two):
            consumer.until(lambda: consumer.metric("partitions_assigned") == 1, "share")  # noqa: B023 - within the turn
        for partition in (0, 1):
            world.put_many((events.good(partition * 100 + number) for number in range(50)), partition=partition)
        for consumer in (one, two):
            consumer.until(lambda: consumer.metric("events_applied_total") == 50, "its half")  # noqa: B023 - as above
            consumer.until(lambda: consumer.get("/readyz")[0] == 200, "readiness")  # noqa: B023 - as above

        assert one.stop() == 0
        two.until(lambda: two.metric("partitions_assigned") == 2, "the other's share")
        for partition in (0, 1):
            world.put(events.good(1_000 + partition), partition=partition)
        two.until(lambda: two.metric("events_applied_total") == 52, "the rest")
    (record,) = neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r) AS runs").records
    assert record["runs"] == 102


def test_until_caught_up_waits_for_partitions_that_another_consumer_has(
    world: RealWorld, settings: dict[str, str]
) -> None:
    world.put_many((events.good(number) for number in range(50)), partition=0)
    with consuming(settings) as other:
        other.until(lambda: other.metric("events_applied_total") == 50, "progress")
        world.put_many((events.good(100 + number) for number in range(50)), partition=1)
        run_until_caught_up(settings)
    assert account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"]).closed


def test_an_empty_topic_is_caught_up_with_at_once(world: RealWorld, settings: dict[str, str]) -> None:
    totals = run_until_caught_up(settings)
    assert (totals["consumed"], totals["applied"], totals["dead_lettered"]) == (0, 0, 0)


def test_health_and_metrics_answer_and_all_series_start_at_0(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming(settings) as consumer:
        consumer.until(lambda: consumer.get("/readyz")[0] == 200, "readiness")
        document = json.loads(consumer.get("/livez")[1])
        assert document["alive"] is True
        assert document["partitions_assigned"] == 2
        text = consumer.get("/metrics")[1]
        for series in (
            "records_consumed_total 0.0",
            "events_applied_total 0.0",
            'dead_letters_total{reason="UNKNOWN_KIND"} 0.0',
            'retries_total{cause="GRAPH"} 0.0',
            'up{end="neo4j"} 1.0',
            'up{end="kafka"} 1.0',
        ):
            assert f"headwater_materializer_{series}\n" in text
        assert consumer.get("/nothing")[0] == 404


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
