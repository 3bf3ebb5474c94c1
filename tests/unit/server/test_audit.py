"""Records of requests: durable before the answer, or no answer."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.responses import Response

from headwater_analysis.declaring.difference import SetResult
from headwater_analysis.errors import GraphUnreachableError, NotFoundError
from headwater_analysis.paging import Page
from headwater_audit.audit import Audit
from headwater_audit.writer import AuditWriter
from headwater_server.app import create_app
from headwater_server.asking import DECISION, results_of
from headwater_server.identity import Scope as Access
from headwater_server.identity.tokens import create_token
from headwater_server.middleware.audit import QUESTIONS_WITH_BODIES
from headwater_server.scoped import Access as Needs
from headwater_server.scoped import ScopedRoute
from support.api import FakeGraph, client_of, fake_graph, metrics_with
from support.audit import START, Breakable, placed, verified
from support.openlineage import FakeSink, run_event
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


@pytest.fixture
def memory() -> Breakable:
    return Breakable()


@contextlib.contextmanager
def audited(memory: Breakable, *, required: bool = True, timeout: float = 60, **serve: Any) -> Iterator[FakeGraph]:
    writer = AuditWriter(memory, timeout_seconds=timeout)
    graph = fake_graph(raises=serve.pop("raises", None), **serve)
    try:
        yield dataclasses.replace(graph, audit=Audit(writer, required))
    finally:
        writer.close()


def test_a_question_leaves_a_record(memory: Breakable) -> None:
    with audited(memory, raises=NotFoundError("no such asset")) as graph, client_of(graph) as client:
        answer = client.get("/api/v1/assets/kafka%3A%2F%2Fb%3A9092%2Forders/upstream?depth=2&password=hunter2")
        assert answer.status_code == 422
        answer = client.get("/api/v1/assets/kafka%3A%2F%2Fb%3A9092%2Forders/upstream?depth=2")
        assert answer.status_code == 404
    refused, asked = memory.records()
    assert (refused["status"], refused["filters"]["password"]) == (422, ["[redacted]"])
    hidden = {"chain", "hash", "previous", "sequence", "request", "time", "milliseconds"}
    assert {name: value for name, value in asked.items() if name not in hidden} == {
        "kind": "OUTCOME",
        "source": "anonymous",
        "subject": "",
        "tenant": "default",
        "address": "127.0.0.1",
        "method": "GET",
        "route": "/api/v1/assets/{id}/upstream",
        "operation": "asset_upstream",
        "filters": {"id": ["kafka://b:9092/orders"], "depth": ["2"]},
        "status": 404,
    }
    assert asked["milliseconds"] > 0
    assert len(asked["request"]) == 32


def test_what_has_nothing_of_the_graph_leaves_none(memory: Breakable) -> None:
    with audited(memory) as graph, client_of(graph) as client:
        for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/", "/page.js", "/docs"):
            assert client.get(path).status_code == 200, path
        assert memory.records() == []
        client.get("/nothing\u202e", headers={"Cookie": "a=b"})
        client.get("/livez", headers={"Host": "elsewhere.example"})
        client.get("/livez", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"})
        client.head("/api/v1/jobs")
        client.delete("/api/v1/jobs")
        client.options("/api/v1/jobs")
        client.post("/api/v1/jobs", json={})
        client.post("/api/v1/nothing", json={})
    found = [(each["method"], each.get("route"), each["status"]) for each in memory.records()]
    assert found == [
        ("GET", None, 404),
        ("GET", "/livez", 403),
        ("HEAD", "/api/v1/jobs", 500),
        ("DELETE", "/api/v1/jobs", 405),
        ("OPTIONS", "/api/v1/jobs", 405),
        ("POST", "/api/v1/jobs", 405),
        ("POST", None, 404),
    ]
    assert {each["kind"] for each in memory.records()} == {"OUTCOME"}, "no intent where there is nothing to change"


class Decided:
    """Stands where the middleware stands that decides what an identity may see."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[DECISION] = ("deny", ("readers-see-flights",))
        await self._app(scope, receive, send)


def test_a_record_names_who_asked_and_what_decided(memory: Breakable, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    _, token = create_token(file, "ci", [Access.READ], now=START, expires=None, tenant="flights")
    with audited(memory, tokens_file=str(file), intake=True, raises=NotFoundError("no")) as graph:
        app = create_app(dataclasses.replace(graph, sink=FakeSink()))
        app.add_middleware(Decided)
        with client_of(graph, app) as client:
            path, headers = "/api/v1/assets/orders/upstream", {"Authorization": f"Bearer {token}"}
            assert client.get(path, headers=headers).status_code == 404
            assert client.post(ONE, json=run_event(), headers=headers).status_code == 403
            assert client.get(path, headers={"Authorization": "Bearer hw_nobodys"}).status_code == 401
            assert client.get(path).status_code == 401
            assert client.get("/metrics").status_code == 401
    found = [
        (each["kind"], each["source"], each["subject"], each["tenant"], each["operation"], each["status"])
        for each in memory.records()
        if "operation" in each
    ]
    assert found == [
        ("OUTCOME", "token", "ci", "flights", "asset_upstream", 404),
        ("OUTCOME", "token", "ci", "flights", "post_lineage", 403),
        ("OUTCOME", "unidentified", "", "default", "asset_upstream", 401),
        ("OUTCOME", "unidentified", "", "default", "asset_upstream", 401),
    ]
    assert memory.records()[-1]["route"] == "/metrics"
    assert {(each["decision"], *each["rules"]) for each in memory.records()} == {("deny", "readers-see-flights")}
    written = b"".join(memory.lines)
    assert token.encode() not in written
    assert b"nobodys" not in written


def test_a_question_that_can_not_be_recorded_is_refused(memory: Breakable) -> None:
    with audited(memory, raises=NotFoundError("orders is next to secret-name")) as graph, client_of(graph) as client:
        path = "/api/v1/assets/orders/upstream"
        assert client.get(path).status_code == 404
        memory.broken.set()
        assert client.head(path).status_code == 503
        for asked in (path, "/api/v1/nothing"):
            refused = client.get(asked)
            assert (refused.status_code, refused.json()["type"]) == (503, "urn:headwater:audit-unavailable")
            assert refused.headers["retry-after"]
            assert "secret-name" not in refused.text
        assert client.get("/livez").status_code == 200
        metrics_with(
            client,
            "headwater_serve_audit_broken 1.0",
            "headwater_serve_audit_refused_requests_total 3.0",
            'headwater_serve_audit_records_total{result="lost"} 3.0',
        )
        memory.broken.clear()
        assert client.get(path).status_code == 404
        assert "headwater_serve_audit_broken 0.0" in client.get("/metrics").text
    assert memory.kinds() == ["OPENED", "OUTCOME", "LOST", "OUTCOME", "CLOSED"]
    assert json.loads(memory.lines[2])["count"] == 3


def test_a_question_is_answered_without_a_record_where_that_is_set(memory: Breakable) -> None:
    with audited(memory, required=False, raises=NotFoundError("no")) as graph, client_of(graph) as client:
        memory.broken.set()
        assert client.get("/api/v1/assets/orders/upstream").status_code == 404
        memory.broken.clear()
        assert client.get("/api/v1/assets/orders/upstream").status_code == 404
    assert memory.kinds() == ["OPENED", "LOST", "OUTCOME", "CLOSED"]


def test_no_byte_of_an_answer_leaves_before_its_record_is_durable(memory: Breakable) -> None:
    with audited(memory, raises=NotFoundError("no")) as graph, client_of(graph) as client:
        eventually(lambda: memory.lines)
        memory.released.clear()
        answers: list[int] = []
        asking = threading.Thread(
            target=lambda: answers.append(client.get("/api/v1/assets/orders/upstream").status_code)
        )
        asking.start()
        try:
            eventually(lambda: graph.readers)
            eventually(lambda: graph.audit is not None and not memory.records())
            assert answers == []
        finally:
            memory.released.set()
            asking.join(patience(30))
        assert answers == [404]


def test_a_record_that_takes_too_long_is_none(memory: Breakable) -> None:
    with audited(memory, timeout=0.01, raises=NotFoundError("no")) as graph, client_of(graph) as client:
        eventually(lambda: memory.lines)
        memory.released.clear()
        assert client.get("/api/v1/assets/orders/upstream").status_code == 503
        memory.released.set()


def test_a_defect_is_recorded(memory: Breakable, monkeypatch: pytest.MonkeyPatch) -> None:
    with audited(memory, raises=ZeroDivisionError("defect")) as graph, client_of(graph) as client:
        assert client.get("/api/v1/gaps").status_code == 500
        eventually(memory.records)
    (found,) = memory.records()
    assert (found["operation"], found["status"]) == ("gaps", 500)


def test_a_graph_that_is_away_is_recorded(memory: Breakable) -> None:
    away = GraphUnreachableError("bolt://secret-host is away")
    with audited(memory, raises=away) as graph, client_of(graph) as client:
        assert client.get("/api/v1/gaps").status_code == 503
    (found,) = memory.records()
    assert found["status"] == 503
    assert "secret-host" not in json.dumps(found)


def test_results_are_counted() -> None:
    declared = SetResult(
        "owners", 1, 1, 3, in_graph=True, changes=[], unknown_datasets=[], contradictions=[], cycles=[]
    )
    page = Page((1, 2), total=7, next_cursor=None)
    assert [results_of(each) for each in (declared, page, object())] == [3, 7, None]


def test_operations_with_a_body_are_changes_or_listed() -> None:
    app = create_app(fake_graph())
    document = app.openapi()
    found = {
        operation["operationId"]
        for operations in document["paths"].values()
        for method, operation in operations.items()
        if method != "get"
    }
    changes = {"post_lineage", "post_lineage_batch", "post_declarations", "open_incident", "act_on_incident"}
    assert found == changes | QUESTIONS_WITH_BODIES


ONE = "/api/v1/lineage"


def test_a_change_leaves_its_intent_and_its_outcome(memory: Breakable) -> None:
    sink = FakeSink()
    with audited(memory, intake=True) as graph, client_of(dataclasses.replace(graph, sink=sink)) as client:
        assert client.post(ONE, json=run_event()).status_code == 201
        assert client.post(ONE, json=[]).status_code == 400
        assert client.post(ONE, content=b"x", headers={"Content-Type": "text/plain"}).status_code == 415
    found = [(each["kind"], each["operation"], each.get("status")) for each in memory.records()]
    assert found == [
        ("INTENT", "post_lineage", None),
        ("OUTCOME", "post_lineage", 201),
        ("INTENT", "post_lineage", None),
        ("OUTCOME", "post_lineage", 400),
        ("OUTCOME", "post_lineage", 415),
    ]
    intent, outcome = memory.records()[:2]
    assert intent["request"] == outcome["request"]
    assert outcome["results"] == len(sink.taken)
    assert verified(placed(memory.lines)).unclosed == ()


def test_nothing_is_changed_without_an_intent(memory: Breakable) -> None:
    sink = FakeSink()
    with audited(memory, intake=True) as graph, client_of(dataclasses.replace(graph, sink=sink)) as client:
        eventually(lambda: memory.lines)
        memory.broken.set()
        refused = client.post(ONE, json=run_event())
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:headwater:audit-unavailable")
        assert not sink.taken
        memory.broken.clear()
        assert client.post(ONE, json=run_event()).status_code == 201


def test_a_change_that_is_made_is_answered_though_its_outcome_is_lost(memory: Breakable) -> None:
    sink = FakeSink()
    sink.holding = True
    with audited(memory, intake=True) as graph, client_of(dataclasses.replace(graph, sink=sink)) as client:
        answers: list[int] = []
        sending = threading.Thread(target=lambda: answers.append(client.post(ONE, json=run_event()).status_code))
        sending.start()
        eventually(lambda: sink.taken)
        memory.broken.set()
        sink.release()
        sending.join(patience(30))
        assert answers == [201]
        memory.broken.clear()
    assert memory.kinds() == ["OPENED", "INTENT", "LOST", "CLOSED"]


def test_a_question_with_a_body_has_no_intent_and_the_parameters_of_the_body(memory: Breakable) -> None:
    orders = {"dataset": "orders"}
    with audited(memory, raises=NotFoundError("no")) as graph, client_of(graph) as client:
        path = "/api/v1/impact/analyze?depth=2"
        assert client.post(path, json={"x": 1}).status_code == 422
        change = orders | {"column": "hw_secret?password=hunter2", "extent": {"partition": "3"}}
        assert client.post(path, json=change).status_code == 400
        assert client.post("/api/v1/review", json=orders | {"new": [], "table": "t"}).status_code in {400, 404, 422}
    assert [(found["kind"], found["operation"]) for found in memory.records()] == [
        ("OUTCOME", "impact_analyze"),
        ("OUTCOME", "impact_analyze"),
        ("OUTCOME", "review"),
    ]
    assert [found.get("filters") for found in memory.records()] == [
        {"depth": ["2"]},
        {
            "dataset": ["orders"],
            "column": ["hw_secret?password=[redacted]"],
            "partition": ["3"],
            "read_time": ["False"],
            "depth": ["2"],
        },
        {"dataset": ["orders"], "table": ["t"]},
    ]


def test_an_action_on_an_incident_is_recorded_with_its_force(memory: Breakable) -> None:
    asked = audited(memory, raises=NotFoundError("no"), declare=True)
    with asked as graph, client_of(dataclasses.replace(graph, sink=FakeSink())) as client:
        for body in ({"action": "acknowledged"}, {"action": "resolved", "force": True}):
            assert client.post("/api/v1/incidents/INC-1/actions", json=body).status_code == 404
    assert [found["filters"] for found in memory.records() if found["kind"] == "OUTCOME"] == [
        {"id": ["INC-1"], "action": ["ACKNOWLEDGED"]},
        {"id": ["INC-1"], "action": ["RESOLVED"], "force": ["True"]},
    ]


def test_a_client_that_goes_leaves_an_outcome_of_a_change_alone(memory: Breakable) -> None:
    with audited(memory, intake=True) as graph:
        app = create_app(dataclasses.replace(graph, sink=FakeSink()))
        for path in (ONE, "/api/v1/impact/analyze"):
            messages: list[Message] = [
                {"type": "http.request", "body": b"{", "more_body": True},
                {"type": "http.disconnect"},
            ]
            asyncio.run(app(asgi_scope(path), async_from(messages), nowhere))
    assert [(found["kind"], found.get("status")) for found in memory.records()] == [("INTENT", None), ("OUTCOME", None)]


def asgi_scope(path: str) -> Scope:
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"9")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }


def async_from(messages: list[Message]) -> Receive:
    async def receive() -> Message:
        return messages.pop(0)

    return receive


async def nowhere(_: Message) -> None:
    raise AssertionError("nobody is there to be answered")


def test_what_is_recorded_of_a_route_outside_of_the_api_has_no_query(memory: Breakable) -> None:
    async def log_in(_: Request) -> Response:
        return Response()

    with audited(memory) as graph:
        app = create_app(graph)
        app.router.routes.append(ScopedRoute("/callback", log_in, needs=Needs.OPEN))
        with client_of(graph, app) as client:
            assert client.get("/callback?code=one-time").status_code == 200
    (found,) = memory.records()
    assert (found["route"], found["status"], found.get("filters")) == ("/callback", 200, None)
