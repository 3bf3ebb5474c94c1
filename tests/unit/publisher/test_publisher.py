"""The publisher against a producer that plays failures: an event ends acknowledged, failed or outstanding, always."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import pytest
from confluent_kafka import KafkaError, KafkaException
from prometheus_client import CollectorRegistry

from headwater_producers.publisher import (
    BufferFullError,
    DeliveryError,
    FailedEvent,
    FlushReport,
    Publisher,
    PublisherClosedError,
    PublisherSettings,
    sender,
)
from headwater_producers.publisher.metrics import FailureKind, PublisherMetrics
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import CredentialsRefusedError, EncodeError
from headwater_schemas.events import DatasetEvent, DatasetRef, LineageEvent, build
from headwater_schemas.record import record_of
from support.events import PRODUCER, TIME
from support.fake_producer import FakeCluster
from support.waiting import eventually, patience, stays

EVENTS, SCHEMAS = "lineage.events", "lineage.schemas"
BROKER = "localhost:9092"
SETTINGS = PublisherSettings(bootstrap_servers=BROKER, create_topics=False)
Make = Callable[..., Publisher]


def event(name: str, description: str = "") -> LineageEvent:
    body = DatasetEvent(dataset=DatasetRef("n", name), description=description)
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def make(cluster: FakeCluster, registry: CollectorRegistry) -> Iterator[Make]:
    made: list[Publisher] = []
    metrics = PublisherMetrics(registry)

    def one(settings: PublisherSettings = SETTINGS, **arguments: Any) -> Publisher:
        publisher = Publisher(settings, metrics=metrics, make_producer=cluster.producer, **arguments)
        made.append(publisher)
        return publisher

    yield one
    for publisher in made:
        publisher.close(0)


def names(cluster: FakeCluster) -> set[str]:
    decoder = Decoder()
    decoded = [decoder.decode(value).dataset_event for value in cluster.delivered.get(EVENTS, [])]
    return {found.dataset.name for found in decoded if found is not None}


def test_each_outcome_is_in_exactly_one_report(make: Make, cluster: FakeCluster) -> None:
    publisher = make()
    for number in range(5):
        publisher.publish(event(str(number)))
    assert publisher.flush(patience(10)) == FlushReport(acknowledged=5, failed=(), outstanding=0)
    assert publisher.flush(0) == FlushReport(acknowledged=0, failed=(), outstanding=0)
    assert names(cluster) == set("01234")
    assert dict(cluster.headers[0]) == {
        "headwater.event.id": event("0").event_id.encode(),
        "headwater.kind": b"DATASET",
        "content-type": b"application/vnd.headwater.lineage-event+avro",
    }


def test_the_schema_is_acknowledged_before_the_first_event_goes_out(make: Make, cluster: FakeCluster) -> None:
    order: list[str] = []
    refusals = [KafkaError(KafkaError.NOT_ENOUGH_REPLICAS)]

    def answer(topic: str, _values: list[bytes]) -> KafkaError | None:
        order.append(topic)
        return refusals.pop() if refusals else None

    cluster.answer = answer
    publisher = make()
    publisher.publish(event("a"))
    assert publisher.flush(patience(10)).acknowledged == 1
    assert order == [SCHEMAS, SCHEMAS, EVENTS]
    assert cluster.delivered[SCHEMAS] == [current_schema().text.encode()]


def test_each_event_is_settled_by_its_own_call(make: Make, cluster: FakeCluster) -> None:
    settled: dict[str, FailedEvent | None] = {}
    cluster.answer = lambda topic, values: (
        KafkaError(KafkaError.MSG_SIZE_TOO_LARGE) if topic == EVENTS and b"large" in b"".join(values) else None
    )
    cluster.holding = True
    publisher = make()
    for name in ("a", "large", "b"):
        publisher.publish(event(name), partial(settled.__setitem__, name))
    assert settled == {}
    cluster.holding = False
    eventually(lambda: len(settled) == 3)
    assert (settled["a"], settled["b"]) == (None, None)
    failure = settled["large"]
    assert failure is not None
    assert (failure.kind, failure.event_id) == (FailureKind.TOO_LARGE, event("large").event_id)
    assert publisher.flush(patience(10)).acknowledged == 2


def test_an_unreachable_broker_is_waited_for(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    publisher = make()
    publisher.publish(event("a"))
    cluster.producers[0].errors.append(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    eventually(lambda: publisher.flush(0).problem is not None)
    report = publisher.flush(0.05)
    assert (report.acknowledged, report.failed, report.outstanding) == (0, (), 1)
    assert "localhost:9092" in (report.problem or "")
    with pytest.raises(DeliveryError, match="1 events are still on their way"):
        report.require_delivered()
    cluster.holding = False
    assert publisher.flush(patience(10)) == FlushReport(acknowledged=1, failed=(), outstanding=0)


def test_topics_that_nobody_may_write_to_are_a_problem_and_no_traceback(
    make: Make, cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    refused = KafkaError(KafkaError._UNKNOWN_TOPIC)
    asked = threading.Event()

    def reject(_topic: str, _value: bytes) -> BaseException:
        asked.set()
        return KafkaException(refused)

    cluster.reject = reject
    publisher = make()
    assert asked.wait(patience(10))
    eventually(lambda: publisher.problem is not None)
    assert publisher.problem == f"Kafka at localhost:9092: {refused.str()}"
    assert caplog.records == []


def test_what_goes_wrong_again_and_again_has_one_traceback(
    make: Make, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sender, "_RETRY_SECONDS", 0.001)
    times: list[str] = []

    def reject(topic: str, _value: bytes) -> BaseException | None:
        times.append(topic)
        return LookupError("nobody foresaw this") if len(times) < 5 else None

    cluster.reject = reject
    make()
    eventually(lambda: len(times) >= 5)
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_it_complains_once_a_minute_and_says_when_that_is_over(
    make: Make, cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    cluster.holding = True
    publisher = make(clock=lambda: now[0])
    publisher.publish(event("a"))

    def complaints_are(expected: int) -> bool:
        return sum("events are buffered" in record.message for record in caplog.records) == expected

    with caplog.at_level(logging.INFO):
        for second, expected in [(9.0, 0), (11.0, 1), (70.0, 1), (72.0, 2)]:
            now[0] = second
            cluster.producers[0].errors.append(KafkaError(KafkaError._TRANSPORT))
            eventually(lambda: not cluster.producers[0].errors)
            eventually(partial(complaints_are, expected))
            stays(partial(complaints_are, expected), 0.05, expecting=f"{expected} complaints at {second} s")
        cluster.holding = False
        over = "Kafka at localhost:9092 acknowledges lineage events again, after 72 s"
        eventually(lambda: over in [record.message for record in caplog.records])


def test_a_failed_event_is_reported_with_its_reason_and_the_others_go(make: Make, cluster: FakeCluster) -> None:
    too_large = KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
    cluster.reject = lambda topic, value: too_large if topic == EVENTS and len(value) > 2_000 else None
    publisher = make()
    large = event("large", "x" * 5_000)
    for one in (event("a"), large, event("b")):
        publisher.publish(one)
    report = publisher.flush(patience(10))
    assert (report.acknowledged, report.outstanding) == (2, 0)
    assert [failed.event_id for failed in report.failed] == [large.event_id]
    assert "MSG_SIZE_TOO_LARGE" in report.failed[0].reason
    assert "xxx" not in report.failed[0].reason
    described = f"the DATASET event of dataset large, of {len(encode(large))} bytes"
    assert described in report.failed[0].reason
    assert "topic_max_message_bytes" in report.failed[0].reason
    with pytest.raises(DeliveryError, match=large.event_id):
        report.require_delivered()


def test_a_refusal_that_a_clock_may_cause_names_clocks_and_settings_of_timestamps(
    make: Make, cluster: FakeCluster, subtests: pytest.Subtests
) -> None:
    for code, hinted in [
        (KafkaError.INVALID_RECORD, True),
        (KafkaError.INVALID_TIMESTAMP, True),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, False),
    ]:
        with subtests.test(code=code):

            def answer(topic: str, _values: list[bytes], code: int = code) -> KafkaError | None:
                return KafkaError(code) if topic == EVENTS else None

            cluster.answer = answer
            publisher = make()
            publisher.publish(event("a"))
            [failed] = publisher.flush(patience(10)).failed
            assert failed.reason.startswith(f"{KafkaError(code).name()}: ")
            assert ("clock" in failed.reason) == hinted
            assert ("message.timestamp.after.max.ms" in failed.reason) == hinted


def test_of_a_batch_that_is_too_large_only_those_at_fault_fail(make: Make, cluster: FakeCluster) -> None:
    def answer(topic: str, values: list[bytes]) -> KafkaError | None:
        large = topic == EVENTS and sum(map(len, values)) > 2_000
        return KafkaError(KafkaError.MSG_SIZE_TOO_LARGE) if large else None

    cluster.answer = answer
    cluster.holding = True
    publisher = make()
    large = event("large", "x" * 5_000)
    for one in [*(event(str(number), "x" * 300) for number in range(8)), large]:
        publisher.publish(one)
    cluster.holding = False
    report = publisher.flush(patience(10))
    assert (report.acknowledged, report.outstanding) == (8, 0)
    assert [failed.event_id for failed in report.failed] == [large.event_id]
    assert names(cluster) == set("01234567")


@pytest.mark.parametrize("code", [KafkaError._FATAL, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER])
def test_after_a_fatal_error_a_new_producer_sends_what_the_old_one_had_not(
    make: Make, cluster: FakeCluster, registry: CollectorRegistry, code: int
) -> None:
    def answer(topic: str, _values: list[bytes]) -> KafkaError | None:
        return KafkaError(code) if topic == EVENTS and len(cluster.producers) == 1 else None

    cluster.answer = answer
    publisher = make()
    for number in range(4):
        publisher.publish(event(str(number)))
    assert publisher.flush(patience(10)) == FlushReport(acknowledged=4, failed=(), outstanding=0)
    assert len(cluster.producers) == 2
    assert names(cluster) == set("0123")
    assert cluster.delivered[SCHEMAS] == [current_schema().text.encode()] * 2
    assert registry.get_sample_value("headwater_publisher_producer_rebuilt_total") == 1


def test_librdkafkas_own_queue_being_full_loses_nothing(make: Make, cluster: FakeCluster) -> None:
    full = [BufferError("queue full")] * 3
    cluster.reject = lambda topic, _value: full.pop() if topic == EVENTS and full else None
    publisher = make()
    for number in range(6):
        publisher.publish(event(str(number)))
    assert publisher.flush(patience(10)).acknowledged == 6
    assert names(cluster) == set("012345")


def test_a_full_buffer_refuses_at_once_and_takes_again_later(
    make: Make, cluster: FakeCluster, registry: CollectorRegistry
) -> None:
    cluster.holding = True
    publisher = make(PublisherSettings(bootstrap_servers=BROKER, create_topics=False, max_buffered_events=2))
    publisher.publish(event("a"))
    publisher.publish(event("b"))
    with pytest.raises(BufferFullError, match="max_buffered_events=2"):
        publisher.publish(event("c"))
    cluster.holding = False
    assert publisher.flush(patience(10)).acknowledged == 2
    publisher.publish(event("c"))
    assert publisher.flush(patience(10)).acknowledged == 1
    assert registry.get_sample_value("headwater_publisher_refused_total") == 1


def test_events_that_belong_together_are_taken_all_or_none(
    make: Make, cluster: FakeCluster, registry: CollectorRegistry
) -> None:
    cluster.holding = True
    publisher = make(PublisherSettings(bootstrap_servers=BROKER, create_topics=False, max_buffered_events=4))
    settled: list[FailedEvent | None] = []
    publisher.publish_records([record_of(event(name)) for name in "abc"], settled.append)
    with pytest.raises(BufferFullError, match="no room for 2 more: 3 events"):
        publisher.publish_records([record_of(event(name)) for name in "de"])
    cluster.holding = False
    assert publisher.flush(patience(10)).acknowledged == 3
    assert settled == [None, None, None]
    publisher.publish_records([record_of(event(name)) for name in "defghi"])  # more than fit, but alone
    assert publisher.flush(patience(10)).acknowledged == 6
    assert names(cluster) == set("abcdefghi")
    assert registry.get_sample_value("headwater_publisher_outstanding") == 0
    assert registry.get_sample_value("headwater_publisher_acknowledged_total") == 9
    assert registry.get_sample_value("headwater_publisher_delivery_seconds_count") == 9


def test_the_buffers_bytes_are_bounded_too_but_one_event_always_fits(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    publisher = make(PublisherSettings(bootstrap_servers=BROKER, create_topics=False, max_buffered_bytes=1_000))
    publisher.publish(event("large", "x" * 3_000))
    with pytest.raises(BufferFullError, match="max_buffered_bytes=1000"):
        publisher.publish(event("b"))


def test_refused_credentials_end_the_wait_and_name_the_setting(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    publisher = make()
    publisher.publish(event("a"))
    cluster.producers[0].errors.extend(
        [KafkaError(KafkaError._AUTHENTICATION), KafkaError(KafkaError._ALL_BROKERS_DOWN)]
    )
    # An hour, which this test hasn't: only the refusal can end the wait.
    with pytest.raises(CredentialsRefusedError, match="HEADWATER_KAFKA_SASL_PASSWORD"):
        publisher.flush(3_600)
    cluster.holding = False  # the password was changed on the broker's side
    eventually(lambda: not publisher._ledger.outstanding())
    assert publisher.flush(0).acknowledged == 1


def test_a_broken_event_is_refused_and_not_counted(make: Make) -> None:
    publisher = make()
    with pytest.raises(EncodeError, match="tenant"):
        publisher.publish(msgspec.structs.replace(event("a"), tenant=""))
    assert publisher.flush(0) == FlushReport(acknowledged=0, failed=(), outstanding=0)


def test_closing_flushes_ends_the_thread_and_refuses_what_comes_after(make: Make, cluster: FakeCluster) -> None:
    with make() as publisher:
        publisher.publish(event("a"))
    assert names(cluster) == {"a"}
    assert not publisher._sender._thread.is_alive()
    with pytest.raises(PublisherClosedError):
        publisher.publish(event("b"))
    assert publisher.close().delivered


def test_closing_says_what_did_not_go(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    publisher = make()
    publisher.publish(event("a"))
    assert publisher.close(0.05).outstanding == 1


def test_metrics_are_there_from_the_start_and_add_up(
    make: Make, cluster: FakeCluster, registry: CollectorRegistry
) -> None:
    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"headwater_publisher_{name}", labels)

    for kind in FailureKind:
        assert value("failed_total", reason=kind.value) == 0
    assert value("accepted_total") == value("acknowledged_total") == value("outstanding") == 0
    cluster.reject = lambda topic, value: (
        KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)) if b"secret" in value else None
    )
    publisher = make()
    publisher.publish(event("a"))
    publisher.publish(event("secret"))
    report = publisher.flush(patience(10))
    assert len(report.failed) == 1
    assert value("accepted_total") == 2
    assert value("acknowledged_total") == value("delivery_seconds_count") == 1
    assert value("failed_total", reason="not_authorized") == 1
    assert value("outstanding") == 0
    assert value("value_bytes_total") == len(encode(event("a"))) + len(encode(event("secret")))


def test_many_threads_publish_and_nothing_is_lost(make: Make, cluster: FakeCluster) -> None:
    publisher = make()

    def publish(thread: int) -> None:
        for number in range(200):
            publisher.publish(event(f"{thread}-{number}"))

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert publisher.flush(patience(20)).acknowledged == 800
    assert len(names(cluster)) == 800
