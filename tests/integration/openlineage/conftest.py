"""Topics of a test's own, and the settings of processes that use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from support.materializer.process import environment
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver


@pytest.fixture
def world(stack: StackUnderTest, topic_prefix: str, clean_database: Driver) -> Iterator[RealWorld]:
    world = RealWorld(stack, topic_prefix)
    yield world
    world.close()


@pytest.fixture
def settings(stack: StackUnderTest, topic_prefix: str) -> dict[str, str]:
    return environment(stack, topic_prefix)


@pytest.fixture
def topic(stack: StackUnderTest, topic_prefix: str) -> str:
    """Topic of OpenLineage events, with two partitions."""
    name = f"{topic_prefix}.openlineage"
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(patience(30))
    return name
