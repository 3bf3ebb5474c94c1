"""Fixtures: the demo's events on a topic, a consumer that follows it, and the commands of this process on both.

The `conftest.py` of a folder imports those that its tests use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater_schemas.codec import encode
from support.demo_graph import demo_events
from support.materializer.process import consuming, environment, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

Command = Callable[..., Any]


@pytest.fixture
def settings(
    stack: StackUnderTest, topic_prefix: str, monkeypatch: pytest.MonkeyPatch, clean_database: Driver
) -> dict[str, str]:
    """Settings of commands and consumers; the graph is empty."""
    found = environment(stack, topic_prefix)
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    return found


@pytest.fixture
def followed(stack: StackUnderTest, topic_prefix: str, settings: dict[str, str]) -> Iterator[dict[str, str]]:
    """A consumer runs."""
    world = RealWorld(stack, topic_prefix)
    world.close()
    with consuming(settings):
        yield settings


@pytest.fixture
def followed_demo(stack: StackUnderTest, topic_prefix: str, settings: dict[str, str]) -> Iterator[dict[str, str]]:
    """The demo is in the graph, and a consumer runs."""
    world = RealWorld(stack, topic_prefix)
    world.put_many([encode(event) for event in demo_events()])
    world.close()
    run_until_caught_up(settings)
    with consuming(settings):
        yield settings


@pytest.fixture
def headwater(settings: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Command:
    """A command's document."""

    def run(*arguments: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert cli.main([*arguments, "--json"]) == status, capsys.readouterr()
        return json.loads(capsys.readouterr().out or "null")

    return run
