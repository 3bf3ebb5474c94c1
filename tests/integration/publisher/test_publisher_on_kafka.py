"""The publisher, the topics and the schema store on a real broker."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import partial

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from prometheus_client import CollectorRegistry

from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_producers.spark.events.plans import fitted
from headwater_schemas.avro_schema import AvroSchema, current_schema
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import BrokerUnavailableError, TopicsUnusableError
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    Expression,
    JobRef,
    LineageEvent,
    TransformationKind,
    build,
)
from headwater_schemas.schema_store import SchemaStore
from headwater_schemas.topics import TopicNames, TopicSpec, ensure_topics, topic_specs
from support.events import FULL_EVENTS, PRODUCER, TIME
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = pytest.mark.stack
Make = Callable[..., Publisher]


@pytest.fixture
def names(topic_prefix: str) -> TopicNames:
    return TopicNames(topic_prefix)


@pytest.fixture
def make(stack: StackUnderTest, names: TopicNames) -> Make:
    def one(**settings: object) -> Publisher:
        configured = PublisherSettings(bootstrap_servers=stack.bootstrap_servers, **settings)
        return Publisher(configured, names, metrics=PublisherMetrics(CollectorRegistry()))

    return one


def event(name: str, description: str = "") -> LineageEvent:
    body = DatasetEvent(dataset=DatasetRef("n", name), description=description)
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def records(stack: StackUnderTest, topic: str) -> list[Message]:
    """Everything that is on a topic now, partition by partition."""
    consumer = Consumer(
        {"bootstrap.servers": stack.bootstrap_servers, "log_level": 2, "group.id": "test", "enable.auto.commit": False}
    )
    try:
        found: list[Message] = []
        for partition in consumer.list_topics(topic, timeout=patience(10)).topics[topic].partitions:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=patience(10))
            consumer.assign([TopicPartition(topic, partition, low)])
            for _ in range(high - low):
                message = consumer.poll(patience(20))
                assert message is not None
                assert message.error() is None
                found.append(message)
        return found
    finally:
        consumer.close()


def test_every_kind_arrives_with_key_headers_and_time_of_publishing(
    make: Make, stack: StackUnderTest, names: TopicNames
) -> None:
    events = [full() for full in FULL_EVENTS.values()]
    before = time.time()
    with make() as publisher:
        for one in events:
            publisher.publish(one)
        publisher.flush(patience(30)).require_delivered()
    arrived = records(stack, names.events)
    decoder = Decoder()
    assert {decoder.decode(message.value()).event_id for message in arrived} == {one.event_id for one in events}
    of_job = [message for message in arrived if message.key() == b'["default","flights","enrich"]']
    assert len(of_job) == 5
    assert len({message.partition() for message in of_job}) == 1, "a job's events keep their order"
    assert [decoder.decode(message.value()).kind for message in of_job] == [
        "RUN",
        "INTERVAL",
        "PLAN",
        "JOB",
        "RETENTION",
    ]
    for message in arrived:
        headers = dict(message.headers() or [])
        decoded = decoder.decode(message.value())
        assert headers["headwater.event.id"] == decoded.event_id.encode()
        assert headers["headwater.kind"] == decoded.kind.encode()
        assert before - 1 <= message.timestamp()[1] / 1000 <= time.time() + 1


def test_it_makes_the_topics_as_they_should_be(make: Make, stack: StackUnderTest, names: TopicNames) -> None:
    with make() as publisher:
        publisher.publish(event("a"))
        publisher.flush(patience(30)).require_delivered()
    conf = {"bootstrap.servers": stack.bootstrap_servers}
    report = ensure_topics(conf, topic_specs(names))
    assert (report.created, report.differences) == ((), ())
    assert set(report.existing) == {names.events, names.dead_letters, names.schemas}
    (schema,) = records(stack, names.schemas)
    assert schema.key() == current_schema().hex.encode()
    assert schema.value() == current_schema().text.encode()


@pytest.mark.nightly
def test_a_message_that_the_topic_does_not_take_fails_and_the_others_go(
    make: Make, stack: StackUnderTest, names: TopicNames
) -> None:
    # The topic takes less than the publisher thinks, so that it is the broker who refuses, whole batches at a time.
    ensure_topics({"bootstrap.servers": stack.bootstrap_servers}, topic_specs(names, max_message_bytes=20_000))
    noise = "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(20_000))  # little to compress
    large = event("large", noise)
    with make(linger_milliseconds=200) as publisher:
        for one in [*(event(str(number)) for number in range(20)), large, *(event(f"b{n}") for n in range(20))]:
            publisher.publish(one)
        report = publisher.flush(patience(30))
    assert [failed.event_id for failed in report.failed] == [large.event_id]
    assert report.failed[0].reason.startswith("MSG_SIZE_TOO_LARGE")
    assert (report.acknowledged, report.outstanding) == (40, 0)
    assert len(records(stack, names.events)) == 40


def test_a_plan_that_was_made_to_fit_is_taken(make: Make, stack: StackUnderTest, names: TopicNames) -> None:
    """Whatever Kafka adds to an event: of lengths up to the limit and beyond, none is refused."""
    limit = 100_000
    ensure_topics({"bootstrap.servers": stack.bootstrap_servers}, topic_specs(names, max_message_bytes=limit))
    reported = []
    for length in range(limit - 1_000, limit + 100, 20):
        lineage = ColumnLineage(
            datasets=(DatasetRef("n", "out"),),
            edges=(ColumnEdge(output=0, output_field="a", kind=TransformationKind.CONSTANT, expression="e"),),
            expressions=(Expression("e", random.Random(length).randbytes(length // 2).hex()),),
        )
        event_of = partial(build.lineage_event, job=JobRef("n", f"j{length}"), producer=PRODUCER, event_time=TIME)
        if (event_ := fitted(lineage, event_of, limit).event) is not None:
            reported.append(event_)
    with make(max_message_bytes=limit) as publisher:
        for each in reported:
            publisher.publish(each)
        report = publisher.flush(patience(30))
    assert (report.acknowledged, report.failed) == (len(reported), ())
    assert {len(each.plan_event.lineage.expressions) for each in reported if each.plan_event} == {0, 1}


def test_a_plan_is_made_to_fit_a_topic_that_takes_less_than_the_settings_have(
    make: Make, stack: StackUnderTest, names: TopicNames
) -> None:
    ensure_topics({"bootstrap.servers": stack.bootstrap_servers}, topic_specs(names, max_message_bytes=20_000))
    edges = tuple(
        ColumnEdge(
            output=0, output_field=f"c{number}", input=1, input_field="a", kind=TransformationKind.COPY, expression=text
        )
        for number in range(400)
        for text in [random.Random(number).randbytes(40).hex()]
    )
    lineage = ColumnLineage(datasets=(DatasetRef("n", "out"), DatasetRef("n", "in")), edges=edges)
    event_of = partial(build.lineage_event, job=JobRef("n", "j"), producer=PRODUCER, event_time=TIME)
    assert len(encode(event_of(lineage))) > 20_000
    with make() as publisher:
        limit = publisher.max_event_bytes(patience(30))
        assert limit == 20_000
        made = fitted(lineage, event_of, limit)
        assert made.event is not None
        publisher.publish(made.event)
        publisher.flush(patience(30)).require_delivered()


def test_events_published_before_the_broker_was_there_arrive(stack: StackUnderTest, names: TopicNames) -> None:
    settings = PublisherSettings(bootstrap_servers=f"127.0.0.1:1,{stack.bootstrap_servers}")
    with Publisher(settings, names, metrics=PublisherMetrics(CollectorRegistry())) as publisher:
        publisher.publish(event("a"))
        assert publisher.flush(patience(30)).acknowledged == 1


def test_an_existing_topic_is_left_as_it_is_and_its_differences_are_reported(
    stack: StackUnderTest, names: TopicNames
) -> None:
    conf = {"bootstrap.servers": stack.bootstrap_servers}
    admin = AdminClient(dict(conf))
    theirs = NewTopic(names.events, num_partitions=2, config={"retention.ms": "60000", "max.message.bytes": "9000000"})
    admin.create_topics([theirs])[names.events].result(patience(20))
    report = ensure_topics(conf, topic_specs(names))
    assert [(found.setting, found.actual, found.wanted) for found in report.differences] == [
        ("retention.ms", "60000", "-1"),  # a larger max.message.bytes is as good
        ("message.timestamp.type", "CreateTime", "LogAppendTime"),
    ]
    resource = ConfigResource(ResourceType.TOPIC, names.events)
    assert admin.describe_configs([resource])[resource].result(patience(20))["retention.ms"].value == "60000"


@pytest.mark.parametrize(
    ("suffix", "partitions", "config", "replication", "setting"),
    [
        (" a", 1, {}, -1, "HEADWATER_TOPIC_PREFIX"),
        ("", 1, {}, 7, "HEADWATER_TOPIC_REPLICATION_FACTOR"),
        ("", 0, {}, 1, "HEADWATER_TOPIC_PARTITIONS"),
        ("", 1, {"max.message.bytes": "-4"}, -1, "HEADWATER_TOPIC_MAX_MESSAGE_BYTES"),
    ],
)
def test_a_topic_that_can_not_be_made_names_the_setting(
    stack: StackUnderTest,
    topic_prefix: str,
    suffix: str,
    partitions: int,
    config: dict[str, str],
    replication: int,
    setting: str,
) -> None:
    spec = TopicSpec(topic_prefix + suffix, partitions, config, replication)
    with pytest.raises(TopicsUnusableError) as caught:
        ensure_topics({"bootstrap.servers": stack.bootstrap_servers}, [spec])
    assert caught.value.setting == setting


def test_a_schema_published_later_is_found_on_the_topic(make: Make, stack: StackUnderTest, names: TopicNames) -> None:
    newer = json.loads(current_schema().text)
    newer["fields"].append({"name": "later", "type": ["null", "string"], "default": None})
    schema = AvroSchema.from_json(json.dumps(newer))
    conf = {"bootstrap.servers": stack.bootstrap_servers}
    with SchemaStore(conf, names.schemas) as store:
        assert store.find(b"12345678") is None, "there is no topic yet"
        ensure_topics(conf, topic_specs(names))
        producer = Producer(dict(conf))
        producer.produce(names.schemas, key=b"x", value=b"garbage")
        producer.produce(names.schemas, key=schema.hex, value=schema.text)
        assert producer.flush(patience(20)) == 0
        found = store.find(schema.fingerprint)
        assert found is not None
        assert found.text == schema.text
        assert store.find(b"23456789") is None


def test_an_unreachable_broker_is_reported(names: TopicNames) -> None:
    with pytest.raises(BrokerUnavailableError):
        ensure_topics({"bootstrap.servers": "127.0.0.1:1"}, topic_specs(names), timeout_seconds=1)
