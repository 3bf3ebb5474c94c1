"""The scripts without the demo around them: plain spark-submit, settings in flags and environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from headwater.demo.jobs import scripts_folder
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent, Provenance, RunEventType
from headwater_schemas.topics import TopicSpec, ensure_topics
from support import flights
from support.spark_submit import submit
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = pytest.mark.nightly

TOPICS = {"flights.departed": 3, "flights.enriched": 2}


@pytest.fixture
def topics(stack: StackUnderTest) -> Iterator[None]:
    client: dict[str, str | int | float | bool] = {"bootstrap.servers": stack.bootstrap_servers}
    ensure_topics(client, [TopicSpec(name, partitions) for name, partitions in TOPICS.items()])
    yield
    admin = AdminClient(client)
    for deleted in admin.delete_topics(list(TOPICS), operation_timeout=patience(10)).values():
        deleted.result()


def job(script: str, *flags: str, home: Path, environment: dict[str, str]) -> str:
    return submit(scripts_folder() / script, "--home", str(home), *flags, environment=environment)


@pytest.mark.stack
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_scripts_run_under_spark_submit(stack: StackUnderTest, topics: None, topic_prefix: str, tmp_path: Path) -> None:
    # No HEADWATER_KAFKA_BOOTSTRAP_SERVERS: the lineage goes to the pipeline's own Kafka.
    environment = {"FLIGHTS_KAFKA": stack.bootstrap_servers, "HEADWATER_TOPIC_PREFIX": topic_prefix}
    expected = flights.flights(days=1)

    printed = job("load.py", "--days", "1", "--no-lineage", home=tmp_path, environment=environment)
    assert printed == "flights of 2013-01-01 until 2013-01-02 are on flights.departed\n"
    flights.check_departed(stack.bootstrap_servers, expected)

    job("enrich.py", "--max-offsets", "300", home=tmp_path, environment=environment)
    flights.check_enriched(stack.bootstrap_servers, expected)
    first = lineage(stack, topic_prefix)
    intervals = observed(first)
    assert [entry.batch_id for event in intervals for entry in event.interval_event.entries] == [0, 1, 2]  # type: ignore[union-attr]

    # Again: the checkpoint knows that all is done, and the topic stays as it is. What is emitted anew is the same.
    job("enrich.py", "--max-offsets", "300", home=tmp_path, environment=environment)
    flights.check_enriched(stack.bootstrap_servers, expected)
    again = lineage(stack, topic_prefix)
    assert observed(again) == intervals
    assert {entry.batch_id for event in again if event.interval_event for entry in event.interval_event.entries} == {
        0,
        1,
        2,
    }
    states = [event.run_event.type for event in again if event.run_event is not None]
    assert states.count(RunEventType.COMPLETE) == states.count(RunEventType.START) > 0


def observed(events: list[LineageEvent]) -> list[LineageEvent]:
    """The intervals that were emitted while they ran."""
    return [
        event
        for event in events
        if event.interval_event is not None and event.interval_event.provenance is Provenance.OBSERVED
    ]


def lineage(stack: StackUnderTest, prefix: str) -> list[LineageEvent]:
    decoder = Decoder()
    partitions = flights.raw(stack.bootstrap_servers, f"{prefix}.events").values()
    events = [decoder.decode(value) for partition in partitions for _, value in partition]
    return sorted(events, key=lambda event: event.event_time)
