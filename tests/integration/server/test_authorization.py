"""Policies on the demo's graph, asked by a team, by an operator, and without the scope `expressions`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import APIRoute

from headwater.cli import main
from headwater_server.access import configured_authentication
from headwater_server.app import create_app
from headwater_server.authorization import FILTERED, Authorization
from headwater_server.identity import Scope
from headwater_server.identity.tokens import create_token
from headwater_server.settings import ServeSettings
from support.api import client_of

if TYPE_CHECKING:
    import httpx
    from neo4j import Driver

    from headwater_server.asking import Graph

pytestmark = pytest.mark.stack

POLICIES = """
permit(principal in Group::"ops", action == Action::"everything", resource);
permit(principal in Group::"reader", action == Action::"everything", resource);
permit(principal in Group::"team", action == Action::"read", resource is Dataset)
when { resource.name like "flights.*" };
permit(principal in Group::"team", action == Action::"read", resource is Job);
"""


@contextmanager
def asked(graph: Graph, tmp_path: Path, **groups: str) -> Iterator[httpx.Client]:
    """Asks with the token of a group: `ask(client, group, path)`."""
    policies, tokens = tmp_path / "access.cedar", tmp_path / "tokens.json"
    policies.write_text(POLICIES)
    secrets = {
        group: create_token(
            tokens, group, [Scope(each) for each in scopes.split()], now=datetime.now(UTC), expires=None, groups=[group]
        )[1]
        for group, scopes in groups.items()
    }
    serve = ServeSettings(port=0, declare=True, tokens_file=str(tokens))
    served = replace(graph, serve=serve, authorization=Authorization(policies, refresh_seconds=10))
    with client_of(served, create_app(served, configured_authentication(serve))) as client:
        client.secrets = secrets  # type: ignore[attr-defined]
        yield client


def ask(client: httpx.Client, group: str, path: str, **more: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {client.secrets[group]}"}  # type: ignore[attr-defined]
    return client.request(more.pop("method", "GET"), f"/api/v1{path}", headers=headers, **more)


def test_a_team_sees_its_own(demo_graph: Driver, graph: Graph, tmp_path: Path) -> None:
    with asked(graph, tmp_path, team="read", ops="read", other="read") as client:
        listed = ask(client, "team", "/assets").json()
        assert {each["asset"]["name"].partition(".")[0] for each in listed["items"]} == {"flights"}
        assert listed["filtered"]
        everything = ask(client, "ops", "/assets").json()
        assert everything["total"] > listed["total"] > 0
        assert "filtered" not in everything
        assert ask(client, "other", "/assets").json()["items"] == []
        names = ask(client, "team", "/search", params={"q": "daily_report"}).json()
        assert [hit["asset"]["kind"] for hit in names["items"]] == ["JOB"] * len(names["items"])
        assert [ask(client, each, "/me").json()["filtered"] for each in ("team", "ops")] == [True, False]


def test_explain_decides_as_the_server_does(
    demo_graph: Driver,
    settings_of_stack: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    subtests: pytest.Subtests,
) -> None:
    file = tmp_path / "access.cedar"
    file.write_text(f'{POLICIES} @id("none") forbid(principal, action == Action::"read", resource is Dataset);')
    for group, allowed, policies in (("ops", True, ["policy 1"]), ("team", False, ["none"])):
        with subtests.test(group=group):
            asker = ("--as", "token:a", "--group", group, "--file", str(file))
            assert main(["policy", "explain", "flights.departed", *asker, "--json"]) == 0
            found = json.loads(capsys.readouterr().out)
            assert (found["allowed"], found["policies"]) == (allowed, policies)


def test_what_is_hidden_is_not_found_as_what_is_not_there(demo_graph: Driver, graph: Graph, tmp_path: Path) -> None:
    with asked(graph, tmp_path, team="read") as client:
        hidden, absent = (ask(client, "team", f"/assets/{name}") for name in ("daily_report", "daily_repork"))
        assert hidden.status_code == absent.status_code == 404
        assert hidden.text.replace("daily_report", "daily_repork") == absent.text


def test_operations_that_cannot_be_filtered_are_refused(demo_graph: Driver, graph: Graph, tmp_path: Path) -> None:
    with asked(graph, tmp_path, team="read declare", ops="read") as client:
        app = create_app(graph)
        routes = [each for each in app.routes if isinstance(each, APIRoute) and "GET" in (each.methods or ())]
        assert FILTERED - {route.operation_id for route in app.routes if isinstance(route, APIRoute)} == set()
        refused = set()
        for route in routes:
            path = route.path.removeprefix("/api/v1").replace("{id}", "flights.departed")
            if route.operation_id in FILTERED or ask(client, "ops", path).status_code != 200:
                continue
            answer = ask(client, "team", path)
            if answer.status_code == 403:
                assert answer.json()["type"] == "urn:headwater:not-filtered"
                refused.add(route.operation_id)
        assert refused >= {"checks", "gaps"}


def test_declarations_are_of_who_sees_everything(demo_graph: Driver, graph: Graph, tmp_path: Path) -> None:
    declared = {"json": {"set": "flights"}, "method": "POST"}
    with asked(graph, tmp_path, team="declare") as client:
        for mode, status in (("publish", 403), ("diff", 403), ("check", 200)):
            assert ask(client, "team", f"/declarations?mode={mode}", **declared).status_code == status


def test_texts_need_a_scope(demo_graph: Driver, graph: Graph, tmp_path: Path) -> None:
    with asked(graph, tmp_path, reader="read", ops="read expressions") as client:
        graph_of = "/columns/daily_report/mean_delay/upstream?depth=2"
        with_texts, without = (ask(client, each, graph_of) for each in ("ops", "reader"))
        assert set(re.findall(r'"expression":(.)', with_texts.text)) >= {'"'}
        assert set(re.findall(r'"expression":(.)', without.text)) == {"n"}
        refused = ask(client, "reader", "/runs", params={"statement": "SELECT"})
        assert refused.status_code == 422
        assert "expressions" in refused.json()["errors"][0]["message"]
        assert ask(client, "ops", "/runs", params={"statement": "SELECT"}).status_code == 200
