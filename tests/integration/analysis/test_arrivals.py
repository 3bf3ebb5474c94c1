"""Records by the time when they arrived, asked of a real Kafka."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.kafka_arrivals import KafkaArrivals
from headwater_analysis.errors import ArrivalsUnknownError
from headwater_analysis.trace import ArrivedRange
from headwater_schemas.events import DatasetRef
from headwater_schemas.kafka.settings import KafkaSettings

if TYPE_CHECKING:
    from support.stack import StackUnderTest

pytestmark = pytest.mark.stack


def test_all_partitions_at_once(stack: StackUnderTest, topic_prefix: str) -> None:
    topic = f"{topic_prefix}.orders"
    config: dict[str, str | int | float | bool] = {"bootstrap.servers": stack.bootstrap_servers}
    admin = AdminClient(config)
    [made] = admin.create_topics([NewTopic(topic, 3)]).values()
    made.result()
    producer = Producer(config)
    for second in range(10):
        producer.produce(topic, b"x", partition=0, timestamp=1_700_000_000_000 + second * 1000)
    producer.produce(topic, b"x", partition=1, timestamp=1_700_000_009_000)
    assert producer.flush(30) == 0

    find = KafkaArrivals(KafkaSettings(bootstrap_servers=stack.bootstrap_servers), follows_names=False)
    names = [DatasetRef(f"kafka://{stack.bootstrap_servers}", topic)]
    start, end = (datetime.fromtimestamp(1_700_000_000 + second, UTC) for second in (3, 6))
    found = find(names, (), start, end)
    assert found.ranges == (ArrivedRange(0, 0, 3, 6), ArrivedRange(1, 0, 0, 0), ArrivedRange(2, 0, 0, 0))
    assert found.by_broker is False
    assert found.topic_id

    [deleted] = admin.delete_records([TopicPartition(topic, 0, 5)]).values()
    deleted.result()
    assert find(names, (), start, end).ranges[0] == ArrivedRange(0, 5, 5, 6)
    with pytest.raises(ArrivalsUnknownError, match="can't be asked"):
        find([DatasetRef(names[0].namespace, f"{topic}.none")], (), start, end)
