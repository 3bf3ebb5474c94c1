"""Tools on the demo's graph: the official client gets what the API answers, over HTTP and from a process."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.stdio import StdioServerParameters

from headwater_benchmarks.processes import serving
from headwater_server.access import configured_authentication
from headwater_server.app import create_app
from headwater_server.authorization import Authorization
from headwater_server.identity import Scope
from headwater_server.identity.tokens import create_token
from headwater_server.mcp.tools import TOOLS
from headwater_server.settings import ServeSettings
from support.api import client_of
from support.gate import first_in_gate
from support.mcp_client import MODES, call, talk
from support.serve_process import environment
from support.waiting import patience

if TYPE_CHECKING:
    import httpx
    from mcp.client.client import Client
    from neo4j import Driver

    from headwater_server.asking import Graph
    from support.stack import StackUnderTest

pytestmark = pytest.mark.stack

TOPIC = "kafka://embedded/flights.departed"
RUN = "ad9034e8-07a1-4fb1-9983-3216e9ebe03c"
CHANGE = {"dataset": TOPIC, "column": "value.dep_delay", "schema": "REMOVED"}
RECORD = {"topic": "flights.departed", "partition": 0, "offset": 12}
CALLS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    # tool, arguments, path of the API, parameters of the API
    (
        "search",
        {"q": "fli dep", "kind": ["DATASET", "COLUMN"]},
        "/search",
        {"q": "fli dep", "kind": ["DATASET", "COLUMN"]},
    ),
    ("show", {"name": TOPIC}, "/assets/kafka%3A%2F%2Fembedded%2Fflights.departed", {}),
    ("show", {"name": "daily_report#mean_delay", "kind": "COLUMN"}, "/columns/daily_report%23mean_delay", {}),
    ("show", {"name": "flights.enrich", "kind": "JOB"}, "/jobs/flights.enrich", {}),
    ("show", {"name": RUN, "kind": "run"}, f"/runs/{RUN}", {}),
    ("upstream", {"dataset": "daily_report", "depth": "all"}, "/assets/daily_report/upstream", {"depth": "all"}),
    (
        "upstream",
        {"dataset": "daily_report", "column": "mean_delay", "depth": 2, "influence": "DIRECT"},
        "/columns/daily_report/mean_delay/upstream",
        {"depth": 2, "influence": "DIRECT"},
    ),
    ("downstream", {"dataset": TOPIC, "quality": True}, "/assets/flights.departed/downstream", {"quality": "true"}),
    (
        "downstream",
        {"dataset": TOPIC, "column": "value.tailnum"},
        "/columns/flights.departed/value.tailnum/downstream",
        {},
    ),
    ("impact", {**CHANGE, "limit": 1}, "/impact", {**CHANGE, "limit": 1}),
    ("trace", {**RECORD, "depth": 2}, "/traces", {**RECORD, "depth": 2}),
    ("blast", {"run": RUN, "depth": 1}, "/blast", {"run": RUN, "depth": 1}),
    ("incidents", {"all": True, "limit": 5}, "/incidents", {"all": "true", "limit": 5}),
    ("gate", {"dataset": TOPIC, "max_severity": "SEV2"}, "/gate", {"dataset": TOPIC, "max_severity": "SEV2"}),
    ("runs", {"limit": 3}, "/runs", {"limit": 3}),
    ("runs", {"job": "flights.enrich", "state": ["FAIL"]}, "/jobs/flights.enrich/runs", {"state": "FAIL"}),
    ("runs", {"dataset": TOPIC, "role": "READ"}, "/assets/flights.departed/runs", {"role": "READ"}),
    ("diff", {"before": "2026-11-26T11:12:00Z"}, "/diff", {"before": "2026-11-26T11:12:00Z"}),
    ("check", {"rule": ["orphan-jobs", "broken-chains"]}, "/checks", {"rule": ["orphan-jobs", "broken-chains"]}),
    (
        "privacy",
        {"dataset": f"{TOPIC}#value.tailnum", "as": "PII"},
        "/privacy",
        {"dataset": f"{TOPIC}#value.tailnum", "as": "PII"},
    ),
]
WITHOUT_LIMIT = {"show", "gate"}


def of_the_api(client: httpx.Client) -> list[Any]:
    """Answers of the API, the items limited as tools limit them."""
    found = []
    for tool, _, path, params in CALLS:
        limited = params if tool in WITHOUT_LIMIT else {"limit": 20, **params}
        answer = client.get(f"/api/v1{path}", params=limited)
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
    return found


async def of_the_tools(client: Client) -> list[Any]:
    found = []
    for tool, arguments, _, _ in CALLS:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        (content,) = result.content
        assert content.type == "text"
        assert json.loads(content.text) == result.structured_content
        found.append(result.structured_content)
    return found


def command(stack: StackUnderTest, **settings: str) -> StdioServerParameters:
    variables = {**os.environ, **environment(stack, **settings)}
    return StdioServerParameters(command=sys.executable, args=["-m", "headwater", "mcp"], env=variables)


def test_every_tool_is_tried() -> None:
    assert {tool for tool, *_ in CALLS} == {tool.name for tool in TOOLS}
    assert {tool.name for tool in TOOLS if "limit" not in tool.parameters} == WITHOUT_LIMIT


@pytest.mark.parametrize("mode", first_in_gate(1, MODES))
def test_tools_over_http_answer_as_the_api(demo: httpx.Client, mode: str) -> None:
    answers = talk(f"{demo.base_url}/mcp", of_the_tools, mode=mode)
    assert answers == of_the_api(demo)


def test_tools_of_a_process_answer_as_the_api(demo: httpx.Client, stack: StackUnderTest, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"

    async def about(client: Client) -> list[Any]:
        refused = await client.call_tool("show", {"name": "flights.departet"})
        assert refused.structured_content is not None
        assert "flights.departed" in str(refused.structured_content["nearest"])
        return await of_the_tools(client)

    assert talk(command(stack, audit__file=str(audit)), about) == of_the_api(demo)
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    tools = [each.get("tool") for each in records if each["kind"] == "OUTCOME"]
    assert tools == ["show", *(tool for tool, *_ in CALLS)]
    assert records[-1]["kind"] == "CLOSED"


@pytest.mark.nightly
def test_tools_of_a_process_ask_a_server_elsewhere(
    read_demo: Driver, demo: httpx.Client, stack: StackUnderTest, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.json"
    secret = create_token(tokens, "analyst", [Scope.READ, Scope.EXPRESSIONS], now=datetime.now(UTC), expires=None)[1]
    with serving(environment(stack, serve__tokens_file=str(tokens))) as server:
        variables = {**os.environ, "HEADWATER_URL": server.url(), "HEADWATER_TOKEN": secret}
        asking = StdioServerParameters(command=sys.executable, args=["-m", "headwater", "mcp"], env=variables)

        async def about(client: Client) -> list[Any]:
            answers = await of_the_tools(client)
            assert server.stop() == 0
            away = await client.call_tool("show", {"name": "flights.departed"})
            assert away.is_error
            assert away.structured_content is not None
            assert away.structured_content["type"] == "urn:headwater:server-unreachable"
            assert secret not in str(away)
            return answers

        assert talk(asking, about) == of_the_api(demo)


@pytest.mark.parametrize("number", first_in_gate(1, [signal.SIGTERM, signal.SIGINT, None]))
def test_a_process_ends_with_its_client(stack: StackUnderTest, number: signal.Signals | None) -> None:
    started = command(stack)
    with subprocess.Popen(
        [started.command, *started.args],
        env=started.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        if number is None:
            process.stdin.close()
        else:
            process.send_signal(number)
        assert process.wait(patience(30)) == 0
        assert process.stdout.read() == b""


def test_an_answer_that_is_too_large_says_how_to_ask_for_less(demo_graph: Driver, graph: Graph) -> None:
    small = dataclasses.replace(graph, serve=ServeSettings(port=0, mcp_answer_max_bytes=10_000))
    with client_of(small) as client:
        result = call(client, "impact", CHANGE)
        assert result["isError"]
        found = result["structuredContent"]
        assert found["type"] == "urn:headwater:answer-too-large"
        assert "10,000" in found["detail"]
        assert "Lower `limit`" in found["detail"]
        page = call(client, "impact", {**CHANGE, "limit": 1})
        assert not page["isError"]
        cursor = page["structuredContent"]["next_cursor"]
        after = call(client, "impact", {**CHANGE, "limit": 1, "cursor": cursor})
        assert after["structuredContent"]["items"] != page["structuredContent"]["items"]


def test_a_team_sees_its_own(demo_graph: Driver, graph: Graph, tmp_path: Path) -> None:
    policies, tokens = tmp_path / "access.cedar", tmp_path / "tokens.json"
    policies.write_text(
        'permit(principal, action == Action::"read", resource) when { resource.name like "flights.*" };'
    )
    read = [Scope.READ]
    secret = create_token(tokens, "team", read, now=datetime.now(UTC), expires=None, groups=["team"])[1]
    serve = ServeSettings(port=0, tokens_file=str(tokens))
    served = dataclasses.replace(graph, serve=serve, authorization=Authorization(policies, refresh_seconds=10))
    headers = {"Authorization": f"Bearer {secret}"}
    with client_of(served, create_app(served, configured_authentication(serve))) as client:
        hidden, absent = (call(client, "show", {"name": name}, **headers) for name in ("daily_report", "daily_repork"))
        assert hidden["isError"]
        assert json.dumps(hidden).replace("daily_report", "daily_repork") == json.dumps(absent)
        shown = call(client, "downstream", {"dataset": "flights.departed", "depth": "all"}, **headers)
        assert shown["structuredContent"]["filtered"]
        refused = call(client, "check", {}, **headers)
        assert refused["structuredContent"]["type"] == "urn:headwater:not-filtered"
