"""Declarations sent to a real `headwater serve`, on a real Kafka and Neo4j."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from headwater_benchmarks.processes import serving
from headwater_server.identity import Scope
from support.api_tokens import TOKEN, tokens_file
from support.materializer.process import run_until_caught_up
from support.materializer.worlds import RealWorld
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from neo4j import Driver

    from support.stack import StackUnderTest

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

PATH = "/api/v1/declarations"
SET: dict[str, Any] = {
    "set": "s",
    "namespace": "n",
    "datasets": [{"name": "d", "owners": ["x"], "columns": {"c": {"sensitivity": "PII"}}}],
    "consumers": [{"name": "board", "reads": ["d"]}],
}
SERVE = {"HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_DECLARE": "true"}


def test_what_is_sent_is_in_the_graph_as_if_the_command_had_declared_it(
    followed: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    tokens = tokens_file(tmp_path / "tokens.json", Scope.DECLARE)
    with (
        serving({**followed, **SERVE, "HEADWATER_SERVE_TOKENS_FILE": tokens}) as server,
        httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client,
    ):
        assert client.post(PATH, json=SET).status_code == 401
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        answer = client.post(PATH, json=SET, params={"mode": "diff"})
        assert (answer.status_code, answer.json()["revision"], len(answer.json()["changes"])) == (200, 1, 2)
        answer = client.post(PATH, json=SET, params={"wait": "60"})
        assert (answer.status_code, answer.json()["published"], answer.json()["in_graph"]) == (201, 3, True)
        # The graph has it: neither the server nor the command publishes anything again.
        again = client.post(PATH, json=SET)
        assert (again.status_code, again.json()["published"], again.json()["in_graph"]) == (200, 0, True)
        file = tmp_path / "s.json"
        file.write_text(json.dumps(SET))
        assert headwater("declare", str(file))["sets"] == [again.json()]
        changed = {**SET, "datasets": [{"name": "d", "owners": ["y"]}]}
        answer = client.post(PATH, json=changed, params={"wait": "60"})
        assert [each["values"][0]["property"] for each in answer.json()["changes"]] == ["owners"]
        other = {"set": "t", "namespace": "n", "datasets": [{"name": "d", "owners": ["z"]}]}
        (found,) = client.post(PATH, json=other).json()["contradictions"]
        assert found["values"] == {"s": ["y"], "t": ["z"]}
        withdrawn = client.post(PATH, json={"set": "s"}, params={"wait": "60"}).json()
        assert ([each["change"] for each in withdrawn["changes"]], withdrawn["in_graph"]) == (["withdrawn"] * 2, True)
        assert client.post(PATH, json={**SET, "revision": 1}).status_code == 409
    current = "MATCH (x:HwDeclaration {current: true}) WHERE x.set = 's' RETURN count(x) AS n"
    assert neo4j_driver.execute_query(current).records[0]["n"] == 0


@pytest.mark.nightly
def test_while_kafka_hangs_it_is_503_and_sent_again_it_is_there_once(
    settings: dict[str, str], topic_prefix: str, stack: StackUnderTest, neo4j_driver: Driver, headwater: Command
) -> None:
    RealWorld(stack, topic_prefix).close()
    run_until_caught_up(settings)  # makes the graph
    limits = {"HEADWATER_SERVE_INTAKE_TIMEOUT_SECONDS": "1"}
    with (
        serving({**settings, **SERVE, **limits}) as server,
        httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client,
    ):
        with stack.paused("kafka"):
            answer = client.post(PATH, json=SET)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:kafka-unavailable")
            assert answer.headers["retry-after"]

        def status() -> int:
            status = client.post(PATH, json=SET).status_code
            return 0 if status == 503 else status

        assert eventually(status, 60, expecting="Kafka takes it again") == 201
    run_until_caught_up(settings)
    assert headwater("graph", "verify")["holds"]
    assert neo4j_driver.execute_query("MATCH (x:HwDeclaration) RETURN count(x) AS n").records[0]["n"] == 2


@pytest.mark.nightly
def test_it_opens_to_nobody_without_a_way_to_log_in(settings: dict[str, str]) -> None:
    host = {"HEADWATER_SERVE_HOST": "0.0.0.0", "HEADWATER_SERVE_ALLOWED_HOSTS": "lineage.example"}
    for more in ({}, {"HEADWATER_SERVE_ALLOW_ANONYMOUS_READS": "true"}):
        with serving({**settings, **SERVE, **host, **more}) as server:
            assert server.wait(patience(60)) == 6
            assert "HEADWATER_SERVE_TOKENS_FILE" in server.document["error"]["fix"]
