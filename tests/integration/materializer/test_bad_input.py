"""Bad input, by real processes on a real Kafka and Neo4j: what each kind of it comes to."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from headwater_consumers.materializer.accounting import account
from headwater_schemas.codec import encode
from headwater_schemas.topics import DEFAULT_MAX_MESSAGE_BYTES
from support.materializer import events
from support.materializer.process import consuming, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

# Nobody listens there: port 9 is `discard`, and privileged.
NOWHERE = "127.0.0.1:9"


def count(driver: Driver, query: str) -> Any:
    return driver.execute_query(query).records[0][0]


def test_every_kind_of_bad_record_is_dead_lettered_and_the_good_ones_around_it_are_applied(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    # A record batch's overhead is within the topic's limit.
    largest = os.urandom(DEFAULT_MAX_MESSAGE_BYTES - 200)
    bad = [
        (b"", "EMPTY"),
        (None, "EMPTY"),
        (events.GARBAGE, "NOT_AN_EVENT"),
        (events.UNKNOWN_FINGERPRINT, "UNKNOWN_SCHEMA"),
        (events.unknown_kind(), "UNKNOWN_KIND"),
        (events.without_run(), "INVALID_EVENT"),
        (events.truncated(), "TRUNCATED"),
        (b"\x7f" + largest, "NOT_AN_EVENT"),
    ]
    for number, (value, _) in enumerate(bad):
        world.put(events.good(number), key=b"good")
        world.put(value, key=b"bad %d" % number, headers=(("mine", b"kept"),), timestamp_ms=1_700_000_000_000)
    world.put(events.good(len(bad)), key=b"good")

    totals = run_until_caught_up(settings)

    assert totals["applied"] == len(bad) + 1
    assert totals["dead_lettered"] == len(bad)
    assert count(neo4j_driver, "MATCH (r:HwRun) RETURN count(r)") == len(bad) + 1
    letters = world.letters()
    assert [letter.headers["headwater.reason"] for letter in letters] == [reason.encode() for _, reason in bad]
    assert [letter.value for letter in letters] == [value for value, _ in bad]
    assert [letter.key for letter in letters] == [b"bad %d" % number for number in range(len(bad))]
    assert {letter.headers["mine"] for letter in letters} == {b"kept"}
    assert {letter.timestamp_ms for letter in letters} == {1_700_000_000_000}
    figures = account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"])
    assert figures.closed
    assert (figures.acknowledged, figures.applied, figures.dead_lettered) == (17, 9, 8)


@pytest.mark.nightly
def test_of_many_inputs_and_outputs_comes_a_bounded_number_of_relationships(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver
) -> None:
    """A million pairs go by way of the job; what can't be bounded so is a dead letter, and nothing else is."""
    world.put(events.good(0))
    world.put(encode(events.wide_run(0, 1_000, 1_000)))
    world.put(encode(events.wide_interval(11, 1_000, 20)))
    world.put(events.good(1))
    totals = run_until_caught_up(settings)
    assert (totals["applied"], totals["dead_lettered"]) == (3, 1)
    assert [letter.headers["headwater.reason"] for letter in world.letters()] == [b"TOO_LARGE"]
    for links, expected in (("READS", 1_000), ("WRITES", 1_000), ("GOES_INTO", 1_000), ("FEEDS", 1_000)):
        assert count(neo4j_driver, f"MATCH ()-[r:{links}]->() RETURN count(r)") == expected, links


def test_a_wrong_password_ends_it_at_once_with_the_settings_name(world: RealWorld, settings: dict[str, str]) -> None:
    world.put(events.good(0))
    secret = "not-the-password-at-all"
    with consuming({**settings, "HEADWATER_NEO4J_PASSWORD": secret}) as consumer:
        assert consumer.wait() == 6
        assert "HEADWATER_NEO4J_PASSWORD" in consumer.stderr
        assert secret not in consumer.stderr
        assert consumer.document["error"]["kind"] == "configuration"
    figures = account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"])
    assert figures.pending == 1


def test_a_database_that_is_not_there_is_waited_for(world: RealWorld, settings: dict[str, str]) -> None:
    world.put(events.good(0))
    with consuming({**settings, "HEADWATER_NEO4J_URI": f"bolt://{NOWHERE}"}) as consumer:
        consumer.until(lambda: "doesn't answer" in consumer.stderr, "word of it")
        assert f"Neo4j at bolt://{NOWHERE}" in consumer.stderr
        assert consumer.get("/livez")[0] == 200, "a restart wouldn't help"
        assert consumer.get("/readyz")[0] == 503
        assert consumer.stop(signal.SIGTERM) == 0
        assert consumer.document["applied"] == 0
    assert world.letters() == []


def test_a_broker_that_is_not_there_is_waited_for(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming({**settings, "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": NOWHERE}) as consumer:
        consumer.until(lambda: f"Kafka at {NOWHERE}" in consumer.stderr, "word of it")
        assert consumer.get("/livez")[0] == 200
        status, body = consumer.get("/readyz")
        assert status == 503
        assert '"kafka_reachable": false' in body
        assert consumer.stop(signal.SIGTERM) == 0
        assert consumer.stderr.count(f"Kafka at {NOWHERE}") < 4, "once a minute, not once an attempt"


@pytest.mark.nightly
def test_a_port_that_is_taken_ends_it_with_the_settings_name(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming(settings) as first, consuming(settings, "--port", str(first.port)) as second:
        assert second.wait() == 2
        assert "HEADWATER_MATERIALIZER_HTTP_PORT" in second.stderr


@pytest.mark.nightly
def test_a_flood_of_garbage_stops_it_with_the_reason_and_keeps_what_was_good(
    world: RealWorld, settings: dict[str, str]
) -> None:
    for number in range(10):
        world.put(events.good(number))
    assert run_until_caught_up(settings)["applied"] == 10
    for _ in range(150):
        world.put(events.GARBAGE)
    with consuming(settings, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 6
        assert "HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO" in consumer.stderr
    figures = account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"])
    assert figures.applied == 10
    assert figures.pending > 0

    every = {"HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO": "1"}
    run_until_caught_up(settings | every)
    assert account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"]).dead_lettered == 150
