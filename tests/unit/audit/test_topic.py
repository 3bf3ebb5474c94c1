"""Lines on a topic: a Kafka that doesn't answer, or answers half of a commit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka import KafkaError

from headwater_audit.errors import AuditUnwritableError
from headwater_audit.topic import AuditTopic
from headwater_audit.writer import AuditWriter
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.topics import TopicSpec
from support.audit import placed, record, verified
from support.waiting import patience


class Broker:
    """Acknowledges records, but for those that `refuse` names by their number from 0."""

    def __init__(self) -> None:
        self.records: list[tuple[bytes, bytes]] = []
        self.refuse: set[int] = set()
        self.sent = 0
        self.away = False
        self.configs: list[dict[str, Any]] = []

    def ensure(self, *_: object, **__: object) -> None:
        if self.away:
            raise BrokerUnavailableError("Kafka at nowhere:1 doesn't answer")

    def producer(self, config: dict[str, Any]) -> Any:
        self.configs.append(config)
        return Producer(self)


class Producer:
    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def produce(self, topic: str, *, key: bytes, value: bytes, on_delivery: Any, **_: object) -> None:
        number, self.broker.sent = self.broker.sent, self.broker.sent + 1
        if number in self.broker.refuse:
            on_delivery(KafkaError(KafkaError._MSG_TIMED_OUT), None)
        else:
            self.broker.records.append((key, value))
            on_delivery(None, None)

    def poll(self, _: float) -> None: ...

    def flush(self, _: float) -> int:
        return 0

    def purge(self) -> None: ...


def writer_to(broker: Broker) -> AuditWriter:
    topic = AuditTopic(
        {"bootstrap.servers": "nowhere:1"},
        TopicSpec("lineage.audit", 1),
        delivery_seconds=1,
        make_producer=broker.producer,
        ensure=broker.ensure,
    )
    return AuditWriter(topic, timeout_seconds=patience(30))


def test_a_chain_is_in_one_partition() -> None:
    broker = Broker()
    writer = writer_to(broker)
    writer.write(record(0))
    writer.close()
    lines = [json.loads(value) for _, value in broker.records]
    assert [line["kind"] for line in lines] == ["OPENED", "OUTCOME", "CLOSED"]
    assert {key.decode() for key, _ in broker.records} == {lines[0]["chain"]}
    assert not verified(placed((value for _, value in broker.records), "topic")).found
    assert broker.configs[0]["acks"] == "all"
    assert broker.configs[0]["enable.idempotence"] is True


def test_records_that_are_not_acknowledged_end_a_chain() -> None:
    broker = Broker()
    writer = writer_to(broker)
    writer.write(record(0))
    broker.refuse = {2}
    with pytest.raises(AuditUnwritableError, match=r"lineage\.audit"):
        writer.write(record(1))
    writer.write(record(2))
    writer.close()
    lines = [json.loads(value) for _, value in broker.records]
    assert [line["kind"] for line in lines] == ["OPENED", "OUTCOME", "OPENED", "LOST", "OUTCOME", "CLOSED"]
    assert lines[2]["continues"] == f"{lines[0]['chain']}:1"
    found = verified(placed((value for _, value in broker.records), "topic"))
    assert (found.findings, len(found.unclosed), found.lost) == ((), 1, 1)
    assert len(broker.configs) == 2, "the producer is another one"


def test_a_broker_that_is_away_refuses_and_comes_back() -> None:
    broker = Broker()
    broker.away = True
    writer = writer_to(broker)
    with pytest.raises(AuditUnwritableError, match="doesn't answer"):
        writer.write(record(0))
    broker.away = False
    writer.write(record(1))
    writer.close()
    assert [json.loads(value)["kind"] for _, value in broker.records] == ["OPENED", "LOST", "OUTCOME", "CLOSED"]
