"""Secrets planted in documents, through a real `headwater serve`, Kafka and Neo4j: found in no place at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from headwater_benchmarks.processes import PROGRAM, serving
from support.materializer.process import run_until_caught_up
from support.openlineage import run_event
from support.planted import document, leaks, shapes
from support.running import records_on
from support.waiting import patience

if TYPE_CHECKING:
    from pathlib import Path

    from neo4j import Driver

    from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(1_200)]

BATCH = "/api/v1/lineage/batch"
ASKED = [f"/api/v1/{path}" for path in ("jobs?limit=100", "assets?limit=100", "runs?limit=100", "search?q=password")]
COMMANDS = ["graph dump", "runs list", "dlq list", "search password", "events", "export openlineage"]
PICTURES = [
    f"{command} postgres://db:5432/shop.public.orders --limit 1000 --timeout 300 -f {picture}"
    for command in ("downstream", "impact --type data_incorrect")
    for picture in ("dot", "mermaid")
]


def values(servers: str, topic: str) -> bytes:
    """All keys, values and headers of a topic."""
    found: list[bytes] = []
    for record in records_on(servers, topic):
        found += [record.key() or b"", record.value() or b"", repr(record.headers()).encode()]
    return b"\n".join(found)


def test_documents_with_secrets_leave_none(
    world: RealWorld, settings: dict[str, str], neo4j_driver: Driver, tmp_path: Path
) -> None:
    planted = shapes()
    documents = [document(shape, number, run_event(number)) for number, shape in enumerate(planted)]
    places: dict[str, str | bytes] = {}
    with (
        serving({**settings, "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}) as server,
        httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client,
    ):
        for number in range(0, len(documents), 50):
            answer = client.post(BATCH, json=documents[number : number + 50])
            assert answer.status_code == 201, answer.text
            places[f"answer {number}"] = answer.text
        assert run_until_caught_up(settings)["dead_lettered"] == 0
        for path in ASKED:
            places[path] = client.get(path).text
        places["metrics"] = client.get("/metrics").text
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **settings}
    for command in (*COMMANDS, *PICTURES):
        ran = subprocess.run(
            [sys.executable, *PROGRAM, *command.split()],
            capture_output=True,
            env=environment,
            timeout=patience(300),
            check=False,
        )
        places[command] = ran.stdout + ran.stderr
    nodes = neo4j_driver.execute_query("MATCH (n) RETURN properties(n) AS p").records
    edges = neo4j_driver.execute_query("MATCH ()-[r]->() RETURN properties(r) AS p").records
    places["Neo4j"] = json.dumps([record["p"] for record in (*nodes, *edges)], default=str)
    places["events"] = values(settings["HEADWATER_KAFKA_BOOTSTRAP_SERVERS"], world.topics.events)
    assert len(places["graph dump"]) > len(planted)
    assert len(nodes) > len(planted)
    assert all(places[picture].count(b"\n") > len(planted) for picture in PICTURES)  # type: ignore[arg-type]
    found = leaks(planted, places=places)
    assert not found, "\n".join(found)
    assert world.letters() == []
