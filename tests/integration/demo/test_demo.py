"""The whole way on one day of flights; in the nightly run with the consumer killed in the middle of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from headwater.demo.summary import favourites
from headwater.stack import StackInfo, find_running_stack
from support import flights
from support.demo_process import DemoUnderTest, run
from support.waiting import patience

FLIGHTS_OF_1_JANUARY = 842


def row_counts(info: StackInfo) -> dict[str, int]:
    """Number of rows that each of the queries worth pasting returns."""
    with GraphDatabase.driver(info.neo4j_uri, auth=(info.neo4j_user, info.neo4j_password)) as driver:
        return {query.title: len(driver.execute_query(query.text).records) for query in favourites()}


def empty(info: StackInfo) -> None:
    with GraphDatabase.driver(info.neo4j_uri, auth=(info.neo4j_user, info.neo4j_password)) as driver:
        driver.execute_query("MATCH (node) DETACH DELETE node")
        assert driver.execute_query("MATCH (node) RETURN count(node) AS left").records[0]["left"] == 0


@pytest.mark.stack
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_the_pipeline_and_its_graph(tmp_path: Path, demos: list[DemoUnderTest], killed: bool) -> None:
    # The default folder of macOS has a space in it.
    data = tmp_path / "Application Support"
    demo = DemoUnderTest.start(data, "--days", "1", "--keep", "--json")
    demos.append(demo)

    if killed:
        # In the middle: some micro-batches are behind, most are to come, and the consumer is at work.
        demo.until(lambda: demo.committed("enrich") >= 3, "three micro-batches of enrich", seconds=400)
        consumer = demo.child("headwater", "consume")
        assert consumer is not None
        consumer.kill()

    output, errors = demo.process.communicate(timeout=patience(600))
    assert demo.process.returncode == 0, f"{output}\n{errors}"
    assert (data / "demo" / "logs" / "consumer-1.log").is_file() == killed, "the consumer was not started again"
    document = json.loads(output)
    check_document(document)

    # The stack's consumers are one group: what the demo's has read and dead-lettered, the next one leaves alone.
    again = json.loads(run(data, ["consume", "--until-caught-up", "--port", "0", "--json"]))
    assert (again["consumed"], again["dead_lettered"]) == (0, 0)

    # --keep: the stack is up, and every command finds it.
    status = json.loads(run(data, ["status", "--json"]))
    assert status["healthy"] == {"kafka": True, "neo4j": True}
    info = find_running_stack(data / "demo")
    assert info is not None
    assert all(row_counts(info).values()), row_counts(info)

    check_data(data / "demo" / "flights", info)

    disturbed = run(data, ["graph", "dump"])
    lines = [json.loads(line) for line in disturbed.splitlines()]
    batches = sum(line.get("labels") == ["Interval"] for line in lines)
    assert batches == sum(chain["count"] for chain in document["intervals"].values())
    assert sum(line.get("type") == "NEXT" for line in lines) == batches - 3
    if killed:
        compare_with_undisturbed(data, info, disturbed)

    run(data, ["down"])
    assert find_running_stack(data / "demo") is None


def compare_with_undisturbed(data: Path, info: StackInfo, disturbed: str) -> None:
    """The topic, consumed again without a disturbance, makes the same graph."""
    empty(info)
    replay = json.loads(run(data, ["consume", "--until-caught-up", "--group", "replay", "--port", "0", "--json"]))
    assert replay["dead_lettered"] == 3
    undisturbed = run(data, ["graph", "dump"])
    assert undisturbed.splitlines() == disturbed.splitlines()


def check_data(home: Path, info: StackInfo) -> None:
    expected = flights.flights(days=1)
    assert len(expected) == FLIGHTS_OF_1_JANUARY
    flights.check_departed(info.bootstrap_servers, expected)
    flights.check_enriched(info.bootstrap_servers, expected)
    flights.check_routes(home, expected)
    flights.check_report(home, flights.check_delays(home, expected))


def check_document(document: dict[str, Any]) -> None:
    events = document["events"]
    assert events["dead_lettered"] == 3
    assert events["acknowledged"] == events["applied"] + 3
    assert set(document["intervals"]) == {"enrich", "delays", "routes"}
    for chain in document["intervals"].values():
        assert chain["count"] >= 5
        assert (chain["gaps"], chain["overlaps"]) == (0, 0)
    nodes, relationships = document["nodes"], document["relationships"]
    assert nodes["Segment"] == sum(-(-chain["count"] // 512) for chain in document["intervals"].values())
    assert nodes["Query"] == 3
    assert relationships.get("NEXT", 0) == nodes["Segment"] - 3
    assert relationships["FEEDS"] >= 5
    assert set(document) == {"events", "nodes", "relationships", "intervals", "seconds"}
    assert document["seconds"]["total"] >= document["seconds"]["pipeline"] > 0
