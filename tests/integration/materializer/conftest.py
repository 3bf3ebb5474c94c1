"""A world of topics of its own for each test, and the settings of consumers in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from support.materializer.process import environment
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest

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
