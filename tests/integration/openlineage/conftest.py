"""Topics of a test's own, and the settings of processes that use them."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from support.stack import StackUnderTest
from support.waiting import patience


@pytest.fixture
def topic(stack: StackUnderTest, topic_prefix: str) -> str:
    """Topic of OpenLineage events, with two partitions."""
    name = f"{topic_prefix}.openlineage"
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(patience(30))
    return name
