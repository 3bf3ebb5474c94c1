"""AcknowledgedProducer against a stand-in for librdkafka: each record is settled once."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException

from headwater_schemas.errors import SettingsRefusedError
from headwater_schemas.kafka.producer import ACKNOWLEDGED, AcknowledgedProducer, ProducerRecord, Undelivered, one_by_one
from support.fake_producer import FakeCluster

Outcomes = dict[int, list[Undelivered | None]]


def records(*values: bytes) -> list[ProducerRecord]:
    return [ProducerRecord("letters", b"key", value, (("name", b"value"),)) for value in values]


@pytest.fixture
def outcomes() -> Outcomes:
    return {}


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


def deliver(cluster: FakeCluster, outcomes: Outcomes, what: Iterator[ProducerRecord] | list[ProducerRecord]) -> int:
    producer = AcknowledgedProducer({"bootstrap.servers": "broker:9092"}, make_producer=cluster.producer)
    return producer.deliver(
        what, lambda number, failure: outcomes.setdefault(number, []).append(failure), delivery_seconds=1
    )


def test_each_record_is_acknowledged_once(cluster: FakeCluster, outcomes: Outcomes) -> None:
    assert deliver(cluster, outcomes, records(b"a", b"b", b"c")) == 0
    assert outcomes == {0: [None], 1: [None], 2: [None]}
    assert cluster.delivered == {"letters": [b"a", b"b", b"c"]}
    assert cluster.headers == [[("name", b"value")]] * 3


def test_a_full_queue_is_waited_for(cluster: FakeCluster, outcomes: Outcomes) -> None:
    full = iter([BufferError(), BufferError()])
    cluster.reject = lambda _topic, value: next(full, None) if value == b"b" else None
    deliver(cluster, outcomes, records(b"a", b"b"))
    assert outcomes == {0: [None], 1: [None]}
    assert cluster.delivered["letters"] == [b"a", b"b"]


def test_a_record_that_is_refused_at_once_is_settled_and_the_next_is_sent(
    cluster: FakeCluster, outcomes: Outcomes
) -> None:
    refusal = KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
    cluster.reject = lambda _topic, value: refusal if value == b"a" else None
    deliver(cluster, outcomes, records(b"a", b"b"))
    assert outcomes[1] == [None]
    (failure,) = outcomes[0]
    assert failure is not None
    assert failure.too_large
    assert not failure.producer_lost


def test_what_a_delivery_report_means(subtests: pytest.Subtests, cluster: FakeCluster) -> None:
    cases = [
        (KafkaError.MSG_SIZE_TOO_LARGE, True, False),
        (KafkaError._PURGE_QUEUE, False, True),
        (KafkaError.UNKNOWN_PRODUCER_ID, False, True),
        (KafkaError._MSG_TIMED_OUT, False, False),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, False, False),
    ]
    for code, too_large, lost in cases:
        with subtests.test(code=code):
            cluster.answer = Mock(return_value=KafkaError(code))
            outcomes: Outcomes = {}
            deliver(cluster, outcomes, records(b"a"))
            (failure,) = outcomes[0]
            assert failure is not None
            assert (failure.too_large, failure.producer_lost) == (too_large, lost)


def test_records_are_read_lazily_so_that_their_iterator_can_stop(cluster: FakeCluster, outcomes: Outcomes) -> None:
    cluster.answer = lambda _topic, _values: KafkaError(KafkaError._MSG_TIMED_OUT)

    def until_one_failed() -> Iterator[ProducerRecord]:
        for record in records(b"a", b"b", b"c"):
            if outcomes:
                return
            yield record

    deliver(cluster, outcomes, until_one_failed())
    assert list(outcomes) == [0]


def test_discarded_records_are_settled_as_lost(cluster: FakeCluster) -> None:
    cluster.holding = True
    producer = AcknowledgedProducer({}, make_producer=cluster.producer)
    settled: list[Undelivered | None] = []
    (record,) = records(b"a")
    producer.send(record, settled.append)
    assert len(producer) == 1
    producer.discard()
    (failure,) = settled
    assert failure is not None
    assert failure.producer_lost


def test_settings_that_make_no_producer_are_named() -> None:
    with pytest.raises(SettingsRefusedError, match=r"no\.such\.property") as caught:
        AcknowledgedProducer({"no.such.property": "1"})
    assert caught.value.setting == "HEADWATER_KAFKA_CLIENT_PROPERTIES"


def test_every_producer_waits_for_all_replicas_and_hashes_keys_as_java_does(cluster: FakeCluster) -> None:
    AcknowledgedProducer({"linger.ms": 5}, make_producer=cluster.producer)
    assert cluster.producers[0].conf == {**ACKNOWLEDGED, "linger.ms": 5}
    assert ACKNOWLEDGED["acks"] == "all"
    assert ACKNOWLEDGED["enable.idempotence"] is True
    assert ACKNOWLEDGED["partitioner"] == "murmur2_random"
    forced = one_by_one({"acks": "1", "batch.num.messages": 9}, client_id="c", delivery_seconds=20)
    assert (forced["acks"], forced["batch.num.messages"], forced["delivery.timeout.ms"]) == ("all", 1, 20_000)


@pytest.mark.parametrize("within_a_report", [False, True])
def test_a_fatal_error_that_is_raised_reaches_the_callback(*, within_a_report: bool) -> None:
    fatal = KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED, fatal=True))
    raised: BaseException = fatal
    if within_a_report:
        raised = SystemError("returned a result with an exception set")
        raised.__cause__ = fatal
    client = Mock(**{"flush.side_effect": [raised, 0]})
    errors: list[KafkaError] = []
    producer = AcknowledgedProducer({}, on_error=errors.append, make_producer=lambda _config: client)
    assert producer.flush(1) == 0
    assert [error.code() for error in errors] == [KafkaError.CLUSTER_AUTHORIZATION_FAILED]
    client.flush.side_effect = [raised, 0]
    with pytest.raises(KafkaException):
        AcknowledgedProducer({}, make_producer=lambda _config: client).flush(1)


def test_another_defect_is_raised() -> None:
    client = Mock(**{"poll.side_effect": SystemError("something else")})
    with pytest.raises(SystemError):
        AcknowledgedProducer({}, on_error=print, make_producer=lambda _config: client).poll(0)
