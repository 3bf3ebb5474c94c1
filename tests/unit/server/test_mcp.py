"""`/mcp` over a made-up graph: who may call a tool, what is recorded of it, and what becomes of problems."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_audit.audit import Audit
from headwater_audit.writer import AuditWriter
from headwater_server.identity import Scope
from headwater_server.identity.tokens import create_token
from headwater_server.mcp.http import METADATA_PATH
from headwater_server.mcp.protocol import INSTRUCTIONS
from headwater_server.mcp.tools import TOOLS
from support.api import FakeGraph, client_of, fake_graph, metrics_with
from support.audit import START, Breakable
from support.mcp_client import MODES, call, post, talk

if TYPE_CHECKING:
    import httpx
    from mcp.client.client import Client

OIDC: dict[str, Any] = {"oidc_issuer": "https://login.example.org/realms/main", "oidc_audience": "urn:headwater"}


@pytest.fixture
def memory() -> Breakable:
    return Breakable()


@contextlib.contextmanager
def audited(memory: Breakable, **serve: Any) -> Iterator[httpx.Client]:
    writer = AuditWriter(memory, timeout_seconds=60)
    graph = fake_graph(raises=serve.pop("raises", None), **serve)
    try:
        with client_of(dataclasses.replace(graph, audit=Audit(writer, required=True))) as client:
            yield client
    finally:
        writer.close()


def token(file: Path, name: str, *scopes: Scope) -> dict[str, str]:
    secret = create_token(file, name, list(scopes), now=START, expires=None)[1]
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client(mode: str) -> None:
    async def about(client: Client) -> None:
        assert client.instructions == INSTRUCTIONS
        listed = (await client.list_tools()).tools
        assert len(listed) == len(TOOLS)
        assert len("".join(each.model_dump_json(exclude_none=True) for each in listed)) < 30_000
        for each in listed:
            assert each.annotations is not None
            assert each.annotations.read_only_hint
            assert each.annotations.idempotent_hint
        found = await client.call_tool("upstream", {"dataset": "orders"})
        assert found.is_error
        assert found.structured_content == {
            "type": "urn:headwater:not-found",
            "title": "Not in the graph",
            "status": 404,
            "detail": "no dataset is called that",
            "nearest": ["orders.eu"],
        }
        with pytest.raises(MCPError, match=r"no tool upstrm. The nearest one is upstream\."):
            await client.call_tool("upstrm", {"dataset": "orders"})

    with client_of(fake_graph(raises=NotFoundError("no dataset is called that", nearest=["orders.eu"]))) as server:
        talk(f"{server.base_url}/mcp", about, mode=mode)


def test_what_is_wrong_is_a_result_of_its_own() -> None:
    with client_of(
        fake_graph(raises=AmbiguousError("two are called that", candidates=["a/orders", "b/orders"]))
    ) as client:
        several = call(client, "upstream", {"dataset": "orders"})
        assert several["isError"]
        assert several["structuredContent"]["candidates"] == ["a/orders", "b/orders"]
        refused = call(client, "upstream", {"dataset": "orders", "depth": 0, "limit": "many"})["structuredContent"]
        assert refused["type"] == "urn:headwater:parameters"
        assert {each["field"] for each in refused["errors"]} == {"depth", "limit"}
        wrong = call(client, "upstream", {"dataset": "orders", "dept": 1})["structuredContent"]
        assert (wrong["type"], wrong["errors"][0]["field"]) == ("urn:headwater:parameters", "dept")
        assert post(client, "tools/call", name="x\u202e" * 10_000, arguments={}).json()["error"]["code"] == -32602
        assert post(client, "tools/call", name="search", arguments=[1]).json()["error"]["code"] == -32602
        assert post(client, "resources/list").json()["error"]["code"] == -32601


def test_the_text_shows_what_can_not_be_seen() -> None:
    hidden = "\U000e0041\u202e"
    with client_of(fake_graph(raises=NotFoundError("no such", nearest=[f"orders{hidden}"]))) as client:
        result = call(client, "show", {"name": "orders"})
    assert result["structuredContent"]["nearest"] == [f"orders{hidden}"]
    (content,) = result["content"]
    assert r"orders\udb40\udc41\u202e" in content["text"]


def test_only_who_is_known_lists_tools(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    reader, operator = token(file, "r", Scope.READ), token(file, "o", Scope.OPERATE)
    with client_of(fake_graph(raises=NotFoundError("no"), tokens_file=str(file))) as client:
        refused = post(client, "tools/list")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Bearer realm="headwater"', "no provider to log in at"
        assert client.get(METADATA_PATH).status_code == 401, "nothing is there"
        for headers in (reader, operator):
            assert len(post(client, "tools/list", headers).json()["result"]["tools"]) == len(TOOLS)
        assert call(client, "runs", {}, **reader)["structuredContent"]["status"] == 404
        denied = call(client, "runs", {}, **operator)
        assert denied["isError"]
        assert denied["structuredContent"]["type"] == "urn:headwater:forbidden"
        assert "`read`" in denied["structuredContent"]["detail"]


def test_a_client_learns_where_to_log_in() -> None:
    with client_of(fake_graph(**OIDC)) as client:
        refused = post(client, "initialize")
        assert refused.status_code == 401
        url = f"{client.base_url}{METADATA_PATH}/mcp"
        assert refused.headers["www-authenticate"] == f'Bearer realm="headwater", resource_metadata="{url}"'
        for path in (url, METADATA_PATH):
            found = client.get(path)
            assert found.status_code == 200
            assert found.json() == {
                "resource": f"{client.base_url}/mcp",
                "resource_name": "Headwater",
                "authorization_servers": [OIDC["oidc_issuer"]],
                "scopes_supported": ["openid"],
                "bearer_methods_supported": ["header"],
            }
        assert client.get("/api/v1/me").headers["www-authenticate"] == 'Bearer realm="headwater"'
        elsewhere = client.get(METADATA_PATH, headers={"Host": "evil.example"})
        assert elsewhere.status_code == 421


def test_the_public_url_is_the_resource() -> None:
    public: dict[str, Any] = {
        "public_url": "https://lineage.example.org/",
        "allowed_hosts": "*",
        "oidc_login_scopes": "openid groups",
    }
    with client_of(fake_graph(**OIDC, **public)) as client:
        found = client.get(METADATA_PATH).json()
        assert found["resource"] == "https://lineage.example.org/mcp"
        assert found["scopes_supported"] == ["openid", "groups"]
        header = post(client, "ping", {"Host": 'x"y'}).headers["www-authenticate"]
        assert f'resource_metadata="https://lineage.example.org{METADATA_PATH}/mcp"' in header
    with client_of(fake_graph(**OIDC, allowed_hosts="*")) as client:
        assert post(client, "ping", {"Host": 'x"y'}).headers["www-authenticate"] == 'Bearer realm="headwater"'


def test_requests_of_other_sites_and_large_ones_are_refused() -> None:
    with client_of(fake_graph(body_max_bytes=2_000)) as client:
        for headers, status in (
            ({"Origin": "https://evil.example"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Host": "evil.example"}, 421),
            ({"Content-Type": "text/plain"}, 400),
            ({"Accept": "text/html"}, 406),
        ):
            assert post(client, "tools/list", headers).status_code == status, headers
        assert post(client, "tools/list", {"Origin": str(client.base_url)}).status_code == 200
        assert post(client, "tools/call", name="search", arguments={"q": "x" * 2_000}).status_code == 413
        assert client.get("/mcp").status_code == 405
        assert client.delete("/mcp").status_code == 405
        notified = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        accepted = {"Accept": "application/json, text/event-stream"}
        assert client.post("/mcp", json=notified, headers=accepted).status_code == 202
        answer = post(client, "tools/list", {"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; frame")


def test_a_call_is_recorded_once_with_its_tool(memory: Breakable) -> None:
    name = "kafka://b:9092/ord\u202eers/../%2F?#{id}"
    with audited(memory, raises=NotFoundError("no")) as client:
        post(
            client, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "", "version": ""}
        )
        post(client, "tools/list")
        answered = post(client, "tools/call", name="downstream", arguments={"dataset": name, "depth": 2})
        client.get("/api/v1/jobs/j", headers={"headwater.tool": "forged", "X-Headwater-Tool": "forged"})
        call(client, "show", {"name": "a", "kind": "JOB"}, **{"Headwater-Tool": "forged"})
    keys = ("operation", "tool", "status", "method", "address")
    assert [tuple(each.get(key) for key in keys) for each in memory.records()] == [
        ("asset_downstream", "downstream", 404, "GET", "127.0.0.1"),
        ("job", None, 404, "GET", "127.0.0.1"),
        ("job", "show", 404, "GET", "127.0.0.1"),
    ]
    assert memory.records()[0]["request"] == answered.headers["x-request-id"]
    assert memory.records()[0]["filters"] == {"id": [name], "depth": ["2"], "limit": ["20"]}


def test_a_call_that_asks_nothing_is_recorded_as_such(memory: Breakable, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    operator = token(file, "o", Scope.OPERATE)
    with audited(memory, tokens_file=str(file), body_max_bytes=2_000) as client:
        post(client, "tools/list")
        post(client, "tools/call", operator, name="drop\u202etable", arguments={})
        call(client, "runs", {"password": "hunter2"}, **operator)
        call(client, "runs", {}, **operator)
        post(client, "tools/call", operator, name="runs", arguments={"job": "x" * 2_000})
        client.get("/mcp", headers=operator)
    keys = ("kind", "operation", "tool", "status", "subject")
    found = [(*(each.get(key) for key in keys), each.get("filters", {}).get("tool")) for each in memory.records()]
    assert found == [
        ("OUTCOME", "mcp", None, 401, "", None),
        ("OUTCOME", "mcp", None, 200, "o", [r"drop\u202etable"]),
        ("OUTCOME", "mcp", None, 200, "o", ["runs"]),
        ("OUTCOME", "runs", "runs", 403, "o", None),
        ("OUTCOME", "mcp", None, 413, "o", None),
        ("OUTCOME", "mcp", None, 405, "o", None),
    ]
    assert b"hunter2" not in b"".join(memory.lines)


def test_a_call_that_can_not_be_recorded_is_refused(memory: Breakable) -> None:
    with audited(memory, raises=NotFoundError("orders is next to secret-name")) as client:
        memory.broken.set()
        refused = call(client, "show", {"name": "orders"})
        assert refused["structuredContent"]["type"] == "urn:headwater:audit-unavailable"
        assert post(client, "tools/call", name="nothing", arguments={}).status_code == 503
        assert post(client, "tools/list").status_code == 200


def test_calls_are_counted_under_their_operation() -> None:
    with client_of(fake_graph(raises=NotFoundError("no"))) as client:
        call(client, "show", {"name": "a-name-xyzzy"})
        post(client, "tools/call", name="a-tool-xyzzy", arguments={})
        metrics = metrics_with(
            client,
            'requests_total{route="/mcp",status="200"} 2.0',
            'requests_total{route="/api/v1/assets/{id}",status="404"} 1.0',
        )
    requests = re.findall(r"^headwater_serve_requests_total\{(.*)\} ([1-9]\S*)", metrics, re.MULTILINE)
    counted = {tuple(sorted(re.findall(r'"(.*?)"', labels))): float(count) for labels, count in requests}
    # A slow machine asks for the metrics more than once.
    counted.pop(("/metrics", "200"), None)
    assert counted == {
        ("/api/v1/assets/{id}", "404"): 1.0,
        ("/mcp", "200"): 2.0,
    }
    assert "xyzzy" not in metrics


def test_questions_of_tools_are_limited_as_others() -> None:
    graph: FakeGraph = fake_graph(raises=NotFoundError("no"), timeout_max_seconds=7.0)
    with client_of(graph) as client:
        call(client, "show", {"name": "a"})
    assert [each.timeout_seconds for each in graph.readers] == [7.0]
