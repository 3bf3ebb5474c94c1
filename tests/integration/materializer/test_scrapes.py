"""Scrapes of a real consumer and a real producer by Prometheus: lint-free, complete from the start, from 0."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from support.declared_metrics import STARTS_AT_1, declared
from support.materializer import events
from support.materializer.process import consuming
from support.materializer.worlds import RealWorld
from support.promtool import accept_scrape
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Values by name and labels, Headwater's own."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("headwater_") and not sample.name.endswith("_created")
    }


def not_0(text: str) -> set[str]:
    return {name for (name, _), value in samples(text).items() if value != 0} - STARTS_AT_1


def test_a_consumers_scrape_is_clean_before_and_after_events(world: RealWorld, settings: dict[str, str]) -> None:
    # Nobody listens there: it can't have done anything yet.
    with consuming({**settings, "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:9"}) as consumer:
        text = consumer.get("/metrics")[1]
    # `up` of Kafka and the retries tell of trouble at once, as they should.
    trouble = ("headwater_materializer_up", "headwater_materializer_retries", "headwater_materializer_neo4j_retries")
    # And the brokers answer how far the group is.
    answers = ("headwater_materializer_lag_timestamp_seconds", "headwater_dead_letters_lag_timestamp_seconds")
    assert {
        name for name in not_0(text) if not name.startswith((*trouble, *answers, "headwater_materializer_paused"))
    } == set()
    accept_scrape(text)

    world.put_many((events.good(number) for number in range(50)), partition=0)
    world.put(events.GARBAGE, partition=1)
    with consuming(settings) as consumer:
        consumer.until(lambda: consumer.metric("events_applied_total") == 50, "progress")
        consumer.until(lambda: 'reason="NOT_AN_EVENT"} 1.0' in consumer.get("/metrics")[1], "the dead letter")
        # The brokers are asked every few seconds.
        consumer.until(lambda: "headwater_materializer_offset_lag{" in consumer.get("/metrics")[1], "the lag")
        text = consumer.get("/metrics")[1]
    found = {name for name, _ in samples(text)}
    assert {name for name in declared() if name.startswith("headwater_materializer_")} - found == set()
    accept_scrape(text)


@contextlib.contextmanager
def producer(stack: StackUnderTest, prefix: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-m", "support.scraped_producer", stack.bootstrap_servers, prefix, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_producers_scrape_is_clean_before_and_after_events(
    stack: StackUnderTest, topic_prefix: str, tmp_path: Path
) -> None:
    with producer(stack, topic_prefix, tmp_path / "outbox") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline())

        def scrape() -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=patience(10)) as answer:
                return str(answer.read().decode())

        before = scrape()
        process.stdin.write("20\n")
        process.stdin.flush()
        assert process.stdout.readline() == "relayed\n"
        after = scrape()
    ours = ("headwater_publisher_", "headwater_outbox_", "headwater_capture_")
    expected = {name for name in declared() if name.startswith(ours)}
    for text in (before, after):
        assert expected - {name for name, _ in samples(text)} == set()
        accept_scrape(text)
    assert not_0(before) == set()
    counted = samples(after)
    assert counted["headwater_outbox_taken_total", ()] == 20
    assert counted["headwater_outbox_relayed_total", ()] == 20
    assert counted["headwater_publisher_acknowledged_total", ()] == 20
    assert counted["headwater_outbox_bytes", ()] == 0
