"""`headwater outbox relay` and `headwater topic create` on a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from headwater.cli import main
from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_producers.outbox.store import Store
from headwater_schemas.events import DatasetEvent, DatasetRef, build
from headwater_schemas.record import record_of
from headwater_schemas.topics import TopicNames
from support.events import PRODUCER, TIME
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = pytest.mark.stack


def records_on(stack: StackUnderTest, topic: str) -> int:
    client = {"bootstrap.servers": stack.bootstrap_servers, "log_level": "2"}
    return sum(1 for _ in records_to_end(client, topic))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capsys.readouterr()
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_what_was_meant_for_a_wrong_broker_is_relayed_once(
    stack: StackUnderTest,
    topic_prefix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HEADWATER_OUTBOX_PATH", str(tmp_path / "outbox"))
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", stack.bootstrap_servers)
    monkeypatch.setenv("HEADWATER_TOPIC_PREFIX", topic_prefix)
    folder = tmp_path / "outbox" / "wrong-0123456789ab"
    folder.mkdir(parents=True)
    store = Store.create(folder)
    bodies = [DatasetEvent(dataset=DatasetRef("n", f"d{number}")) for number in range(9)]
    events = [build.lineage_event(body, producer=PRODUCER, event_time=TIME) for body in bodies]
    numbered = list(enumerate(map(record_of, events), 1))
    store.append(numbered)
    store.admit(numbered)
    store.close()

    status, document = run(capsys, "outbox", "relay", folder.name)
    assert (status, document["sent"], document["left"], document["problems"]) == (0, 9, 0, [])
    assert records_on(stack, TopicNames(topic_prefix).events) == 9
    assert list(folder.iterdir()) == []
    assert run(capsys, "outbox", "relay", "--all")[1]["sent"] == 0


def test_a_topic_is_created_once(
    stack: StackUnderTest, topic_prefix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", stack.bootstrap_servers)
    name = f"{topic_prefix}.mine"
    arguments = ("topic", "create", name, "--partitions", "3", "--replication-factor", "1")
    assert run(capsys, *arguments) == (0, [{"topic": name, "created": True, "partitions": 3}])
    assert run(capsys, *arguments) == (0, [{"topic": name, "created": False, "partitions": 3}])
    topics = AdminClient({"bootstrap.servers": stack.bootstrap_servers}).list_topics(timeout=patience(30)).topics
    assert len(topics[name].partitions) == 3
    assert run(capsys, "topic", "create", f"{name}2", "--replication-factor", "9")[0] == 2
