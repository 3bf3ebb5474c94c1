"""Status of the graph, its consumers and Kafka, also where they are away or nothing was ever written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from support.api import client_of
from support.demo_graph import load_demo
from support.openlineage import FakeSink

if TYPE_CHECKING:
    import httpx
    from neo4j import Driver

pytestmark = pytest.mark.stack

REPORT = """
CREATE (:HwProgress {key: 'lineage.events/' + $partition, topic: 'lineage.events', topic_id: '', partition: $partition,
  next_offset: $next, end_offset: $end, last_record_ms: $last, at: datetime() - duration({seconds: $ago})})
"""


def status(client: httpx.Client) -> dict[str, Any]:
    answer = client.get("/api/v1/status")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    found.pop("graph", None)
    return found


def test_an_empty_graph_and_one_that_consumers_write(clean_database: Driver, client: httpx.Client) -> None:
    found = status(client)
    assert found == {
        "graph_reachable": True,
        "kafka_reachable": True,
        "prepared": False,
        "consumer": "NEVER",
        "events": None,
        "behind": None,
        "last_event": None,
        "datasets": 0,
        "jobs": 0,
    }
    load_demo(clean_database)
    reported: dict[str, Any] = {"next": 40, "end": 50, "last": 1_764_000_000_000, "ago": 1}
    clean_database.execute_query(REPORT, partition=0, **reported)
    clean_database.execute_query(REPORT, partition=1, **{**reported, "last": 1_764_000_001_000})
    found = status(client)
    assert found["datasets"] == len(client.get("/api/v1/assets?limit=1000").json()["items"])
    assert found["jobs"] == len(client.get("/api/v1/jobs?limit=1000").json()["items"])
    assert (found["prepared"], found["consumer"], found["events"], found["behind"]) == (True, "REPORTING", 80, 20)
    assert found["last_event"] == "2025-11-24T16:00:01Z"
    clean_database.execute_query(REPORT, partition=2, **{**reported, "ago": 3_600})
    found = status(client)
    # No broker can be asked.
    assert (found["consumer"], found["events"], found["behind"]) == ("SILENT", 120, None)


def test_while_kafka_is_away(clean_database: Driver, graph: Graph) -> None:
    assert isinstance(graph.sink, FakeSink)
    graph.sink.holding = True
    with client_of(graph) as client:
        assert status(client)["kafka_reachable"] is False


def test_without_intake(clean_database: Driver, graph: Graph) -> None:
    with client_of(replace(graph, serve=ServeSettings(port=0))) as client:
        assert status(client)["kafka_reachable"] is None
