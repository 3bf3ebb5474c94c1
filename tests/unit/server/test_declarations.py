"""Declarations sent over HTTP: who may, what is answered, and when."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from headwater_analysis.errors import GraphUnreachableError
from headwater_analysis.incidents.marks import MarkingReader
from headwater_openlineage.intake.sink import Undeliverable
from headwater_schemas.events import DatasetRef
from headwater_server.identity import Identity
from headwater_server.routes import declarations as routes
from support.api import FakeGraph, client_of, fake_graph, held_back
from support.materializer.clock import FakeClock
from support.openlineage import FakeSink, run_event
from support.waiting import eventually, patience, stays

if TYPE_CHECKING:
    import httpx
    import pytest

PATH = "/api/v1/declarations"
YAML = {"Content-Type": "application/yaml"}
SET = {
    "set": "flights",
    "namespace": "n",
    "datasets": [{"name": "d", "owners": ["team:x"]}],
    "consumers": [{"name": "board", "reads": ["d"]}],
}
TEXT = """\
# Reviewed.
set: flights
namespace: n
datasets:
- {name: d, owners: [team:x]}
consumers: [{name: board, reads: [d]}]
"""
CONTRACT = "kind: DataContract\napiVersion: v3.1.0\nid: x\nversion: '1'\nstatus: active\nschema: [{name: d}]\n"


class _EmptyGraph:
    """A transaction of a graph that has nothing, or one set at a revision."""

    several_names = False

    def __init__(self, revision: int | None) -> None:
        self._revision = revision
        self.shared: dict[str, object] = {}

    visible = None

    def row(self, _statement: str, **_given: Any) -> dict[str, Any] | None:
        about: dict[str, Any] = {"items": [], "missing": [], "format": "headwater", "source": None, "document": None}
        return None if self._revision is None else {"revision": self._revision, **about}

    def rows(self, _statement: str, **_given: Any) -> list[dict[str, Any]]:
        return []

    def one(self, statement: str, **_given: Any) -> dict[str, Any]:
        of: dict[str, dict[str, Any]] = {"declared/there": {"there": []}, "declared/feeds_elsewhere": {"pairs": []}}
        return of.get(statement, {"there": 0, "revision": 0})


@dataclass
class _EmptyReader:
    raises: Exception | None
    revision: int | None
    tenant: str = "default"

    def read(self, question: Callable[[Any], Any], **_options: Any) -> Any:
        if self.raises is not None:
            raise self.raises
        return question(_EmptyGraph(self.revision))


@dataclass(frozen=True)
class _Graph(FakeGraph):
    revision: int | None = None

    def reader(self, identity: Identity, timeout_seconds: float | None = None, *, operation: str = "") -> MarkingReader:
        return cast("MarkingReader", _EmptyReader(self.raises, self.revision))


@contextmanager
def door(
    sink: FakeSink | None = None, raises: Exception | None = None, revision: int | None = None, **serve: Any
) -> Iterator[tuple[httpx.Client, FakeSink]]:
    sink = sink or FakeSink()
    fake = fake_graph(**{"declare": True, **serve})
    graph = _Graph(fake.driver, fake.target, fake.analysis, fake.serve, sink=sink, raises=raises, revision=revision)
    with client_of(graph) as client:
        yield client, sink


def post(client: httpx.Client, text: str = TEXT, headers: dict[str, str] = YAML, **query: Any) -> httpx.Response:
    return client.post(PATH, content=text.encode(), headers=headers, params=query)


def metric(client: httpx.Client, name: str) -> float:
    (line,) = [line for line in client.get("/metrics").text.splitlines() if line.startswith(f"headwater_serve_{name} ")]
    return float(line.rpartition(" ")[2])


def test_a_set_is_answered_201_once_it_is_acknowledged() -> None:
    with door() as (client, sink), ThreadPoolExecutor(1) as pool:
        sink.holding = True
        posted = pool.submit(post, client)
        eventually(lambda: len(sink.taken) == 3 or posted.done())
        stays(lambda: not posted.done(), 0.2)
        sink.release()
        answer = posted.result(patience(30))
        assert answer.status_code == 201
        found = answer.json()
        assert (found["set"], found["revision"], found["declarations"]) == ("flights", 1, 2)
        assert (found["published"], found["in_graph"], len(found["changes"])) == (3, False, 2)
        assert [event.kind for event in sink.taken] == ["DECLARATION", "DECLARATION", "DECLARATION_SET"]


def test_yaml_and_json_make_the_same_events(subtests: pytest.Subtests) -> None:
    packed = gzip.compress(TEXT.encode())
    with door() as (client, sink):
        assert client.post(PATH, json=SET).status_code == 201
        ids = [event.event_id for event in sink.taken]
        for media in ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"]:
            with subtests.test(media=media):
                sink.taken.clear()
                headers = {"Content-Type": f"{media}; charset=utf-8", "Content-Encoding": "gzip"}
                assert client.post(PATH, content=packed, headers=headers).status_code == 201
                assert [event.event_id for event in sink.taken] == ids


def test_nothing_is_published_where_it_is_not_asked(subtests: pytest.Subtests) -> None:
    with door() as (client, sink):
        for mode, changes in [("diff", 2), ("DIFF", 2), ("check", 0)]:
            with subtests.test(mode=mode):
                answer = post(client, mode=mode)
                found = answer.json()
                assert (answer.status_code, found["published"], found["in_graph"]) == (200, 0, False), answer.text
                assert (found["declarations"], len(found["changes"])) == (2, changes)
                assert not sink.taken


def test_to_look_for_mistakes_needs_no_graph() -> None:
    with door(raises=GraphUnreachableError("bolt://graph.invalid:7687")) as (client, sink):
        assert post(client, mode="check").status_code == 200
        for mode in ("diff", "publish"):
            answer = post(client, mode=mode)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:graph-unreachable")
            assert int(answer.headers["retry-after"]) > 0
        assert not sink.taken


def test_names_that_need_the_graph_are_not_checked_without_it() -> None:
    with door(raises=GraphUnreachableError("bolt://graph.invalid:7687")) as (client, _):
        text = "set: x\ndatasets: [{name: shop.orders}]\n"
        answer = post(client, text, mode="check")
        assert (answer.status_code, answer.json()["unchecked_names"]) == (200, ["shop.orders"])
        assert post(client, text).json()["type"] == "urn:headwater:graph-unreachable"


def test_no_longer_is_waited_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked = FakeClock(), 0

    def progress(*_: Any) -> tuple[bool, None]:
        nonlocal asked
        asked += 1
        clock.advance(0.25)
        return False, None

    monkeypatch.setattr(routes, "time", SimpleNamespace(monotonic=clock))
    monkeypatch.setattr(routes, "progress", progress)
    monkeypatch.setattr(routes, "_POLL_SECONDS", 0.0)
    with door(timeout_max_seconds=0.5) as (client, _):
        answer = post(client, wait=600)
        assert (answer.status_code, answer.json()["in_graph"]) == (201, False)
    assert asked == 3, "at 0, 0.25 and 0.5 s"


def test_what_changes_nothing_is_200() -> None:
    with door() as (client, sink):
        answer = post(client, "set: never-declared\n")
        assert (answer.status_code, answer.json()["published"], answer.json()["in_graph"]) == (200, 0, True)
        assert not sink.taken


def test_a_mistake_is_400_with_its_line_and_pointer(subtests: pytest.Subtests) -> None:
    cases = [
        ("set: x\njobs: [{name: a}]", [("/jobs/0", "line 2: has no namespace: add `namespace` here")]),
        (
            'set: x\nnamespace: n\ndatasets:\n- name: a\n  columns: {"a/b": {sensitivty: PII}}\nrevision: 0\n',
            [
                ("/datasets/0/columns/a~1b/sensitivty", "line 5: no such key; did you mean `sensitivity`?"),
                ("/revision", "line 6: must be 1 or more"),
            ],
        ),
        ("set: [", [("", "line 1: not YAML: did not find expected node content")]),
        ("", [("", "line 1: a declaration file is a mapping that begins with `set:`")]),
        ("[" * 100_000, [("/" + "/".join("0" * 61), "line 1: nested deeper than 60 levels")]),
        (CONTRACT.replace("name: d", "tags: []"), [("/schema/0/name", "line 6: is missing")]),
    ]
    with door() as (client, sink):
        for (text, errors), mode in itertools.product(cases, ("publish", "check")):
            with subtests.test(text=text, mode=mode):
                answer = post(client, text, mode=mode)
                document = answer.json()
                assert (answer.status_code, document["type"]) == (400, "urn:headwater:declaration"), answer.text
                assert answer.headers["content-type"] == "application/problem+json"
                assert [one["field"] for one in document["errors"]] == [pointer for pointer, _ in errors]
                for one, (_, message) in zip(document["errors"], errors, strict=True):
                    assert one["message"].startswith(message)
                assert not sink.taken


def test_what_is_not_text_is_400() -> None:
    with door() as (client, _):
        answer = client.post(PATH, content=b"set: x\n\xff\xfe", headers=YAML)
        assert (answer.status_code, answer.json()["errors"][0]["message"]) == (400, "line 2: not UTF-8")


def test_a_contract_gets_its_namespace_from_the_query() -> None:
    with door() as (client, sink):
        assert post(client, CONTRACT, namespace="n").status_code == 201
        declared, listed = sink.taken[0].declaration_event, sink.taken[1].declaration_set_event
        assert declared is not None
        assert declared.dataset == DatasetRef("n", "d")
        assert listed is not None
        assert listed.document == CONTRACT


def test_an_older_revision_is_409() -> None:
    with door(revision=7) as (client, sink):
        answer = post(client, f"revision: 6\n{TEXT}")
        document = answer.json()
        assert (answer.status_code, document["type"]) == (409, "urn:headwater:revision")
        assert document["errors"] == [{"field": "/revision", "message": "is 6, but the graph has 7"}]
        assert not sink.taken
        assert post(client, f"revision: 8\n{TEXT}").json()["revision"] == 8


def test_it_is_a_capability_of_its_own() -> None:
    with door(declare=False, intake=True) as (client, sink):
        answer = post(client)
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:headwater:no-such-path")
        assert "HEADWATER_SERVE_DECLARE=true" in answer.json()["detail"]
        assert not sink.taken
    with door() as (client, sink):
        assert client.post("/api/v1/lineage", json=run_event()).status_code == 404
        assert not sink.taken
    with client_of(fake_graph(declare=True)) as client:
        assert post(client).status_code == 404


def test_a_kafka_that_does_not_answer_is_503(subtests: pytest.Subtests) -> None:
    for failure in ["holding", "full", "undelivered"]:
        with subtests.test(failure=failure), door(intake_timeout_seconds=0.3) as (client, sink):
            sink.holding = failure == "holding"
            sink.room = 1 if failure == "full" else None
            sink.failure = Undeliverable("id", "broker-1 went", for_good=False) if failure == "undelivered" else None
            answer = post(client)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:kafka-unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert "broker-1" not in answer.text
            rejected = 'intake_rejected_requests_total{reason="kafka"}'
            assert f"headwater_serve_{rejected} 1.0" in client.get("/metrics").text
            sink.holding, sink.room, sink.failure = False, None, None
            eventually(lambda: post(client).status_code == 201)


def test_a_declaration_that_kafka_finds_too_large_is_refused() -> None:
    with door() as (client, sink):
        sink.failure = Undeliverable("id", "MSG_SIZE_TOO_LARGE: it has 2,000,000 bytes", for_good=True)
        answer = post(client)
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:headwater:declaration")
        assert "2,000,000 bytes" in answer.json()["detail"]


def test_other_requests_are_refused(subtests: pytest.Subtests) -> None:
    cases = [
        ({"Content-Type": "text/plain"}, {}, 415),
        ({"Content-Type": "application/x-ndjson"}, {}, 415),
        ({**YAML, "Content-Encoding": "br"}, {}, 415),
        ({**YAML, "Sec-Fetch-Site": "cross-site"}, {}, 403),
        ({**YAML, "Host": "elsewhere.example"}, {}, 421),
        (YAML, {"mod": "check"}, 422),
        (YAML, {"mode": "delete"}, 422),
        (YAML, {"wait": "-1"}, 422),
    ]
    with door() as (client, sink):
        for headers, query, status in cases:
            with subtests.test(headers=headers, query=query):
                assert post(client, headers=headers, **query).status_code == status
                assert not sink.taken


def test_a_body_that_is_too_large_is_413() -> None:
    with door(intake_body_max_bytes=1_024) as (client, sink):
        answer = post(client, TEXT + "#" * 1_024)
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:headwater:too-large")
        bomb = gzip.compress(TEXT.encode() + b"#" * 1_000_000)
        answer = client.post(PATH, content=bomb, headers={**YAML, "Content-Encoding": "gzip"})
        assert answer.status_code == 413
        assert not sink.taken


def test_a_large_set_holds_nobody_else_up(subtests: pytest.Subtests) -> None:
    """Each step that takes long runs in a thread."""
    rows = [{"name": f"d{number}", "owners": ["x"]} for number in range(30)]
    for owner, step in [(routes, "_read"), (routes, "next_revision"), (FakeSink, "send"), (routes, "result")]:
        with subtests.test(step=step), door() as (client, sink), ThreadPoolExecutor(1) as pool:
            with held_back(owner, step) as begun:
                posted = pool.submit(client.post, PATH, content=json.dumps({**SET, "datasets": rows}), headers=YAML)
                assert begun.wait(patience(60))
                assert client.get("/livez").status_code == 200
                assert not posted.done()
            assert posted.result(patience(60)).status_code == 201
            assert len(sink.taken) == 32


def test_it_says_whether_kafka_takes_them() -> None:
    with door(intake_timeout_seconds=0.3) as (client, sink):
        assert metric(client, "intake_kafka_up") == 1
        sink.holding = True
        post(client)
        assert client.get("/readyz").json()["kafka_reachable"] is False
