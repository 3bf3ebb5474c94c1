"""The lag goes on rising while nothing is read: asked of real brokers."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from headwater_consumers.kafka.lag import LagWatch
from headwater_consumers.kafka.records import next_offsets
from integration.materializer.test_workers import process_ids
from support.materializer import events
from support.materializer.process import consuming
from support.materializer.worlds import Listener, RealWorld, gather, until

if TYPE_CHECKING:
    from headwater_benchmarks.processes import ConsumerProcess

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

HOUR_MS = 3_600_000


def test_it_rises_while_the_consumer_is_paused_and_tells_since_when_records_wait(world: RealWorld) -> None:
    hour_ago = int(time.time() * 1_000) - HOUR_MS
    for number in range(6):
        world.put(b"%d" % number, timestamp_ms=hour_ago + number * 1_000)
    source, listener, registry = world.source(), Listener(), CollectorRegistry()
    source.subscribe(listener)
    records = gather(source, 6)
    source.commit(next_offsets(records[:2]))
    until(lambda: bool(listener.answers), source)
    source.pause()
    world.put_many([b"while it is paused"] * 4)
    world.put(b"in another partition", partition=1, timestamp_ms=hour_ago + 1_800_000)

    watch = LagWatch.of(world.client, group=world.group, topic=world.topics.events, registry=registry, prefix="x")
    watch.look()

    def shown(name: str, partition: int) -> float:
        value = registry.get_sample_value(f"x_{name}", {"group": world.group, "partition": str(partition)})
        assert value is not None
        return value

    assert [shown("offset_lag", number) for number in (0, 1)] == [8, 1]
    assert watch.behind == 9
    assert 3_590 < shown("lag_seconds", 0) < shown("lag_seconds", 1) + 1_800
    source.commit(next_offsets(records))
    listener.answers.clear()
    until(lambda: bool(listener.answers), source)
    watch.look()
    assert [shown("offset_lag", number) for number in (0, 1)] == [4, 1]
    assert shown("lag_seconds", 0) < 1_800 < shown("lag_seconds", 1) + 10
    watch._times.close()


@pytest.mark.nightly
def test_it_rises_while_neo4j_is_away_and_while_all_workers_hang(world: RealWorld, settings: dict[str, str]) -> None:
    def lag(consumer: ConsumerProcess) -> float:
        return consumer.metric("offset_lag")

    world.put_many(events.good(number) for number in range(6))
    with consuming({**settings, "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:9"}, "--workers", "2") as consumer:
        consumer.until(lambda: lag(consumer) == 6, "the lag")
        workers = process_ids(consumer)
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        try:
            world.put_many((events.good(number) for number in range(6, 10)), partition=1)
            consumer.until(lambda: lag(consumer) == 10, "the lag of all partitions")
            assert consumer.metric("lag_seconds") > 0
        finally:
            for worker in workers:
                os.kill(worker, signal.SIGCONT)
