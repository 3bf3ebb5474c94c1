"""Reading offsets without joining a group, against a stand-in for the brokers."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from headwater_consumers.kafka.offsets import OffsetReader


class Broker:
    """Stand-in for `AdminClient`: a topic with one partition, whose leader first doesn't answer for it."""

    def __init__(self, *errors: int) -> None:
        self.errors = list(errors)

    def describe_topics(self, topics: Any, request_timeout: float) -> dict[str, Future[Any]]:
        return {"new": _done(SimpleNamespace(topic_id="id", partitions=[SimpleNamespace(id=0)]))}

    def list_offsets(self, asked: Any, isolation_level: Any, request_timeout: float) -> dict[Any, Future[Any]]:
        assert request_timeout > 0
        [partition] = asked
        return {
            partition: _done(KafkaException(KafkaError(self.errors.pop(0))))
            if self.errors
            else _done(SimpleNamespace(offset=7))
        }


def _done(result: Any) -> Future[Any]:
    future: Future[Any] = Future()
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
    return future


@pytest.fixture
def reader() -> OffsetReader:
    return OffsetReader({"bootstrap.servers": "127.0.0.1:1"}, group="")


def test_a_leader_that_was_just_elected_is_asked_again(reader: OffsetReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_admin", Broker(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE))
    [found] = reader.bounds("new", timeout_seconds=30)
    assert (found.begin, found.end) == (7, 7)


def test_other_errors_are_raised_at_once(reader: OffsetReader, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED)
    monkeypatch.setattr(reader, "_admin", broker)
    with pytest.raises(KafkaException):
        reader.bounds("new", timeout_seconds=30)
    assert len(broker.errors) == 1


def test_a_partition_without_a_leader_is_given_up_in_time(
    reader: OffsetReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_admin", Broker(*[KafkaError.LEADER_NOT_AVAILABLE] * 100))
    with pytest.raises(KafkaException) as raised:
        reader.bounds("new", timeout_seconds=0.2)
    assert raised.value.args[0].code() == KafkaError.LEADER_NOT_AVAILABLE
