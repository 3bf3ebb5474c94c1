"""`headwater dlq` on a real Kafka: counting, showing, and replaying what a fix has made good."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from prometheus_client import CollectorRegistry

from headwater import consuming as consuming_module
from headwater.settings import load_settings
from headwater_consumers.materializer.accounting import account
from headwater_consumers.materializer.dead_letters.acknowledging import Acknowledged
from headwater_graph.dump import dump
from headwater_schemas.avro_schema import AvroSchema, current_schema
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC
from support.materializer import events
from support.materializer.process import consuming, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

    from headwater_benchmarks.processes import ConsumerProcess

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.fixture
def dlq(headwater: Command, world: RealWorld) -> Command:
    return partial(headwater, "dlq")


def waiting_letters(consumer: ConsumerProcess) -> float | None:
    """Number of waiting letters in the consumer's metrics; None: not yet."""
    _, text = consumer.get("/metrics")
    found = re.findall(r"^headwater_dead_letters_offset_lag\{.*\} (\S+)$", text, re.MULTILINE)
    return sum(map(float, found)) if found else None


def test_a_running_consumer_commits_again_what_is_acknowledged(
    world: RealWorld, settings: dict[str, str], dlq: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The brokers forget what a group without members has committed some days ago."""
    world.put(events.GARBAGE)
    assert run_until_caught_up(settings)["dead_lettered"] == 1
    dlq("acknowledge", "--yes")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    again: list[list[int | None]] = []

    def acknowledge(_: Any, *, group: str, letters: Acknowledged) -> None:
        assert group == settings["HEADWATER_MATERIALIZER_GROUP"]
        again.append([each.committed for each in letters.offsets()])

    monkeypatch.setattr(consuming_module, "acknowledge", acknowledge)
    with consuming_module.lag_watched(load_settings(), CollectorRegistry()):
        eventually(lambda: bool(again))
    assert sum(committed or 0 for committed in again[0]) == 1


def newer_schema() -> AvroSchema:
    schema = json.loads(current_schema().text)
    schema["fields"].append({"name": "later", "type": ["null", "string"], "default": None})
    return AvroSchema.from_json(json.dumps(schema))


def test_what_a_schema_made_good_is_replayed_and_what_is_still_bad_comes_back(
    world: RealWorld, settings: dict[str, str], dlq: Command, neo4j_driver: Driver
) -> None:
    schema = newer_schema()
    ahead = SINGLE_OBJECT_MAGIC + schema.fingerprint + events.good(1)[10:] + b"\x00"
    world.put(events.good(0), key=b'["default","tests","enrich"]')
    world.put(ahead, key=b'["default","tests","enrich"]', headers=(("mine", b"kept"),))
    world.put(events.without_run(), key=b'["default","tests","broken"]')
    assert run_until_caught_up(settings)["dead_lettered"] == 2

    listed = dlq("list")
    assert listed["by_reason"] == {"INVALID_EVENT": 1, "UNKNOWN_SCHEMA": 1}
    assert {group["job"] for group in listed["groups"]} == {"tests/enrich", "tests/broken"}
    assert dlq("list", "--job", "broken")["letters"] == 1
    assert dlq("list", "--until", "2020-01-01")["letters"] == 0
    shown = dlq("show", "0")
    assert (shown["reason"], shown["headers"], shown["value"]["fields"]) == ("UNKNOWN_SCHEMA", {"mine": "kept"}, None)
    assert dlq("show", "1@7", status=3)["error"]["kind"] == "not_found"

    producer = Producer(dict(world.client))
    producer.produce(world.topics.schemas, key=schema.hex, value=schema.text)
    assert producer.flush(patience(20)) == 0
    assert dlq("show", "0")["value"]["problem_now"] is None
    assert dlq("show", "0")["value"]["fields"]["kind"] == "RUN"

    before = account(world.client, world.topics, world.group).acknowledged
    assert dlq("replay", "--dry-run") == dlq("list") | {"dry_run": True, "sent": 0, "refused": {}}
    assert account(world.client, world.topics, world.group).acknowledged == before
    assert dlq("replay", status=2)["error"]["message"] == "No letters are chosen."
    assert dlq("replay", "--all", "--job", "broken", status=2)["error"]["fix"]
    assert (dlq("list")["waiting"], dlq("list")["acknowledged"]) == (2, 0)
    assert dlq("replay", "--all")["sent"] == 2
    assert (dlq("list")["waiting"], dlq("list")["acknowledged"]) == (0, 2)
    assert run_until_caught_up(settings)["applied"] == 1
    graph = list(dump(neo4j_driver))

    # The one that is still bad overtook its first letter; the other stays, and is harmless again.
    listed = dlq("list")
    assert (listed["letters"], listed["overtaken"], listed["waiting"]) == (2, 1, 1)
    with consuming(settings) as consumer:
        consumer.until(lambda: waiting_letters(consumer) == 1, "the letter that came back")
        assert dlq("acknowledge", "--yes")["acknowledged"] == 1
        consumer.until(lambda: waiting_letters(consumer) == 0, "that it is acknowledged")
    assert (dlq("list")["letters"], dlq("list")["waiting"]) == (2, 0)
    assert dlq("acknowledge", "--yes")["acknowledged"] == 0
    again = dlq("show", "2")
    assert (again["reason"], again["attempt"]) == ("INVALID_EVENT", 2)
    assert dlq("replay", "--reason", "unknown_schema")["sent"] == 1
    assert run_until_caught_up(settings)["applied"] == 1
    assert list(dump(neo4j_driver)) == graph
    figures = account(world.client, world.topics, settings["HEADWATER_MATERIALIZER_GROUP"])
    assert figures.closed
    assert (figures.acknowledged, figures.applied, figures.dead_lettered) == (6, 3, 3)


@pytest.mark.nightly
def test_a_replay_of_a_record_as_large_as_the_topic_takes(
    world: RealWorld, settings: dict[str, str], dlq: Command
) -> None:
    world.put(b"\x7f" * 1_000_000, key=b"large")
    assert run_until_caught_up(settings)["dead_lettered"] == 1
    assert dlq("replay", "--all")["sent"] == 1
    assert run_until_caught_up(settings)["dead_lettered"] == 1
    assert dlq("show", "1")["attempt"] == 2


@pytest.mark.nightly
def test_a_record_that_is_skipped_is_a_letter_and_comes_back_by_a_replay(
    world: RealWorld, settings: dict[str, str], dlq: Command, neo4j_driver: Driver
) -> None:
    world.put_many([events.good(number) for number in range(3)])
    topic = world.topics.events
    assert dlq("skip", topic, "0", "1", status=2)["error"]["message"].endswith(": it goes on at 0.")
    assert dlq("skip", topic, "7", "0", status=2)["error"]["message"].endswith("it has no such partition.")
    assert dlq("skip", topic, "0", "0")["bytes"] == len(events.good(0))
    totals = run_until_caught_up(settings)
    assert (totals["applied"], totals["dead_lettered"]) == (2, 0)
    (letter,) = world.letters()
    assert (letter.value, letter.headers["headwater.reason"]) == (events.good(0), b"SKIPPED")
    assert dlq("skip", topic, "0", "3", status=2)["error"]["message"].endswith("it goes on at 3.")
    assert dlq("replay", "--reason", "SKIPPED")["sent"] == 1
    assert run_until_caught_up(settings)["applied"] == 1
    assert neo4j_driver.execute_query("MATCH (r:HwRun) RETURN count(r)").records[0][0] == 3


@pytest.mark.nightly
def test_brokers_that_are_away_are_exit_status_4(dlq: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:9")
    assert "HEADWATER_KAFKA_BOOTSTRAP_SERVERS" in dlq("list", status=4)["error"]["fix"]
