"""Answers from a graph whose consumer has stopped, on a real Kafka and Neo4j."""

from __future__ import annotations

import json

import pytest

from headwater import cli
from support.materializer import events
from support.materializer.process import run_until_caught_up
from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.fixture
def stopped(world: RealWorld, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph with everything that was on the topic, and a consumer that has been silent for too long."""
    world.put_many([events.good(number) for number in range(20)])
    run_until_caught_up(settings)
    # A thousandth of a second is over by the time that anybody asks.
    for name, value in {**settings, "HEADWATER_ANALYSIS_STALE_SECONDS": "0.001"}.items():
        monkeypatch.setenv(name, value)


def test_what_waits_on_the_topic_is_counted(
    stopped: None, world: RealWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["search", "job", "--json"]) == 0
    up_to_date = json.loads(capsys.readouterr().out)["graph"]
    assert (up_to_date["behind"], up_to_date["stale"]) == (0, None)
    assert up_to_date["last_event"] is not None

    world.put_many([events.good(number) for number in range(20, 46)])
    assert cli.main(["search", "job", "--json"]) == 0
    behind = json.loads(capsys.readouterr().out)["graph"]
    assert behind["behind"] == 26
    assert behind["stale"].startswith("26 events wait on the topic, and no consumer has reported since")
    assert cli.main(["search", "job"]) == 0
    assert "the graph is stale: 26 events wait" in " ".join(capsys.readouterr().err.split())


def test_without_a_way_to_kafka_nothing_is_sure(
    stopped: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS")
    assert cli.main(["search", "job", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)["graph"]
    assert state["behind"] is None
    assert state["stale"].endswith("events may be missing")
