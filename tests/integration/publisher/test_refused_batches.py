"""A batch that a broker refuses in passing is on the topic in the end, whatever is sent after it."""

from __future__ import annotations

import pytest

from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered, one_by_one
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs
from support.refusing_relay import RefusingRelay
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = pytest.mark.stack


def test_what_is_acknowledged_is_on_the_topic_where_the_first_batch_is_refused(
    stack: StackUnderTest, topic_prefix: str
) -> None:
    client = quiet({"bootstrap.servers": stack.bootstrap_servers})
    names = TopicNames(topic_prefix)
    topic = names.dead_letters
    ensure_topics(client, topic_specs(names))
    settled: list[Undelivered | None] = []
    with RefusingRelay(int(stack.bootstrap_servers.rpartition(":")[2])) as relay:
        config = one_by_one(
            {**client, "bootstrap.servers": relay.address}, client_id="test", delivery_seconds=patience(20)
        )
        producer = AcknowledgedProducer(config)
        producer.probe(patience(20))
        producer.deliver(
            [ProducerRecord(topic, None, b"%d" % number) for number in range(5)],
            lambda _, failure: settled.append(failure),
            delivery_seconds=patience(20),
        )
    assert settled == [None] * 5
    assert [record.value for record in records_to_end(client, topic)] == [b"%d" % number for number in range(5)]
    assert relay.batches == 6
