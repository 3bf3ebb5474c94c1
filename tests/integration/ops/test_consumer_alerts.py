"""Alerts on `headwater consume`, with the bridge in it: each fires for a real cause, and ends once that is mended."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from headwater import cli
from headwater_benchmarks.processes import ConsumerProcess
from headwater_benchmarks.soak.links import FaultyLink
from headwater_schemas.topics import TopicSpec, ensure_topics
from integration.materializer.test_workers import process_ids
from integration.openlineage.test_bridge import put
from support.materializer import events
from support.materializer.process import consuming
from support.materializer.worlds import RealWorld
from support.openlineage import run_data
from support.prometheus_server import free_port, prometheus
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from support.prometheus_server import PrometheusServer

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(600)]

MATERIALIZER = "headwater-materializer"
LARGEST_RECORD = "max.message.bytes"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def watching(port: int, tmp_path: Path) -> Iterator[PrometheusServer]:
    with prometheus(tmp_path, {MATERIALIZER: [port]}) as server:
        yield server


@contextlib.contextmanager
def consumed(settings: dict[str, str], port: int, *arguments: str) -> Iterator[ConsumerProcess]:
    """A consumer that is ready, with its metrics on the port. It tries again each second, for time is shorter."""
    given = {"HEADWATER_MATERIALIZER_RETRY_MAX_SECONDS": "1", **settings}
    with consuming(given, "--port", str(port), *arguments) as consumer:
        consumer.until(consumer.ready, "readiness", seconds=patience(60))
        yield consumer


def arriving(world: RealWorld) -> Callable[[], None]:
    """Puts some more events on the topic, each time."""
    numbers = itertools.count()
    return lambda: world.put_many(events.good(next(numbers)) for _ in range(5))


@contextlib.contextmanager
def refusing(world: RealWorld, topic: str) -> Iterator[None]:
    """Let a topic take no record during the block, as one whose limit is too small."""
    alter(world, topic, AlterConfigOpType.SET, "1")
    try:
        yield
    finally:
        alter(world, topic, AlterConfigOpType.DELETE, "1")


def alter(world: RealWorld, topic: str, operation: AlterConfigOpType, value: str) -> None:
    entry = ConfigEntry(LARGEST_RECORD, value, incremental_operation=operation)
    admin = AdminClient(world.client)
    for future in admin.incremental_alter_configs(
        [ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])]
    ).values():
        future.result(patience(30))


def members(world: RealWorld, group: str) -> int:
    """Number of members of a group."""
    admin = AdminClient(world.client)
    return len(admin.describe_consumer_groups([group])[group].result(patience(30)).members)


def openlineage_topic(world: RealWorld, prefix: str) -> str:
    name = f"{prefix}.openlineage"
    ensure_topics(world.client, [TopicSpec(name, 1)])
    return name


def test_neo4j_is_away(settings: dict[str, str], world: RealWorld, port: int, watching: PrometheusServer) -> None:
    with FaultyLink(int(settings["HEADWATER_NEO4J_URI"].rpartition(":")[2])) as link:
        through = {**settings, "HEADWATER_NEO4J_URI": f"bolt://127.0.0.1:{link.port}"}
        with consumed(through, port):
            arriving(world)()
            away = watching.watch(
                "HeadwaterEndUnreachable", "HeadwaterNotApplying", "HeadwaterLagGrowing", "HeadwaterGraphLate"
            )
            link.cut()
            assert away.fire(arriving(world))["HeadwaterEndUnreachable"]["end"] == "neo4j"
            link.mend()
            away.clear()


def test_kafka_is_away(
    settings: dict[str, str],
    world: RealWorld,
    stack: StackUnderTest,
    topic_prefix: str,
    port: int,
    watching: PrometheusServer,
) -> None:
    with consumed(settings, port, "--openlineage-topic", openlineage_topic(world, topic_prefix)):
        away = watching.watch("HeadwaterEndUnreachable", "HeadwaterLagUnknown", "HeadwaterBridgeKafkaUnreachable")
        with stack.paused("kafka"):
            assert away.fire(seconds=150)["HeadwaterEndUnreachable"]["end"] == "kafka"
        away.clear()


def test_it_is_down_and_starts_again(
    settings: dict[str, str], world: RealWorld, port: int, watching: PrometheusServer
) -> None:
    with consumed(settings, port) as consumer:
        down = watching.watch("HeadwaterMaterializerDown")
        restarts = watching.watch("HeadwaterMaterializerRestarts")
        consumer.kill()
        down.fire()
    with consumed(settings, port):
        down.clear()
        restarts.fire()
        restarts.clear()


def test_it_loses_its_partitions(
    settings: dict[str, str], world: RealWorld, port: int, watching: PrometheusServer
) -> None:
    with consumed(settings, port, "--workers", "2") as consumer:
        for number in ("0", "1"):
            consumer.until(
                lambda: consumer.metric("partitions_assigned", worker=number) == 1,  # noqa: B023 - within the turn
                "share",
            )
        lost = watching.watch("HeadwaterPartitionsLost")
        workers, group = process_ids(consumer), settings["HEADWATER_MATERIALIZER_GROUP"]
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        eventually(lambda: not members(world, group), 60, expecting="the brokers removed both")
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        lost.fire()
        lost.clear()


def test_the_topic_is_gone(settings: dict[str, str], world: RealWorld, port: int, watching: PrometheusServer) -> None:
    with consumed(settings, port):
        nothing = watching.watch("HeadwaterNothingAssigned")
        world.delete()
        nothing.fire()
        world.create()
        nothing.clear()


def test_dead_letters(
    settings: dict[str, str],
    world: RealWorld,
    topic_prefix: str,
    port: int,
    watching: PrometheusServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic = openlineage_topic(world, topic_prefix)
    with consumed(settings, port, "--openlineage-topic", topic) as consumer:
        waiting = watching.watch("HeadwaterDeadLetters")
        refused = watching.watch("HeadwaterDeadLetterTopicFails", "HeadwaterBridgeStands")
        with refusing(world, world.topics.dead_letters):
            world.put(events.GARBAGE)
            put(settings, topic, b"nonsense")
            put(settings, topic, run_data(1))
            refused.fire()
        refused.clear()
        waiting.fire()
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        assert cli.main(["dlq", "acknowledge", "--yes", "--json"]) == 0
        waiting.clear()
        assert "Raise max.message.bytes" in consumer.stderr


def test_too_many_dead_letters(
    settings: dict[str, str], world: RealWorld, port: int, watching: PrometheusServer
) -> None:
    few = {"HEADWATER_MATERIALIZER_DEAD_LETTER_MIN": "10"}
    with consumed({**settings, **few}, port) as consumer:
        paused = watching.watch("HeadwaterTooManyDeadLetters")
        world.put_many([events.GARBAGE] * 20)
        paused.fire()
        consumer.stop()
    with consumed({**settings, **few, "HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO": "1"}, port):
        paused.clear()


def test_commits_fail(settings: dict[str, str], world: RealWorld, port: int, watching: PrometheusServer) -> None:
    with consumed(settings, port):
        arriving(world)()
        fail = watching.watch("HeadwaterCommitsFail")
        with refusing(world, "__consumer_offsets"):
            fail.fire(arriving(world))
        fail.clear()
