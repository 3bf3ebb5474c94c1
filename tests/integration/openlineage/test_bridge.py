"""`headwater consume --openlineage-topic` on a real Kafka and Neo4j."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from support.materializer.process import consuming, document_of, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.openlineage import run_data, run_id
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


def put(settings: dict[str, str], topic: str, *values: bytes | None, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": settings["HEADWATER_KAFKA_BOOTSTRAP_SERVERS"], "log_level": 2})
    for number, value in enumerate(values):
        producer.produce(topic, value, f"run:shop/{number}", partition=partition, headers=[("mine", b"kept")])
    assert producer.flush(patience(30)) == 0


def runs(driver: Driver) -> set[str]:
    records = driver.execute_query("MATCH (r:HwRun) WHERE r.state = 'COMPLETE' RETURN r.run_id").records
    return {str(record[0]) for record in records}


@pytest.mark.nightly
def test_bad_documents_are_dead_letters_and_good_ones_around_them_reach_the_graph(
    world: RealWorld, settings: dict[str, str], topic: str, neo4j_driver: Driver
) -> None:
    bad = [
        b"nonsense",
        b"[" * 1_000 + b"]" * 1_000,
        run_data(50, run={}),
        None,
        run_data(51, padding="x" * 900_000)[:-1],
    ]
    for number, value in enumerate(bad):
        put(settings, topic, run_data(number), value, partition=number % 2)
    totals = run_until_caught_up(settings, "--openlineage-topic", topic)
    assert totals["openlineage"]["consumed"] == 2 * len(bad)
    assert totals["openlineage"]["dead_lettered"] == len(bad)
    assert totals["applied"] == totals["openlineage"]["events"]
    assert runs(neo4j_driver) == {run_id(number) for number in range(len(bad))}
    letters = world.letters()
    assert sorted(letter.value or b"" for letter in letters) == sorted(value or b"" for value in bad)
    assert {letter.headers["__connect.errors.topic"] for letter in letters} == {topic.encode()}
    assert {letter.headers["mine"] for letter in letters} == {b"kept"}

    census = document_of(settings, "dlq", "list")
    assert census["by_reason"] == {"NOT_AN_EVENT": 3, "EMPTY": 1, "INVALID_EVENT": 1}
    shown = [document_of(settings, "dlq", "show", str(number)) for number in range(len(bad))]
    (without_run,) = [each for each in shown if each["reason"] == "INVALID_EVENT"]
    assert "/run/runId" in without_run["message"]
    assert without_run["value"]["fields"]["job"]["name"] == "totals_50"
    # Back to where they came from, from where they become letters again, which overtake these.
    assert document_of(settings, "dlq", "replay", "--all")["sent"] == len(bad)
    again = run_until_caught_up(settings, "--openlineage-topic", topic)
    assert again["openlineage"] == {"consumed": len(bad), "events": 0, "dead_lettered": len(bad)}
    assert again["dead_lettered"] == 0, "none went to the events topic"
    assert document_of(settings, "dlq", "list")["overtaken"] == len(bad)


@pytest.mark.nightly
@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_works_beside_the_consumer_and_ends_with_it(
    world: RealWorld, settings: dict[str, str], topic: str, neo4j_driver: Driver, workers: str
) -> None:
    with consuming(settings, "--workers", workers, "--openlineage-topic", topic) as consumer:
        consumer.until(consumer.ready, "readiness", seconds=patience(60))
        for partition in (0, 1):
            put(settings, topic, *(run_data(100 * partition + each) for each in range(20)), partition=partition)
        consumer.until(lambda: len(runs(neo4j_driver)) == 40, "the graph", seconds=patience(60))
        text = consumer.get("/metrics")[1]
        published = [
            float(line.split()[-1])
            for line in text.splitlines()
            if line.startswith("headwater_bridge_records_consumed_total")
        ]
        assert sum(published) == 40
        assert '"openlineage"' in consumer.get("/readyz")[1]
        assert consumer.stop(signal.SIGTERM) == 0, consumer.stderr
        assert consumer.document["openlineage"]["consumed"] == 40
    again = run_until_caught_up(settings, "--openlineage-topic", topic)
    assert "openlineage" not in again or not again["openlineage"]["consumed"], "everything was committed"


@pytest.mark.nightly
def test_a_consumer_that_is_killed_has_lost_no_document(
    world: RealWorld, settings: dict[str, str], topic: str, neo4j_driver: Driver
) -> None:
    for partition in (0, 1):
        put(settings, topic, *(run_data(1_000 * partition + each) for each in range(500)), partition=partition)
    with consuming(settings, "--openlineage-topic", topic) as consumer:
        consumer.until(lambda: len(runs(neo4j_driver)) >= 50, "the first of the graph", seconds=patience(60))
        consumer.kill()
    totals = run_until_caught_up(settings, "--openlineage-topic", topic)
    assert totals["dead_lettered"] == totals["openlineage"]["dead_lettered"] == 0
    wanted = {run_id(1_000 * partition + each) for partition in (0, 1) for each in range(500)}
    assert runs(neo4j_driver) == wanted


def test_one_of_headwaters_own_topics_is_refused(world: RealWorld, settings: dict[str, str]) -> None:
    with consuming(settings, "--openlineage-topic", world.topics.events) as consumer:
        assert consumer.wait(patience(60)) == 2
        assert "HEADWATER_MATERIALIZER_OPENLINEAGE_TOPIC" in consumer.document["error"]["fix"]
