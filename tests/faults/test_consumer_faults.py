"""Answers and actions of a consumer while the other side is away. All classes of faults are in `test_soak.py`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.soak.links import FaultyLink
from headwater_consumers.materializer.accounting import account
from headwater_consumers.materializer.truth import truth
from headwater_graph.dump import compare, dump
from headwater_graph.oracle import oracle
from headwater_schemas.codec import Decoder, encode
from support.graph.emptying import delete_nodes
from support.materializer import events
from support.materializer.process import consuming, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(600)]

SMALL_BATCHES = {"HEADWATER_MATERIALIZER_BATCH_MAX_RECORDS": "15"}


def feed(world: RealWorld) -> int:
    """A few hundred events of two kinds, over both partitions, with repeats, disorder and garbage in between."""
    values = [encode(events.interval(batch, query=query)) for query in range(3) for batch in range(60)]
    values += [events.good(number) for number in range(100)]
    values = values[::-1] + values[::7]
    values[50:50] = [events.GARBAGE, b"", events.unknown_kind()]
    for partition in (0, 1):
        world.put_many(values[partition::2], partition=partition)
    return len(values)


def graph(driver: Driver) -> list[str]:
    return list(dump(driver, "neo4j"))


def test_a_link_to_the_database_that_is_cut_and_mended_ends_in_the_same_graph(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    total = feed(world)
    run_until_caught_up({**settings, "HEADWATER_MATERIALIZER_GROUP": "undisturbed"})
    undisturbed = graph(neo4j_driver)
    delete_nodes(neo4j_driver)

    with FaultyLink(int(settings["HEADWATER_NEO4J_URI"].rpartition(":")[2])) as link:
        through = {**settings, **SMALL_BATCHES, "HEADWATER_NEO4J_URI": f"bolt://127.0.0.1:{link.port}"}
        with consuming(through, "--until-caught-up") as consumer:
            consumer.until(lambda: consumer.metric("events_applied_total") >= 15, "progress", seconds=patience(120))
            link.cut()
            consumer.until(lambda: not json.loads(consumer.get("/livez")[1])["neo4j_reachable"], "word of the cut")
            assert (consumer.get("/livez")[0], consumer.get("/readyz")[0]) == (200, 503)
            link.mend()
            assert consumer.wait(patience(240)) == 0, consumer.stderr
            assert consumer.document["retries"] > 0
            assert consumer.document["dead_lettered"] == 3
            assert "Neo4j is well again" in consumer.stderr

    assert graph(neo4j_driver) == undisturbed
    figures = account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"])
    assert figures.closed
    assert (figures.acknowledged, figures.dead_lettered) == (total, 3)


def verified(world: RealWorld, driver: Driver, settings: dict[str, str], total: int) -> None:
    """The graph is what the topic's events say, node by node, and every record is accounted for."""
    group = settings["HEADWATER_MATERIALIZER_GROUP"]
    figures = account(world.client, world.topics, group)
    assert figures.closed
    assert (figures.acknowledged, figures.dead_lettered) == (total, 3)
    expected = truth(world.client, world.topics, group, Decoder(), read=lambda: None)
    assert expected.unaccounted == []
    comparison = compare(oracle(expected.delta, internal=True), dump(driver, "neo4j", internal=True))
    assert comparison.same, comparison
    assert comparison.equal > 500


@pytest.mark.parametrize("server", ["neo4j", "kafka"])
def test_a_server_that_stops_answering_for_half_a_minute_delays_and_loses_nothing(
    world: RealWorld, settings: dict[str, str], stack: StackUnderTest, neo4j_driver: Driver, server: str
) -> None:
    total = feed(world)
    with consuming({**settings, **SMALL_BATCHES}, "--until-caught-up") as consumer:
        consumer.until(lambda: consumer.metric("events_applied_total") >= 15, "progress", seconds=patience(120))
        with stack.paused(server):
            # Longer than a session, and than the silence after which a write that isn't answered counts as trouble.
            consumer.until(lambda: consumer.get("/readyz")[0] == 503, "unreadiness", seconds=patience(90))
            assert consumer.get("/livez")[0] == 200
        assert consumer.wait(patience(60)) == 0, consumer.stderr
    verified(world, neo4j_driver, settings, total)
