"""The checklist on the real stack: what it finds there, and that it changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from msgspec import structs

from headwater.cli import main
from headwater_graph.dump import dump
from headwater_graph.schema import ensure_schema
from headwater_schemas.codec import encode
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs
from support.materializer.events import run_start
from support.materializer.worlds import patiently
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

Doctor = Callable[..., tuple[int, dict[str, list[str]]]]


@pytest.fixture
def names(request: pytest.FixtureRequest) -> TopicNames:
    """Topics of one test alone."""
    return TopicNames(f"doctor-{request.node.name}")


@pytest.fixture
def doctor(
    stack: StackUnderTest,
    names: TopicNames,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Doctor:
    """Its exit status, and severities by check."""
    for name, value in {
        "KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
        "NEO4J_URI": stack.neo4j_uri,
        "NEO4J_USER": stack.neo4j_user,
        "NEO4J_PASSWORD": stack.neo4j_password,
        "TOPIC_PREFIX": names.prefix,
        "MATERIALIZER_GROUP": names.prefix,
        "DATA_DIR": str(tmp_path),
    }.items():
        monkeypatch.setenv(f"HEADWATER_{name}", value)

    def run(*more: str) -> tuple[int, dict[str, list[str]]]:
        status = main(["doctor", "--json", *more])
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        found: dict[str, list[str]] = {}
        for each in document["findings"]:
            found.setdefault(each["check"], []).append(each["severity"])
        assert sum(document["totals"].values()) == len(document["findings"])
        assert [each for each in document["findings"] if each["severity"] != "OK" and not each["fix"]] == []
        return status, found

    return run


def topics_made(stack: StackUnderTest, names: TopicNames) -> None:
    ensure_topics({"bootstrap.servers": stack.bootstrap_servers}, topic_specs(names, partitions=2))


def configured(stack: StackUnderTest, topic: str, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers})
    entries = [
        ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
        for name, value in config.items()
    ]
    (future,) = admin.incremental_alter_configs(
        [ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)]
    ).values()
    future.result(patience(20))


def published(stack: StackUnderTest, topic: str, at: datetime, value: bytes = b"x") -> None:
    producer = Producer({"bootstrap.servers": stack.bootstrap_servers})
    producer.produce(topic, value=value, timestamp=round(at.timestamp() * 1_000), partition=0)
    assert producer.flush(patience(20)) == 0


def test_a_stack_as_it_is_started(
    clean_database: Driver, stack: StackUnderTest, names: TopicNames, doctor: Doctor
) -> None:
    status, found = doctor()
    assert status == 5
    assert found["topics"] == ["FAIL"] * 3
    topics_made(stack, names)
    ensure_schema(clean_database, "neo4j")
    status, found = doctor()
    assert status == 0
    assert "topics" not in found
    # One broker without an authorizer is a trial's, and no failure.
    assert found["replication"] == ["WARN"] * 3
    assert found["ACLs"] == ["WARN"]
    for check in ("retention", "compaction", "max.message.bytes", "access", "graph version", "constraints", "indexes"):
        assert set(found[check]) == {"OK"}, check
    assert found["dead letters"] == found["lag"] == ["OK"]
    assert sorted(found["backup"]) == ["OK", "UNKNOWN"]
    assert "FAIL" not in found["clocks"]
    assert "outbox" in found
    assert "outbox" not in doctor("--no-outbox")[1]


def test_each_fault_of_the_stack_is_found(
    clean_database: Driver, stack: StackUnderTest, names: TopicNames, doctor: Doctor
) -> None:
    topics_made(stack, names)
    ensure_schema(clean_database, "neo4j")
    # By the broker's clock it is of now.
    ahead = structs.replace(run_start(0), event_time=datetime.now(UTC) + timedelta(hours=5))
    published(stack, names.events, datetime.now(UTC), encode(ahead))
    published(stack, names.dead_letters, datetime.now(UTC) - timedelta(days=8))
    configured(stack, names.events, retention_ms="86400000", cleanup_policy="compact,delete", max_message_bytes="65536")
    with clean_database.session() as session:
        session.run("DROP INDEX headwater_run_open").consume()
        session.run("DROP CONSTRAINT headwater_job_key").consume()
    try:
        status, found = doctor("--outage-budget", "25h")
        assert status == 5
        failing = ("retention", "compaction", "max.message.bytes", "clocks", "dead letters", "lag")
        for check in (*failing, "constraints", "indexes"):
            assert "FAIL" in found[check], check
        assert "FAIL" not in doctor("--outage-budget", "24h")[1]["retention"]
    finally:
        ensure_schema(clean_database, "neo4j")


def test_nothing_is_changed(
    clean_database: Driver, stack: StackUnderTest, names: TopicNames, tmp_path: Path, doctor: Doctor
) -> None:
    topics_made(stack, names)
    ensure_schema(clean_database, "neo4j")
    published(stack, names.events, datetime.now(UTC))
    graph, offsets = list(dump(clean_database, "neo4j")), ends(stack, names)
    assert offsets[names.events, 0] == (0, 1)
    doctor()
    assert list(dump(clean_database, "neo4j")) == graph
    assert ends(stack, names) == offsets
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers})
    groups = admin.list_consumer_groups().result(patience(20))
    assert names.prefix not in {group.group_id for group in groups.valid}
    assert list(tmp_path.iterdir()) == []


def ends(stack: StackUnderTest, names: TopicNames) -> dict[tuple[str, int], tuple[int, int]]:
    """Begin and end by topic and partition. A broker may learn of a new topic only after it was made: until then its
    partitions have no leader."""
    topics = {names.events: 2, names.dead_letters: 1, names.schemas: 1}
    parts = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
    consumer = Consumer({"bootstrap.servers": stack.bootstrap_servers, "group.id": "none"})
    try:
        found = patiently(lambda: [consumer.get_watermark_offsets(part, timeout=patience(20)) for part in parts])
        return {(part.topic, part.partition): offsets for part, offsets in zip(parts, found, strict=True)}
    finally:
        consumer.close()


@pytest.mark.nightly
def test_servers_that_do_not_answer_leave_the_other_checks(
    stack: StackUnderTest, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
    status, found = doctor()
    assert status == 5
    assert found["servers"] == ["FAIL"]
    assert found["constraints"] == ["UNKNOWN"]
    assert found["topics"] == ["FAIL"] * 3
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    status, found = doctor()
    assert found["servers"] == ["FAIL", "FAIL"]
    assert "OK" in found["outbox"] or "WARN" in found["outbox"]
    assert main(["doctor", "--outage-budget", "0d"]) == 2
