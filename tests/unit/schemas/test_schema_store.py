"""The schema store, with a topic that is played from a script. The real one is in tests/integration/publisher."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from headwater_schemas.avro_schema import AvroSchema, current_schema, released_schemas
from headwater_schemas.errors import CredentialsRefusedError, SchemasUnavailableError
from headwater_schemas.schema_store import ASK_AGAIN_SECONDS, SchemaStore


def schema(name: str) -> AvroSchema:
    """A schema of the event record, with a field of this name alone."""
    fields = [{"name": name, "type": "string"}]
    return AvroSchema.published(json.dumps({"type": "record", "name": RECORD, "fields": fields}))


RECORD = "headwater.lineage.LineageEvent"


def test_schemas_with_which_decoding_may_not_end_are_none(subtests: pytest.Subtests) -> None:
    empty = {"type": "record", "name": "E", "fields": []}
    itself = {"type": "record", "name": "I", "fields": [{"name": "i", "type": {"type": "array", "items": "I"}}]}
    for kind in [
        {"type": "array", "items": "null"},
        {"type": "map", "values": "null"},
        {"type": "array", "items": empty},
        {"type": "array", "items": {"type": "record", "name": "O", "fields": [{"name": "e", "type": empty}]}},
        {"type": "array", "items": {"type": "fixed", "name": "F", "size": 0}},
        ["null", {"type": "array", "items": "null"}],
        itself,
        ["null", RECORD],
        "null",
    ]:
        text = json.dumps({"type": "record", "name": RECORD, "fields": [{"name": "x", "type": kind}]})
        with subtests.test(text=text[:80]), pytest.raises(ValueError, match=r"."):
            AvroSchema.published(text)
    deep = '{"type": "array", "items": ' * 5_000 + '"string"' + "}" * 5_000
    with pytest.raises(ValueError, match=r"."):
        AvroSchema.published(f'{{"type": "record", "name": "{RECORD}", "fields": [{{"name": "x", "type": {deep}}}]}}')
    with pytest.raises(ValueError, match="not a schema of the event record"):
        AvroSchema.published('{"type": "record", "name": "Other", "fields": [{"name": "x", "type": "long"}]}')
    fine = [{"name": "x", "type": ["null", {"type": "array", "items": ["null", "string"]}]}]
    assert AvroSchema.published(json.dumps({"type": "record", "name": RECORD, "fields": fine})).version == 0
    for released in released_schemas():
        assert AvroSchema.published(released.text).fingerprint == released.fingerprint


class Message:
    def __init__(self, offset: int, value: bytes | None, error: KafkaError | None = None) -> None:
        self._offset, self._value, self._error = offset, value, error

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes | None:
        return self._value

    def error(self) -> KafkaError | None:
        return self._error


class Topic:
    """Offset to value of one partition, with holes where it was compacted, and what goes wrong."""

    def __init__(self) -> None:
        self.records: dict[int, bytes | None] = {}
        self.end = 0
        self.error: int | None = None
        self.polls_to_nowhere = 0
        self.refreshes = 0
        self.error_cb: Any = None

    def append(self, value: bytes | None) -> None:
        self.records[self.end] = value
        self.end += 1

    def consumer(self, conf: dict[str, Any]) -> Any:
        self.error_cb = conf["error_cb"]
        return Consumer(self)


class Consumer:
    def __init__(self, topic: Topic) -> None:
        self.topic, self.position, self.closed = topic, 0, False

    def list_topics(self, topic: str, timeout: float) -> Any:
        self.topic.refreshes += 1
        if self.topic.error == KafkaError._AUTHENTICATION:
            self.topic.error_cb(KafkaError(KafkaError._AUTHENTICATION))
        if self.topic.error is not None:
            raise KafkaException(KafkaError(self.topic.error))

        return SimpleNamespace(topics={topic: SimpleNamespace(partitions={0: None}, error=None)})

    def get_watermark_offsets(self, where: TopicPartition, timeout: float) -> tuple[int, int]:
        return 0, self.topic.end

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.position = max(0, partitions[0].offset)

    def poll(self, timeout: float) -> Message | None:
        if self.topic.error is not None:
            return None
        if self.topic.polls_to_nowhere > 0:
            self.topic.polls_to_nowhere -= 1
            return None
        left = [offset for offset in self.topic.records if offset >= self.position]
        if not left:
            return Message(self.topic.end, None, KafkaError(KafkaError._PARTITION_EOF))
        self.position = left[0] + 1
        return Message(left[0], self.topic.records[left[0]])

    def close(self) -> None:
        self.closed = True


class Clock:
    def __init__(self) -> None:
        self.now, self.step = 0.0, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def topic() -> Topic:
    return Topic()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(topic: Topic, clock: Clock) -> SchemaStore:
    return SchemaStore(
        {"bootstrap.servers": "broker:9092"}, "lineage.schemas", make_consumer=topic.consumer, clock=clock
    )


def test_a_released_schema_needs_no_topic(store: SchemaStore, topic: Topic) -> None:
    assert store.find(current_schema().fingerprint) is current_schema()
    assert topic.refreshes == 0


def test_a_published_schema_is_found_whatever_lies_around_it(store: SchemaStore, topic: Topic) -> None:
    topic.append(b"no schema at all")
    topic.append(None)
    topic.append(schema("Wanted").text.encode())
    topic.append(b"\xff")
    del topic.records[1]  # compacted away
    topic.end += 3  # and so are the last ones: only the end shows
    found = store.find(schema("Wanted").fingerprint)
    assert found is not None
    assert found.text == schema("Wanted").text


def test_it_is_read_on_from_where_it_ended(store: SchemaStore, topic: Topic) -> None:
    topic.append(schema("First").text.encode())
    assert store.find(schema("First").fingerprint) is not None
    topic.records.clear()
    topic.append(schema("Second").text.encode())
    assert store.find(schema("Second").fingerprint) is not None
    assert topic.refreshes == 2


def test_what_is_not_there_is_not_asked_for_again_at_once(store: SchemaStore, topic: Topic, clock: Clock) -> None:
    absent = schema("Late").fingerprint
    assert store.find(absent) is None
    assert store.find(absent) is None
    assert topic.refreshes == 1
    topic.append(schema("Late").text.encode())
    clock.now += ASK_AGAIN_SECONDS
    assert store.find(absent) is not None


def test_a_topic_that_nobody_made_holds_no_schema(store: SchemaStore, topic: Topic) -> None:
    topic.error = KafkaError.UNKNOWN_TOPIC_OR_PART
    assert store.find(b"12345678") is None


def test_an_unreachable_broker_is_transient_and_not_remembered(store: SchemaStore, topic: Topic, clock: Clock) -> None:
    clock.step = 1.0
    topic.append(schema("Wanted").text.encode())
    topic.error = KafkaError._TRANSPORT
    with pytest.raises(SchemasUnavailableError, match=r"lineage\.schemas at broker:9092"):
        store.find(schema("Wanted").fingerprint)
    topic.error = None
    assert store.find(schema("Wanted").fingerprint) is not None


def test_not_reaching_the_end_in_time_is_transient(store: SchemaStore, topic: Topic, clock: Clock) -> None:
    topic.append(schema("Wanted").text.encode())
    topic.polls_to_nowhere, clock.step = 100, 1.0
    with pytest.raises(SchemasUnavailableError, match="in time"):
        store.find(schema("Wanted").fingerprint)


def test_refused_credentials_are_fatal_and_name_the_setting(store: SchemaStore, topic: Topic) -> None:
    topic.error = KafkaError._AUTHENTICATION
    with pytest.raises(CredentialsRefusedError, match="HEADWATER_KAFKA_SASL_PASSWORD"):
        store.find(b"12345678")


def test_closing_closes_the_consumer(topic: Topic) -> None:
    with SchemaStore({}, "t", make_consumer=topic.consumer) as store:
        store.find(b"12345678")
        consumer = store._consumer
    assert consumer is not None
    assert consumer.closed  # type: ignore[attr-defined]  # the fake's
