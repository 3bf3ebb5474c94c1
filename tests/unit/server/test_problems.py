"""Whatever goes wrong is reported as RFC 9457 has it, and never with what is ours."""

from __future__ import annotations

import difflib
import logging
from typing import TYPE_CHECKING, Any

from headwater_analysis.errors import (
    AmbiguousError,
    ArrivalsUnknownError,
    GraphRefusedError,
    GraphUnreachableError,
    NotFoundError,
    QuestionError,
    TimeLimitError,
)
from headwater_server.problems import MOST_ERRORS
from support.api import NOWHERE, client_of, fake_graph

if TYPE_CHECKING:
    import pytest

UPSTREAM = "/api/v1/assets/orders/upstream"


def test_an_error_of_a_question_is_a_problem(subtests: pytest.Subtests) -> None:
    cases = [
        (QuestionError("no", field="depth"), 400, "question"),
        (NotFoundError("no", nearest=["orders2"]), 404, "not-found"),
        (AmbiguousError("two", candidates=["a/x", "b/x"]), 409, "ambiguous"),
        (RuntimeError("boom at /some/file with a-secret-password"), 500, "defect"),
        (GraphUnreachableError(f"Neo4j doesn't answer at {NOWHERE.uri}"), 503, "graph-unreachable"),
        (GraphRefusedError(f"{NOWHERE.uri} refuses 'neo4j'", setting="X"), 503, "graph-refused"),
        (ArrivalsUnknownError("orders", f"Kafka at {NOWHERE.uri} doesn't answer"), 503, "arrivals-unknown"),
        (TimeLimitError(1.5), 504, "time-limit"),
    ]
    for error, status, kind in cases:
        with subtests.test(error=error):
            with client_of(fake_graph(raises=error)) as client:
                answer = client.get(UPSTREAM)
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
            reported = answer.json()
            assert (reported["type"], reported["status"]) == (f"urn:headwater:{kind}", status)
            assert reported["title"]
            assert reported["detail"]
            assert None not in reported.values()
            for ours in ("Traceback", "graph.invalid", "a-secret-password", "/some/file", "RuntimeError", "neo4j"):
                assert ours not in answer.text
            assert ("retry-after" in answer.headers) == (status == 503)
            assert "etag" not in answer.headers


def test_a_problem_says_what_helps() -> None:
    with client_of(fake_graph(raises=NotFoundError("no", nearest=["orders2", "order"]))) as client:
        assert client.get(UPSTREAM).json()["nearest"] == ["orders2", "order"]
    with client_of(fake_graph(raises=AmbiguousError("two", candidates=["a/x", "b/x"]))) as client:
        assert client.get(UPSTREAM).json()["candidates"] == ["a/x", "b/x"]
    with client_of(fake_graph(raises=QuestionError("no such", field="cursor"))) as client:
        assert client.get(UPSTREAM).json()["errors"] == [{"field": "cursor", "message": "no such"}]


def test_the_log_says_which_setting_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    refused = GraphRefusedError("Neo4j refuses", setting="HEADWATER_NEO4J_PASSWORD")
    with caplog.at_level(logging.ERROR), client_of(fake_graph(raises=refused)) as client:
        client.get(UPSTREAM)
    assert "HEADWATER_NEO4J_PASSWORD" in caplog.text


def test_a_wrong_parameter_is_named(subtests: pytest.Subtests) -> None:
    cases = [
        ("depth=0", "depth", "greater than or equal to 1"),
        ("depth=some", "depth", "'all'"),
        ("dept=2", "dept", "no such parameter; the nearest known one is `depth`"),
        ("depth=1&depth=2", "depth", "more than once"),
        ("limit=1001", "limit", "less than or equal to 1000"),
        ("timeout=0.001", "timeout", "greater than or equal to 1"),
        ("includeColumns=true", "includeColumns", "it is called `columns`"),
        ("timeout=nan", "timeout", "finite number"),
        ("as_of=yesterday", "as_of", "2025-01-31T12:00:00Z"),
        ("as_of=1735689600", "as_of", "2025-01-31T12:00:00Z"),
        ("as_of=2025-02-31", "as_of", "valid datetime"),
        ("as_of=0001-01-01T00:00:00%2B14:00", "as_of", "out of range"),
        ("cursor=", "cursor", "at least 1 character"),
        ("cursor=a%20b", "cursor", "match pattern"),
    ]
    with client_of(fake_graph()) as client:
        for query, field, message in cases:
            with subtests.test(query=query):
                answer = client.get(f"{UPSTREAM}?{query}")
                assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
                reported = answer.json()
                assert reported["type"] == "urn:headwater:parameters"
                found = [(each["field"], each["message"]) for each in reported["errors"]]
                assert any(named == field and message in told for named, told in found), reported


def test_of_thousands_of_wrong_parameters_only_the_first_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    nearest = difflib.get_close_matches

    def counted(name: str, *rest: Any, **options: Any) -> list[str]:
        looked_at.append(name)
        return nearest(name, *rest, **options)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    with client_of(fake_graph()) as client:
        answer = client.get(f"{UPSTREAM}?{'&'.join(f'dept{number}' for number in range(5_000))}")
    assert [each["field"] for each in answer.json()["errors"]] == looked_at == [f"dept{n}" for n in range(MOST_ERRORS)]


def test_a_wrong_body_is_named() -> None:
    with client_of(fake_graph()) as client:
        path = "/api/v1/impact/analyze"
        wrong = client.post(path, json={"dataset": "x", "extent": {"from": 1}})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "extent.from")
        assert client.post(path, json={"dataset": "x", "shema": "REMOVED"}).json()["errors"][0]["field"] == "shema"
        for body in (b"{", b"\xff", b"[]", b'{"dataset": "\\ud800", "type": "DATA_INCORRECT"}', b""):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), body


def test_a_body_that_is_no_json_is_told_so() -> None:
    path, body = "/api/v1/impact/analyze", b'{"dataset": "orders", "type": "DATA_INCORRECT"}'
    with client_of(fake_graph()) as client:
        for headers in (
            {},
            {"Content-Type": "text/plain"},
            {"Content-Type": "application/x-www-form-urlencoded"},
            {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        ):
            answer = client.post(path, content=body, headers=headers)
            assert (answer.status_code, answer.json()["type"]) == (415, "urn:headwater:media-type"), headers
        for media in ("application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"):
            assert client.post(path, content=body, headers={"Content-Type": media}).status_code == 200
        json = {"Content-Type": "application/json"}
        [cut] = client.post(path, content=b'{"dataset": ', headers=json).json()["errors"]
        assert cut["field"] == "body"
        assert cut["message"].startswith("The body isn't JSON: ")
        assert cut["message"].endswith("at character 12.")
        [not_one] = client.post(path, content=b"[]", headers=json).json()["errors"]
        assert not_one == {"field": "body", "message": "Input should be an object"}


def test_what_is_not_served_is_a_problem_too() -> None:
    with client_of(fake_graph()) as client:
        for path in ("/nothing", "/api/v1/nothing", "/api/v1/columns", "/api/v2/graph", "/api/v1/graph/"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["type"]) == (404, "urn:headwater:no-such-path"), path
        answer = client.delete("/api/v1/graph")
        assert (answer.status_code, answer.json()["type"]) == (405, "urn:headwater:method")
        assert answer.headers["allow"] == "GET"
        assert answer.headers["content-type"] == "application/problem+json"


def test_who_is_refused_is_logged_with_the_address(caplog: pytest.LogCaptureFixture) -> None:
    with client_of(fake_graph()) as client:
        client.get("/api/v1/search", params={"limit": "many"})
        client.post("/api/v1/impact/analyze", content=b"{", headers={"Content-Type": "text/plain"})
        client.get("/livez")
    logged = [record.getMessage() for record in caplog.records if record.name == "headwater.serve"]
    assert logged == [
        "refused with 422: GET /api/v1/search of 127.0.0.1",
        "refused with 415: POST /api/v1/impact/analyze of 127.0.0.1",
    ]


def test_reviews_can_be_switched_off() -> None:
    with client_of(fake_graph(review=False)) as client:
        answer = client.post("/api/v1/review", json={"dataset": "d", "new": "a int"})
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:headwater:no-such-path")


def test_a_long_name_is_not_repeated_whole() -> None:
    with client_of(fake_graph(raises=NotFoundError("x" * 10_000))) as client:
        assert len(client.get(UPSTREAM).content) < 2_000
