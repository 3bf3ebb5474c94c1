"""`headwater serve` as a process: how it starts, answers and ends."""

from __future__ import annotations

import signal
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from headwater_analysis.impact import default_policy_text
from headwater_benchmarks.processes import serving
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import JobEvent, JobRef
from headwater_schemas.events.build import lineage_event
from support.gate import first_in_gate
from support.serve_process import environment
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

# Nobody listens there: port 9 is `discard`, and privileged.
NOWHERE = "bolt://127.0.0.1:9"


@pytest.mark.parametrize("number", first_in_gate(1, [signal.SIGTERM, signal.SIGINT]))
def test_it_answers_until_it_is_stopped(stack: StackUnderTest, demo_graph: Driver, number: signal.Signals) -> None:
    with serving(environment(stack)) as server:
        with httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client:
            assert client.get("/readyz").status_code == 200
            answer = client.get("/api/v1/assets/flights.departed/downstream?depth=all")
            assert answer.status_code == 200
            assert answer.json()["total"] > 0
        assert server.stop(number) == 0
        assert server.document == {"stopped": True, "url": str(client.base_url)}
        assert "Traceback" not in server.stderr


@pytest.mark.nightly
def test_a_port_that_is_taken_ends_it_with_the_settings_name(stack: StackUnderTest) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with serving(environment(stack, serve__port=port)) as server:
            assert server.wait() == 2
            assert "HEADWATER_SERVE_PORT" in server.stderr
            assert server.document["error"]["kind"] == "bad_input"


def test_wrong_credentials_end_it_at_once(stack: StackUnderTest) -> None:
    with serving(environment(stack, neo4j__password="not-the-password")) as server:
        assert server.wait() == 6
        assert "HEADWATER_NEO4J_PASSWORD" in server.stderr
        assert "not-the-password" not in server.stderr
        assert "Lineage on" not in server.stderr


@pytest.mark.nightly
def test_impacts_are_judged_by_the_policy_it_was_given(
    stack: StackUnderTest, demo_graph: Driver, tmp_path: Path
) -> None:
    policy, reason = tmp_path / "house.toml", "without this input its value can't be computed"
    policy.write_text(default_policy_text().replace(reason, "so says the house"))
    change = {"dataset": "flights.departed", "column": "value.dep_delay", "schema": "REMOVED"}
    reasons = []
    for options in ([], ["--policy", str(policy)]):
        with (
            serving(environment(stack), *options) as server,
            httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client,
        ):
            answer = client.post("/api/v1/impact/analyze", json=change)
            assert answer.status_code == 200, answer.text
            reasons.append(" ".join(item["reason"] for item in answer.json()["items"]))
    assert reason in reasons[0]
    assert "so says the house" not in reasons[0]
    assert reasons[0].replace(reason, "so says the house") == reasons[1]


@pytest.mark.nightly
def test_a_policy_that_makes_no_sense_ends_it_with_its_name(stack: StackUnderTest, tmp_path: Path) -> None:
    policy = tmp_path / "house.toml"
    policy.write_text('[[rule]]\nseverity = "DREADFUL"\n')
    with serving(environment(stack), "--policy", str(policy)) as server:
        assert server.wait() == 2
        assert "house.toml" in server.stderr
        assert "Lineage on" not in server.stderr


@pytest.mark.nightly
def test_it_serves_while_neo4j_is_away(stack: StackUnderTest) -> None:
    with serving(environment(stack, neo4j__uri=NOWHERE)) as server:
        with httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client:
            assert client.get("/livez").status_code == 200
            assert client.get("/readyz").status_code == 503
            answer = client.get("/api/v1/graph?asset=orders")
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:graph-unreachable")
            assert "retry-after" in answer.headers
            assert "127.0.0.1:9" not in answer.text
        assert "Neo4j doesn't answer" in server.stderr
        assert server.stop() == 0


@pytest.mark.nightly
def test_gauges_and_exemptions_of_the_rules(stack: StackUnderTest, clean_database: Driver, tmp_path: Path) -> None:
    events = [
        lineage_event(JobEvent(), job=JobRef("f", name), producer="p", event_time=datetime(2026, 1, 1, tzinfo=UTC))
        for name in ("one", "two", "three")
    ]
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(events))
    exempt = tmp_path / "exempt.yaml"
    exempt.write_text(
        "exemptions:\n- {rule: orphan-jobs, subject: f/one, reason: a, owner: b, until: 2999-01-01}\n", encoding="utf-8"
    )
    settings = environment(stack, serve__exemptions=str(exempt), serve__check_every_seconds="1")
    with (
        serving(settings) as server,
        httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client,
    ):
        (rule,) = client.get("/api/v1/checks?rule=orphan-jobs").json()["rules"]
        assert (rule["total"], rule["exempted"]) == (2, 1)

        def gauges_after_a_check() -> dict[str, str]:
            lines = client.get("/metrics").text.splitlines()
            gauges = dict(line.rsplit(" ", 1) for line in lines if line.startswith("headwater_check_"))
            return gauges if float(gauges["headwater_check_last_success_timestamp_seconds"]) else {}

        gauges = eventually(gauges_after_a_check, 60, every=0.1, expecting="the rules were checked")
        assert float(gauges['headwater_check_findings{rule="orphan-jobs"}']) == 2
        assert float(gauges['headwater_check_exempted{rule="orphan-jobs"}']) == 1
        assert float(gauges['headwater_check_findings{rule="orphan-datasets"}']) == 0
        assert float(gauges["headwater_check_interval_seconds"]) == 1
    exempt.write_text("exemptions:\n- {rule: orphan-job, subject: f/one}\n", encoding="utf-8")
    with serving(settings) as server:
        assert server.wait() == 2
        assert "exempt.yaml" in server.stderr
