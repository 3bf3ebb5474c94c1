"""The fixtures themselves: what other suites stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver


def test_kafka_takes_topics_and_neo4j_begins_empty(
    stack: StackUnderTest, topic_prefix: str, clean_database: Driver
) -> None:
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    for made in admin.create_topics([NewTopic(f"{topic_prefix}.x", num_partitions=3)]).values():
        made.result()
    # The controller has made the topic; the broker that is asked learns of it a moment later.
    eventually(lambda: f"{topic_prefix}.x" in admin.list_topics(timeout=patience(10)).topics, 10)
    assert len(admin.list_topics(timeout=patience(10)).topics[f"{topic_prefix}.x"].partitions) == 3
    records, _, _ = clean_database.execute_query("MATCH (n) RETURN count(n) AS nodes")
    assert records[0]["nodes"] == 0
