"""`headwater export openlineage` of a real topic, and the same graph made of what it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_graph.dump import dump
from headwater_schemas.codec import encode
from support.demo_graph import demo_events
from support.materializer.process import environment, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


def headwater(settings: dict[str, str], *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headwater", *arguments]
    environment_ = {**os.environ, **settings}
    done = subprocess.run(command, env=environment_, capture_output=True, text=True, timeout=patience(120), check=False)
    assert done.returncode == status, done.stderr
    return done


def export(settings: dict[str, str], *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    return headwater(settings, "export", "openlineage", *arguments, status=status)


def documents(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def of_the_demo(settings: dict[str, str], world: RealWorld) -> dict[str, str]:
    """The demo's events are on the topic, and in the graph."""
    world.put_many([encode(event) for event in demo_events()])
    run_until_caught_up(settings)
    return settings


@pytest.mark.nightly
def test_headwater_to_openlineage_to_headwater_is_the_same_dump(
    of_the_demo: dict[str, str], stack: StackUnderTest, topic_prefix: str, tmp_path: Path, neo4j_driver: Driver
) -> None:
    before = list(dump(neo4j_driver, "neo4j"))
    file = tmp_path / "all.jsonl"
    totals = json.loads(export(of_the_demo, "--output", str(file), "--json").stdout)
    assert totals["file"] == str(file)
    assert totals["read"] == totals["exported"] == len(demo_events())
    assert totals["documents"] == len(file.read_text().splitlines()) >= totals["exported"]
    assert export(of_the_demo).stdout == file.read_text()

    other = f"{topic_prefix}.again"
    world = RealWorld(stack, other)
    try:
        elsewhere = environment(stack, other)
        emitted = json.loads(headwater(elsewhere, "emit", "openlineage", str(file), "--json").stdout)
        assert (emitted["read"], emitted["refused"]) == (totals["documents"], 0)
        neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
        assert run_until_caught_up(elsewhere)["dead_lettered"] == 0
    finally:
        world.close()
    assert list(dump(neo4j_driver, "neo4j")) == before


@pytest.mark.nightly
def test_around_a_dataset_and_of_a_span_of_time(of_the_demo: dict[str, str]) -> None:
    everything = documents(export(of_the_demo).stdout)
    around = documents(export(of_the_demo, "daily_report").stdout)
    assert 0 < len(around) < len(everything)
    jobs = {document["job"]["name"] for document in around if "job" in document}
    assert "flights.daily_report" in jobs
    assert "flights.enrich" not in jobs
    assert len(documents(export(of_the_demo, "daily_report", "--depth", "all").stdout)) > len(around)
    times = sorted(document["eventTime"] for document in everything)
    middle = times[len(times) // 2]
    early = documents(export(of_the_demo, "--until", middle).stdout)
    late = documents(export(of_the_demo, "--since", middle).stdout)
    assert (len(early), len(late)) == (sum(each < middle for each in times), sum(each >= middle for each in times))


@pytest.mark.nightly
def test_an_unknown_dataset_and_a_span_that_ends_first(of_the_demo: dict[str, str]) -> None:
    assert "daily_report" in export(of_the_demo, "daily_repor", status=3).stderr
    assert "--until" in export(of_the_demo, "--since", "now", "--until", "1h", status=2).stderr
