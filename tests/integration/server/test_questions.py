"""Questions over HTTP to a real graph: the same answers as the command line's, pages, time limits, awkward names."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pytest

from headwater.cli import main
from headwater_analysis.reader import Reader
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import DatasetRef, JobEvent, JobRef, LineageEvent, build
from headwater_server.asking import Graph
from headwater_server.routes import lineage as routes
from support.api import client_of
from support.graph.emptying import delete_nodes
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

RUN = "ad9034e8-07a1-4fb1-9983-3216e9ebe03c"


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/assets/flights.departed/downstream?depth=all", "downstream flights.departed --depth all"),
        ("/columns/daily_report/mean_delay/upstream?depth=2", "upstream daily_report --column mean_delay --depth 2"),
        ("/search?q=flights&limit=20", "search flights --limit 20"),
        ("/traces?topic=flights.departed&partition=0&offset=12&depth=all", "trace flights.departed 0 12 --depth all"),
    ],
)
def test_the_answer_is_the_command_lines(
    demo: httpx.Client,
    stack: StackUnderTest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    path: str,
    command: str,
) -> None:
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"HEADWATER_NEO4J_{name.upper()}", getattr(stack, f"neo4j_{name}"))
    assert main([*command.split(), "--json"]) == 0
    assert demo.get(f"/api/v1{path}").json() == json.loads(capsys.readouterr().out)


PAGED = [
    "/assets/flights.departed/downstream?depth=all",
    "/columns/daily_report/mean_delay/upstream?depth=all",
    "/search?q=flights",
    "/jobs/flights.flights.departed/runs",
    f"/runs/{RUN}/intervals",
    "/jobs/flights.enrich/timeline",
    "/assets/flights.enriched/timeline",
    "/assets/delays/versions",
]


@pytest.mark.nightly
def test_pages_together_are_the_whole(subtests: pytest.Subtests, demo: httpx.Client) -> None:
    for path in PAGED:
        with subtests.test(path):
            check_pages(demo, path)


def check_pages(demo: httpx.Client, path: str) -> None:
    """Compare the answer with its pages of two."""
    field = "intervals" if "timeline" in path else "items"
    path = f"/api/v1{path}{'&' if '?' in path else '?'}"
    whole = demo.get(f"{path}limit=1000").json()
    assert whole["next_cursor"] is None
    assert len(whole[field]) == whole["total"] > 2
    paged: list[Any] = []
    cursor = ""
    for _ in range(100):
        page = demo.get(f"{path}limit=2{cursor}").json()
        assert 0 < len(page[field]) <= 2
        assert page["total"] == whole["total"]
        paged += page[field]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"

    def key(item: dict[str, Any]) -> str:
        return json.dumps(item.get("key") or item.get("asset") or [item["query_id"], item["batch_id"]])

    assert sorted(map(key, paged)) == sorted(map(key, whole[field]))
    if field == "items":
        assert list(map(key, paged)) == list(map(key, whole[field]))


def test_what_is_not_there_comes_with_the_nearest_names(demo: httpx.Client) -> None:
    answer = demo.get("/api/v1/assets/flights.departd/upstream")
    assert answer.status_code == 404
    assert "kafka://embedded/flights.departed" in answer.json()["nearest"]


def test_the_graph_is_all_that_flows_between_its_nodes(demo: httpx.Client) -> None:
    drawn = demo.get("/api/v1/graph?asset=flights.enriched&depth=all&direction=both&columns=all").json()
    nodes = {node["asset"]["key"]: node for node in drawn["nodes"]}
    names = {node["asset"]["title"]: node for node in drawn["nodes"]}
    assert nodes[drawn["start"]["key"]]["hops"] == 0
    assert names["flights.departed"]["hops"] == -1
    assert names["daily_report"]["hops"] == 2
    assert all(edge["source"] in nodes and edge["target"] in nodes and edge["via"] for edge in drawn["edges"])
    (edge,) = [
        each for each in drawn["edges"] if each["target"] == drawn["start"]["key"] and each["columns_total"] > 10
    ]
    columns = {column["name"] for column in names["flights.departed"]["columns"]}
    assert {each["source"] for each in edge["columns"] if each["source"]} <= columns
    assert drawn["metadata"]["nodes_total"] == len(nodes)
    assert not drawn["metadata"]["truncated"]
    # Narrowed, what is left out is counted.
    few = demo.get("/api/v1/graph?asset=flights.enriched&depth=all&limit=2").json()
    assert len(few["nodes"]) == 2
    assert few["metadata"]["truncated"]
    assert few["metadata"]["nodes_total"] == len(nodes)
    near = demo.get("/api/v1/graph?asset=flights.enriched&depth=1&direction=DOWNSTREAM").json()
    assert near["nodes"][0]["more_upstream"] > 0
    assert {node["hops"] for node in near["nodes"]} == {0, 1}


def test_a_timeline_reports_ranges_that_fit_together(demo: httpx.Client) -> None:
    line = demo.get("/api/v1/jobs/flights.enrich/timeline?limit=1000").json()
    (query,) = line["queries"]
    batches = [interval["batch_id"] for interval in line["intervals"]]
    assert batches == list(range(query["first_batch"], query["last_batch"] + 1))
    reached: dict[int, int] = {}
    for interval in line["intervals"]:
        assert (interval["missing_before"], interval["gaps"], interval["overlaps"]) == (0, [], [])
        (consumed,) = interval["consumed"]
        for span in consumed["ranges"]:
            assert span["start"] == reached.get(span["partition"], span["start"])
            reached[span["partition"]] = span["end"]
    assert [run["run_id"] for run in line["runs"]] == [RUN]
    half = line["intervals"][len(batches) // 2]["processing_time"]
    later = demo.get("/api/v1/jobs/flights.enrich/timeline", params={"from": half, "limit": 1_000}).json()
    assert [interval["batch_id"] for interval in later["intervals"]] == batches[len(batches) // 2 :]


def slow(reader: Reader, _question: object) -> None:
    """In the place of a question: one that would take minutes."""
    reader.read(lambda tx: list(tx._tx.run("UNWIND range(1, 10000000000) AS n WITH n WHERE n < 0 RETURN n")))


def running(driver: Driver) -> int:
    records = driver.execute_query(
        "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery CONTAINS 'n < 0 RETURN'"
    ).records
    return len([record for record in records if "SHOW" not in record["currentQuery"]])


def test_neo4j_ends_a_question_at_its_time_limit(
    graph: Graph, clean_database: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "lineage", slow)
    capped = replace(graph, serve=graph.serve.model_copy(update={"timeout_max_seconds": 1.0}))
    with client_of(capped) as client:
        for query, seconds in (("?timeout=1", "1 s"), ("?timeout=3600", "1 s"), ("", "1 s")):
            answer = client.get(f"/api/v1/assets/x/upstream{query}")
            assert (answer.status_code, answer.json()["type"]) == (504, "urn:headwater:time-limit")
            assert seconds in answer.json()["detail"]
    eventually(lambda: running(clean_database) == 0, expecting="Neo4j has ended the questions")


@pytest.mark.nightly
def test_a_question_that_is_given_up_ends_by_the_time_limit(
    graph: Graph, clean_database: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "lineage", slow)
    limit = round(patience(3))
    with client_of(graph) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.get(f"/api/v1/assets/x/upstream?timeout={limit}", timeout=limit / 3)
        eventually(lambda: running(clean_database) == 1, limit, expecting="the question runs on")
        eventually(lambda: running(clean_database) == 0, limit + 30, expecting="Neo4j has ended the question")
        assert client.get("/readyz").status_code == 200


def test_a_write_is_refused_by_the_database(
    graph: Graph, clean_database: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def writing(reader: Reader, _question: object) -> None:
        reader.read(lambda tx: list(tx._tx.run("CREATE (n:Written) RETURN n")))

    monkeypatch.setattr(routes, "lineage", writing)
    with client_of(graph) as client:
        assert client.get("/api/v1/assets/x/upstream").status_code == 500
    assert clean_database.execute_query("MATCH (n:Written) RETURN n").records == []


AWKWARD = [
    "`) DETACH DELETE n //",
    "$tenant {x} \\u0027 ' \"",
    "naïve 日本語 🜁",
    "a/b/../c//d",
    "100% %2F ?#&=+;",
    "line\nfeed\ttab",
    "x" * 10_240,
    "日" * 3_413,
]


def declared(job: str, source: tuple[str, str], target: tuple[str, str]) -> LineageEvent:
    body = JobEvent(inputs=(DatasetRef(*source),), outputs=(DatasetRef(*target),))
    return build.lineage_event(
        body, job=JobRef("default", job), producer="test", event_time=datetime(2025, 1, 1, tzinfo=UTC)
    )


@pytest.mark.nightly
def test_awkward_names_are_found_by_each_of_their_names(
    subtests: pytest.Subtests, client: httpx.Client, clean_database: Driver
) -> None:
    for name in AWKWARD:
        with subtests.test(name=name[:24]):
            delete_nodes(clean_database)
            writer = GraphWriter(clean_database, "neo4j")
            writer.ensure_schema()
            source, target = ("kafka://b:9092", name), ("s3://bucket", f"{name} 2")
            writer.apply(fold([declared(f"job of {name}", source, target)]))
            before = clean_database.execute_query("MATCH (n) RETURN count(n) AS nodes").records[0]["nodes"]
            first = client.get(f"/api/v1/assets/{quote(name, safe='')}/downstream")
            assert first.status_code == 200, first.text[:500]
            answer = first.json()
            assert (answer["start"]["namespace"], answer["start"]["name"]) == source
            (item,) = answer["items"]
            assert (item["asset"]["namespace"], item["asset"]["name"]) == target
            spelled = f"{source[0]}/{name}"
            for named in (answer["start"]["key"], quote(spelled, safe="")):
                assert client.get(f"/api/v1/assets/{named}/downstream").json() == answer
            drawn = client.get("/api/v1/graph", params={"asset": name})
            assert len(drawn.json()["nodes"]) == 2
            line = client.get(f"/api/v1/jobs/{quote(item['via'][0]['job']['name'], safe='')}/timeline")
            assert line.status_code == 200
            assert client.get("/api/v1/search", params={"q": name, "kind": "DATASET"}).status_code == 200
            after = clean_database.execute_query("MATCH (n) RETURN count(n) AS nodes").records[0]["nodes"]
            assert after == before
