"""Answers: ETags, HEAD, gzip, time limits, names in paths."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from starlette.requests import Request

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.freshness import GraphState
from headwater_analysis.impact import Extent, ImpactChange
from headwater_analysis.lineage import Lineage, LineageDirection, LineageQuestion
from headwater_analysis.reader import Reader
from headwater_server.app import openapi_document
from headwater_server.asking import answered
from headwater_server.identity import Identity, IdentitySource, Scope
from headwater_server.identity.identity import IDENTITY
from headwater_server.middleware.answers import wants_gzip
from headwater_server.routes import impact as impact_routes
from headwater_server.routes import lineage as routes
from support.api import client_of, fake_graph


class Answering:
    """In the place of `lineage`: keeps the questions, and answers with the start alone."""

    def __init__(self) -> None:
        self.questions: list[LineageQuestion] = []

    def __call__(self, _reader: Reader, question: LineageQuestion) -> Lineage:
        self.questions.append(question)
        start = Asset(AssetKind.DATASET, "0" * 32, "kafka://b", question.asset, question.column)
        facts: dict[str, Any] = {"items": (), "through": (), "total": 0, "direct": None, "indirect": None}
        facts |= {"complete": True, "truncated": False, "max_hops": 0, "next_cursor": None}
        return Lineage(
            start=start,
            direction=question.direction,
            depth=question.depth,
            as_of=question.as_of,
            since=question.since,
            **facts,
        )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[LineageQuestion]:
    answering = Answering()
    monkeypatch.setattr(routes, "lineage", answering)
    return answering.questions


NAMES = [
    "orders",
    "kafka://broker:9092/orders",
    "file/tmp/a b/c",
    "a/upstream",
    "a/upstream/upstream",
    "`backticks` MATCH (n) DETACH DELETE n //",
    "naïve.日本語.🜁",
    "100%25 sure? #1 & more; \\back\\slash",
    "a\nb\tc\x00d",
    "%2F",
    "x" * 10_240,
    "日" * 3_413,
]


def test_every_name_can_be_in_a_path(subtests: pytest.Subtests, asked: list[LineageQuestion]) -> None:
    with client_of(fake_graph()) as client:
        for name in NAMES:
            with subtests.test(name=name):
                asked.clear()
                answer = client.get(f"/api/v1/assets/{quote(name, safe='')}/upstream")
                assert answer.status_code == 200
                assert answer.json()["start"]["name"] == name
                escaped = f"/api/v1/columns/{quote(name, safe='')}/{quote(name, safe='')}/downstream"
                assert client.get(escaped).status_code == 200
                assert [(each.asset, each.column, each.direction) for each in asked] == [
                    (name, None, LineageDirection.UPSTREAM),
                    (name, name, LineageDirection.DOWNSTREAM),
                ]


def test_slashes_need_not_be_escaped(asked: list[LineageQuestion]) -> None:
    with client_of(fake_graph()) as client:
        client.get("/api/v1/assets/kafka://broker:9092/orders/upstream")
        client.get("/api/v1/columns/kafka://broker:9092/orders/a.b/upstream")
        client.get("/api/v1/columns/file/tmp/x/a%2Fb/upstream")
    assert [(question.asset, question.column) for question in asked] == [
        ("kafka://broker:9092/orders", None),
        ("kafka://broker:9092/orders", "a.b"),
        ("file/tmp/x", "a/b"),
    ]


def test_a_name_that_is_not_utf_8_is_refused(asked: list[LineageQuestion]) -> None:
    with client_of(fake_graph()) as client:
        answer = client.get("/api/v1/assets/%FF%FE/upstream")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "id")


def test_the_query_becomes_the_question(asked: list[LineageQuestion]) -> None:
    query = "depth=all&tag=pii&tag=a%3Db&type=TOPIC&namespace=n&job=j&as_of=2025-01-31&limit=7&columns=true&cursor=c"
    with client_of(fake_graph()) as client:
        assert client.get(f"/api/v1/assets/orders/downstream?{query}").status_code == 200
        client.get("/api/v1/assets/orders/downstream")
    first, second = asked
    assert (first.depth, first.limit, first.columns, first.cursor) == (None, 7, True, "c")
    assert (first.filters.tags, first.filters.types) == (("pii", "a=b"), ("TOPIC",))
    assert (first.filters.namespaces, first.filters.jobs) == (("n",), ("j",))
    assert first.as_of is not None
    assert first.as_of.isoformat() == "2025-01-31T00:00:00+00:00"
    assert (second.depth, second.limit, second.filters.tags) == (1, 100, ())


def test_a_page_has_no_more_items_than_the_server_allows(asked: list[LineageQuestion]) -> None:
    with client_of(fake_graph(page_default_items=5, page_max_items=50)) as client:
        client.get("/api/v1/assets/orders/upstream")
        client.get("/api/v1/assets/orders/upstream?limit=20")
        client.get("/api/v1/assets/orders/upstream?limit=1000")
    assert [question.limit for question in asked] == [5, 20, 50]


def test_a_time_limit_is_asked_for_and_capped(asked: list[LineageQuestion]) -> None:
    graph = fake_graph(timeout_max_seconds=20)
    with client_of(graph) as client:
        for query in ("", "?timeout=2.5", "?timeout=3600"):
            client.get(f"/api/v1/assets/orders/upstream{query}")
    assert [reader.timeout_seconds for reader in graph.readers] == [20, 2.5, 20]


def test_an_answer_that_is_known_is_not_sent_again(asked: list[LineageQuestion]) -> None:
    path = "/api/v1/assets/orders/upstream"
    with client_of(fake_graph()) as client:
        first = client.get(path)
        tag = first.headers["etag"]
        assert tag.startswith('W/"')
        assert first.headers["cache-control"] == "private, no-cache"
        for condition in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            again = client.get(path, headers={"If-None-Match": condition})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag), condition
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
        assert client.get("/api/v1/assets/others/upstream", headers={"If-None-Match": tag}).status_code == 200


def test_the_state_of_the_graph_changes_no_tag_and_is_hidden_from_whom_answers_are_filtered() -> None:
    def asked(graph: GraphState, *, filtered: bool = False) -> tuple[str, dict[str, Any]]:
        asker = Identity(IdentitySource.TOKEN, "ci", scopes=frozenset(Scope))
        request = Request({"type": "http", "method": "GET", "headers": [], IDENTITY: asker})
        answer = answered(request, Extent("3"), graph=graph, filtered=filtered)
        return answer.headers["etag"], json.loads(bytes(answer.body))

    now, later = (GraphState(datetime(2026, 1, 1, hour, tzinfo=UTC), hour, None) for hour in (1, 2))
    stale = replace(now, stale="26 events wait on the topic, and no consumer has reported since 08:58.")
    assert asked(now)[0] == asked(later)[0] != asked(stale)[0]
    assert asked(now)[1]["graph"]["behind"] == 1
    assert "graph" not in asked(now, filtered=True)[1]
    assert asked(stale, filtered=True)[1]["graph"] == {
        "last_event": None,
        "behind": None,
        "stale": "events wait on the topic",
    }


def test_head_is_get_without_the_body(asked: list[LineageQuestion]) -> None:
    path = f"/api/v1/assets/{'o' * 2_000}/upstream"
    with client_of(fake_graph()) as client:
        got = client.get(path, headers={"Accept-Encoding": "identity"})
        head = client.head(path, headers={"Accept-Encoding": "identity"})
        assert (head.status_code, head.content) == (200, b"")
        for name in ("etag", "content-length", "content-type"):
            assert head.headers[name] == got.headers[name]
        assert client.head("/api/v1/impact/analyze").status_code == 405


def test_long_answers_are_compressed(asked: list[LineageQuestion]) -> None:
    path = f"/api/v1/assets/{'o' * 5_000}/upstream"
    with client_of(fake_graph()) as client:
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as stream:
            packed = b"".join(stream.iter_raw())
            assert stream.headers["content-encoding"] == "gzip"
            assert "Accept-Encoding" in stream.headers["vary"]
            assert stream.headers["etag"] == plain.headers["etag"]
        assert gzip.decompress(packed) == plain.content
        assert len(packed) < 1_000


def test_gzip_is_for_those_who_want_it(subtests: pytest.Subtests) -> None:
    cases = [
        ("gzip", True),
        ("GZIP;Q=1", True),
        ("br, gzip;q=0.5", True),
        ("*", True),
        ("x-gzip", True),
        ("gzip ; q=0.001", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("*;q=0", False),
        ("*, gzip;q=0", False),
        ("identity, gzip;q=0.5", False),
        ("gzipped", False),
        ("gzip;q=much", False),
        ("gzip;q=nan", False),
    ]
    for accepted, wanted in cases:
        with subtests.test(accepted=accepted):
            assert wants_gzip(accepted) is wanted


def test_who_refuses_gzip_gets_none(subtests: pytest.Subtests, asked: list[LineageQuestion]) -> None:
    path = f"/api/v1/assets/{'o' * 5_000}/upstream"
    with client_of(fake_graph()) as client:
        for accepted in ["gzip;q=0", "identity;q=1, gzip;q=0.5", "*;q=0"]:
            with (
                subtests.test(accepted=accepted),
                client.stream("GET", path, headers={"Accept-Encoding": accepted}) as stream,
            ):
                body = b"".join(stream.iter_raw())
                assert "content-encoding" not in stream.headers
                assert "Accept-Encoding" in stream.headers["vary"]
                assert json.loads(body)
    assert len(asked) == 3


def test_names_of_enumerations_are_taken_in_any_case(subtests: pytest.Subtests, asked: list[LineageQuestion]) -> None:
    cases = [
        ("/columns/orders/id/upstream", "influence=Direct&depth=ALL"),
        ("/assets/orders/upstream", "type=topic"),
        ("/assets/orders/runs", "role=read&state=fail&state=Abort"),
        ("/runs", "state=fail"),
        ("/assets", "type=Topic"),
        ("/jobs", "type=batch"),
        ("/graph", "asset=orders&direction=Upstream&columns=Start"),
        ("/search", "q=x&kind=dataset"),
        ("/traces", "topic=t&partition=0&offset=1&direction=backward"),
        ("/impact", "dataset=orders&type=data_incorrect"),
        ("/impact", "dataset=orders&column=id&schema=Removed"),
    ]
    with client_of(fake_graph()) as client:
        for path, query in cases:
            with subtests.test(path=path, query=query):
                answer = client.get(f"/api/v1{path}?{query}")
                # The fake graph answers nothing: what counts is that no parameter is refused.
                assert answer.status_code != 422, answer.text


def test_names_of_enumerations_in_a_body_are_taken_in_any_case() -> None:
    with client_of(fake_graph()) as client:
        for change in (
            {"dataset": "x", "type": "data_incorrect"},
            {"dataset": "x", "column": "y", "schema": "Removed"},
        ):
            assert client.post("/api/v1/impact/analyze", json=change).status_code == 200, change
        wrong = client.post("/api/v1/impact/analyze", json={"dataset": "x", "type": "dreadful"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "type")


def test_a_linked_impact_is_the_one_that_is_posted(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[ImpactChange] = []

    def answering(_reader: Reader, change: ImpactChange, *_: object) -> str:
        changes.append(change)
        return "done"

    monkeypatch.setattr(impact_routes, "analyze", answering)
    query = "dataset=orders&type=BACKFILL_RESTATEMENT&partition=3&first_offset=10&end_offset=20&since=2025-01-31"
    extent = {"partition": "3", "first_offset": 10, "end_offset": 20, "since": "2025-01-31"}
    body = {"dataset": "orders", "type": "BACKFILL_RESTATEMENT", "extent": extent}
    with client_of(fake_graph()) as client:
        assert client.get(f"/api/v1/impact?{query}").status_code == 200
        assert client.post("/api/v1/impact/analyze", json=body).status_code == 200
        assert client.get("/api/v1/impact?dataset=orders&column=id&schema=RENAMED&new_name=key").status_code == 200
        assert client.get("/api/v1/impact?type=DATA_INCORRECT").json()["errors"][0]["field"] == "dataset"
    linked, posted, renamed = changes
    assert linked == posted
    assert (renamed.column, renamed.new_name, renamed.extent) == ("id", "key", None)


def test_no_schema_is_named_by_its_module() -> None:
    assert [name for name in openapi_document()["components"]["schemas"] if "__" in name] == []
