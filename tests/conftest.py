"""Fixtures for every suite.

stack            Kafka and Neo4j, started once per run when the first test asks for them
topic_prefix     a name no other test uses; topics that begin with it are deleted afterwards
world            topics of that name, and what happens to them
settings         environment of commands and consumers that use them
neo4j_driver     a driver to the stack's Neo4j, for the whole run
clean_database   the same driver, with the database emptied first (Community has one database, so tests take turns)
demo_graph       the same, with the graph of a recorded demo in it, to be written to
gate             a server on loopback that plays the gate of `headwater serve`
read_demo        the driver to a database that holds the recorded demo alone, for tests that only read it: they share it
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

from support.examples import MOST_EXAMPLES
from support.graph.emptying import delete_nodes
from support.ordering import FromBothEnds, names_of_changes, rank, remember_changes
from support.played_gate import PlayedGate, playing
from support.run_rules import (  # noqa: F401 - hooks of pytest
    pytest_runtest_logreport,
    pytest_sessionfinish,
    pytest_terminal_summary,
    refuse_rewriting_in_ci,
)
from support.stack import StackUnderTest, running_stack
from support.waiting import factor, patience

if TYPE_CHECKING:
    from neo4j import Driver
    from xdist.remote import Producer

    from support.materializer.worlds import RealWorld


# How long an example takes is the machine's affair: on a busy one, the first took longer than the default deadline.
# The gate tries the same examples each time, so that no change is refused for luck; the nightly run tries new ones.
_LAX = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("gate", _LAX, max_examples=MOST_EXAMPLES, derandomize=True, database=None)
hypothesis.settings.register_profile("nightly", _LAX)
hypothesis.settings.load_profile("gate")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `bin/test --stress`."""
    parser.addoption("--times", type=int, default=1, help="run each test so many times")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat each test where `--times` asks for it."""
    if (times := metafunc.config.getoption("times")) > 1:
        metafunc.fixturenames.append("_time")
        metafunc.parametrize("_time", range(times))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Measure this machine, and look up what changed, once for all processes of the run."""
    factor()
    if config.getoption("numprocesses", None):
        remember_changes()
    refuse_rewriting_in_ci(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FromBothEnds | None:
    """Hand out files from both ends of the order, as `--dist loadfile` asks for."""
    return FromBothEnds(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order what several processes share; scale time limits; give each test's report its node id."""
    if hasattr(config, "workerinput"):
        changed = names_of_changes()
        items.sort(key=lambda item: rank(item.nodeid, changed))
    for item in items:
        marker = item.get_closest_marker("timeout")
        seconds = float(marker.args[0] if marker else config.getini("timeout"))
        item.add_marker(pytest.mark.timeout(patience(seconds)), append=False)
        item.user_properties.append(("nodeid", item.nodeid))


@pytest.fixture
def gate() -> Iterator[PlayedGate]:
    """A gate of its own, which holds what the test names."""
    with playing() as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def _settings_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take the developer's own settings and running stack out of the tests' sight; cache and kind of stack stay."""
    kept = ("HEADWATER_CACHE_DIR", "HEADWATER_TEST_STACK")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("HEADWATER_") and name not in kept]:
            patch.delenv(name)
        patch.setenv("HEADWATER_DATA_DIR", str(tmp_path_factory.mktemp("no-stack")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("no-logins")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A run in the background of a shell ignores SIGINT, and so would every child that a test interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _spark_starts_quickly(request: pytest.FixtureRequest) -> Iterator[None]:
    """For the tests' own session and for every script in a process of its own."""
    cache = getattr(request.config, "cache", None)  # there is none with `-p no:cacheprovider`
    with pytest.MonkeyPatch.context() as patch:
        if cache is not None and any(_starts_spark(item) for item in request.session.items):
            from support.class_data import spark_variables

            for name, value in spark_variables(cache.mkdir("class-data")).items():
                patch.setenv(name, value)
        yield


def _starts_spark(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/spark/") or item.get_closest_marker("spark") is not None


@pytest.fixture(scope="session")
def stack() -> Iterator[StackUnderTest]:
    with running_stack() as running:
        yield running


@pytest.fixture
def topic_prefix(stack: StackUnderTest) -> Iterator[str]:
    from confluent_kafka.admin import AdminClient

    prefix = f"t{uuid.uuid4().hex[:10]}"
    yield prefix
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    if made := [name for name in admin.list_topics(timeout=10).topics if name.startswith(prefix)]:
        for deleted in admin.delete_topics(made, operation_timeout=10).values():
            deleted.result()


@pytest.fixture
def world(stack: StackUnderTest, topic_prefix: str, clean_database: Driver) -> Iterator[RealWorld]:
    from support.materializer.worlds import RealWorld

    world = RealWorld(stack, topic_prefix)
    yield world
    world.close()


@pytest.fixture
def settings(stack: StackUnderTest, topic_prefix: str) -> dict[str, str]:
    from support.materializer.process import environment

    return environment(stack, topic_prefix)


@pytest.fixture(scope="session")
def neo4j_driver(stack: StackUnderTest) -> Iterator[Driver]:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(stack.neo4j_uri, auth=(stack.neo4j_user, stack.neo4j_password)) as driver:
        yield driver


@pytest.fixture
def settings_of_stack(stack: StackUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process ask the stack's Neo4j."""
    monkeypatch.setenv("HEADWATER_NEO4J_URI", stack.neo4j_uri)
    monkeypatch.setenv("HEADWATER_NEO4J_USER", stack.neo4j_user)
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", stack.neo4j_password)


@pytest.fixture
def clean_database(neo4j_driver: Driver) -> Driver:
    """Empty before, not after: what a failed test leaves can be looked at."""
    delete_nodes(neo4j_driver)
    return neo4j_driver


@pytest.fixture
def demo_graph(clean_database: Driver) -> Driver:
    from support.demo_graph import load_demo

    load_demo(clean_database)
    return clean_database


@pytest.fixture
def read_demo(neo4j_driver: Driver) -> Driver:
    from support.demo_graph import demo_events
    from support.graph.writing import hold

    return hold(neo4j_driver, "the demo", demo_events())
