"""Commits of a Kafka source whose topic may have been deleted and created again since the last check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from headwater_consumers.kafka.incarnation import CHECK_SECONDS
from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.offsets import committed_metadata
from headwater_consumers.kafka.records import Partition
from headwater_schemas.errors import BrokerUnavailableError
from support.materializer.clock import FakeClock
from support.materializer.worlds import Listener

FIRST = Partition("t", 0, "first")


class Client:
    """Stand-in for librdkafka's consumer: remembers commits, and brings no records."""

    def __init__(self) -> None:
        self.commits: list[TopicPartition] = []
        self.closed = False

    def commit(self, *, offsets: list[TopicPartition], asynchronous: bool) -> list[TopicPartition]:
        self.commits += offsets
        return offsets

    def poll(self, _: float) -> None:
        pass

    def subscribe(self, *_: Any, **__: Any) -> None:
        pass

    def incremental_unassign(self, _: list[TopicPartition]) -> None:
        pass

    def close(self) -> None:
        self.closed = True


class Brokers:
    """Stand-in for `OffsetReader`: the topic's current id; None: no answer."""

    def __init__(self) -> None:
        self.current: str | None = "first"
        self.asked = 0

    def topic_id(self, topic: str, *, timeout_seconds: float) -> str:
        assert (topic, timeout_seconds > 0) == ("t", True)
        self.asked += 1
        if self.current is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return self.current


class Owning:
    """A source that was assigned partition 0 of topic `first`, and whose periodic check isn't due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.brokers, self.listener = FakeClock(), Brokers(), Listener()
        self.clients: list[Client] = []
        monkeypatch.setattr(KafkaSource, "_client", self._client)
        config = SourceConfig({"bootstrap.servers": "127.0.0.1:1"}, "t", "g")
        self.source = KafkaSource(config, clock=self.clock, notices=Notices(lambda _: None, self.clock))
        monkeypatch.setattr(self.source._incarnation, "_offsets", self.brokers)
        self.source.subscribe(self.listener)
        self.source._ownership.take([TopicPartition("t", 0)], "first", {})
        self.poll()

    def _client(self) -> Client:
        self.clients.append(Client())
        return self.clients[-1]

    def poll(self) -> None:
        self.source.poll(max_records=1, max_bytes=1, timeout_seconds=0)

    @property
    def commits(self) -> list[tuple[int, str | None]]:
        return [(each.offset, each.metadata) for client in self.clients for each in client.commits]


@pytest.fixture
def owning(monkeypatch: pytest.MonkeyPatch) -> Owning:
    return Owning(monkeypatch)


WAYS: list[Callable[[KafkaSource], None]] = [
    lambda source: source.commit({FIRST: 3}),
    lambda source: source.commit_now({FIRST: 3}),
]


@pytest.mark.parametrize("commit", WAYS, ids=["commit", "commit_now"])
def test_offsets_are_committed_with_the_id_that_the_topic_still_has(
    owning: Owning, commit: Callable[[KafkaSource], None]
) -> None:
    commit(owning.source)
    assert owning.commits == [(3, committed_metadata("first"))]


@pytest.mark.parametrize("commit", WAYS, ids=["commit", "commit_now"])
def test_nothing_is_committed_once_the_topic_is_another_and_the_next_poll_joins_anew(
    owning: Owning, commit: Callable[[KafkaSource], None]
) -> None:
    owning.brokers.current = "second"
    owning.poll()
    assert owning.listener.reported == [], "librdkafka reads on in the new topic, and doesn't report it"
    commit(owning.source)
    assert (owning.commits, owning.listener.reported) == ([], [])
    owning.poll()
    assert owning.listener.reported == [("lost", frozenset({FIRST}))]
    assert [client.closed for client in owning.clients] == [True, False]
    assert owning.listener.answers[-1] is None
    assert owning.commits == []


def test_nothing_is_committed_while_the_id_is_unknown(owning: Owning) -> None:
    owning.brokers.current = None
    owning.source.commit({FIRST: 3})
    (answer,) = owning.listener.answers
    assert isinstance(answer, BrokerUnavailableError)
    with pytest.raises(BrokerUnavailableError):
        owning.source.commit_now({FIRST: 3})
    assert owning.commits == []


def test_between_commits_the_id_is_asked_for_periodically(owning: Owning) -> None:
    owning.source.commit({FIRST: 3})
    asked = owning.brokers.asked
    owning.clock.advance(CHECK_SECONDS - 1)
    owning.poll()
    assert owning.brokers.asked == asked
    owning.brokers.current = None
    owning.clock.advance(1)
    owning.poll()
    owning.poll()
    assert owning.brokers.asked == asked + 1, "a broker that is away isn't asked at each poll"
    assert owning.listener.reported == []
