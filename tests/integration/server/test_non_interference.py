"""An asker who may not see everything gets the answers of a graph without what is hidden, byte for byte."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
import pytest

from headwater_analysis import reader
from headwater_analysis.filtered import filtered
from headwater_analysis.incidents.marks import MarkingReader
from headwater_analysis.reader import reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_analysis.visibility import Visible
from headwater_graph.connection import Neo4jTarget
from headwater_graph.fold import fold
from headwater_graph.keys import job_key
from headwater_graph.write import GraphWriter
from headwater_schemas.events import JobRef, LineageEvent, ParentRun, RunEvent, RunEventType, RunRef
from headwater_schemas.events.build import lineage_event
from headwater_server.asking import Graph
from headwater_server.identity import Identity
from headwater_server.settings import ServeSettings
from support.access.by_tool import tool_of
from support.access.questions import Names, Question, questions
from support.access.without import without
from support.api import client_of
from support.demo_graph import demo_events
from support.gate import in_gate
from support.graph.colliding import Pools, colliding_events
from support.graph.emptying import delete_nodes
from support.graph.writing import store
from support.mcp_client import call

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(1800)]

BY_TOOL = 3


@dataclass(frozen=True)
class Restricted(Graph):
    """A graph as one asker sees it."""

    visible: Visible | None = field(default=None)

    def reader(self, identity: Identity, timeout_seconds: float | None = None, *, operation: str = "") -> MarkingReader:
        of_all = super().reader(identity, timeout_seconds, operation=operation)
        of_all._visible = lambda: self.visible
        return of_all


def assets(events: Sequence[LineageEvent]) -> dict[str, str]:
    """Scope of each dataset, job and consumer, by key."""
    whole = fold(list(events))
    nodes: list[tuple[str, dict[str, Any]]] = [
        ("dataset", whole.datasets),
        ("job", whole.jobs),
        ("consumer", whole.consumers),
    ]
    return {key: f"{kind}:{node.identity.get('namespace', '')}" for kind, found in nodes for key, node in found.items()}


def policy(scopes: dict[str, str], seed: random.Random) -> tuple[frozenset[str], Visible]:
    """Keys of hidden assets, and the same as an asker has it: scopes with exceptions, and single assets."""
    hidden = frozenset(key for key in sorted(scopes) if seed.random() < seed.choice([0.1, 0.3, 0.6]))
    open_ = {scope for scope in sorted(set(scopes.values())) if seed.random() < 0.5}
    return hidden, Visible(
        scopes=frozenset(open_),
        hidden=frozenset(key for key, scope in scopes.items() if scope in open_ and key in hidden),
        also=frozenset(key for key, scope in scopes.items() if scope not in open_ and key not in hidden),
    )


def sound(event: LineageEvent) -> LineageEvent:
    """The event with runs and queries of one job each: what names several is the error of a producer."""
    job = event.job
    if job is None or (event.run is None and event.interval_event is None):
        return msgspec.structs.replace(event, tenant="default")
    changed: dict[str, Any] = {"tenant": "default"}
    if event.run is not None:
        changed["run"] = RunRef(f"{job.name}-{event.run.run_id}")
    if (interval := event.interval_event) is not None:
        query = f"{job.name}-{interval.query_id}"
        changed["interval_event"] = msgspec.structs.replace(interval, query_id=query)
    if (run := event.run_event) is not None:
        above = {
            role: None
            if (each := getattr(run, role)) is None
            else ParentRun(f"{each.job.name}-{each.run_id}", each.job)
            for role in ("parent", "root")
        }
        query_id = None if run.query_id is None else f"{job.name}-{run.query_id}"
        changed["run_event"] = msgspec.structs.replace(run, query_id=query_id, **above)
    return msgspec.structs.replace(event, **changed)


def answers(target: Neo4jTarget, asked: Sequence[Question], visible: Visible | None) -> Iterator[tuple[int, str, str]]:
    """Status, body and ETag of the answers; of every third question that a tool asks, too, by this tool."""
    graph = Restricted(reading_driver(target), target, AnalysisSettings(), ServeSettings(port=0), visible=visible)
    with client_of(graph) as client:
        for number, each in enumerate(asked):
            if number % BY_TOOL == 0 and (tool := tool_of(each)) is not None:
                result = call(client, *tool)
                (content,) = result["content"]
                yield result["structuredContent"].get("status", 413) if result["isError"] else 200, content["text"], ""
                continue
            method, _, template = each.operation.rpartition(" ")
            for name, value in each.path:
                template = template.replace(f"{{{name}}}", quote(value, safe=""))
            answer = client.request(method or "GET", f"/api/v1{template}", params=list(each.query), json=each.body)
            yield answer.status_code, answer.text, answer.headers.get("etag", "")


def differing(given: Sequence[object], wanted: Sequence[object]) -> str:
    """Bytes around the first one that differs between two answers."""
    first, other = (" ".join(map(str, answer)) for answer in (given, wanted))
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=False)))
    place = max(0, same - 100)
    return f"…{first[place : place + 200]} instead of …{other[place : place + 200]}"


def ends_of_runs(driver: Driver, visible: Visible) -> list[dict[str, Any]]:
    """Inferred ends of runs: that a visible run ended is told, also where a hidden run showed it."""
    rows, *_ = driver.execute_query(
        "MATCH (r:HwRun) WHERE r.inferred_by IS NOT NULL OPTIONAL MATCH (by:HwRun {run_id: r.inferred_by}) "
        "RETURN r {.key, .open, .inferred_state, .inferred_ended_at, .inferred_because, .inferred_by, "
        "._inferred_before} AS end, by._asset AS job, by._scope AS scope"
    )
    given = visible.given("default")
    return [
        {**row["end"], "inferred_by": row["end"]["inferred_by"] if is_shown(given, row["job"], row["scope"]) else None}
        for row in rows
    ]


def conflicts_of_runs(driver: Driver) -> list[dict[str, str]]:
    """Runs whose reports of micro-batches conflict with another's: that they do is told, also by hidden positions."""
    rows, *_ = driver.execute_query(
        "MATCH (s:HwSegment)-[:IN_RUN {batches: 0}]->(r:HwRun) RETURN s.key AS segment, r.key AS run"
    )
    return [row.data() for row in rows]


def is_shown(given: Mapping[str, list[str]], asset: str, scope: str) -> bool:
    return asset in given["also"] or (scope in given["scopes"] and asset not in given["hidden"])


def equal(question: Question, given: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Compare byte by byte; versions in any order, which the time of a conflicting report may decide."""
    if given == wanted or question.operation not in {"/assets/{id}", "/assets/{id}/versions"}:
        return given == wanted
    name = "versions" if question.operation == "/assets/{id}" else "items"
    found, other = (json.loads(text) for _, text, _ in (given, wanted))
    for each in (found, other):
        each[name] = sorted(each.get(name, []), key=lambda version: version["key"])
    return bool(given[0] == wanted[0] and found == other)


def compare(driver: Driver, target: Neo4jTarget, events: Sequence[LineageEvent], seed: int, count: int) -> list[str]:
    """Differences between the answers to an asker and those of the graph without what is hidden from it."""
    draw = random.Random(seed)
    hidden, visible = policy(assets(events), draw)
    asked = list(islice(questions(Names(events), draw), count))
    delete_nodes(driver)
    writer = GraphWriter(driver, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(list(events)))
    to_asker = list(answers(target, asked, visible))
    ends, conflicts = ends_of_runs(driver, visible), conflicts_of_runs(driver)
    delete_nodes(driver)
    writer.ensure_schema()
    writer.apply(without(events, hidden))
    driver.execute_query("UNWIND $ends AS end MATCH (r:HwRun {key: end.key}) SET r += end", ends=ends)
    driver.execute_query(
        "UNWIND $conflicts AS each MATCH (s:HwSegment {key: each.segment}), (r:HwRun {key: each.run}) "
        "MERGE (s)-[x:IN_RUN]->(r) ON CREATE SET x.batches = 0",
        conflicts=conflicts,
    )
    of_the_rest = list(answers(target, asked, Visible(frozenset(assets(events).values()))))
    return [
        f"{question}: {differing(given, wanted)}"
        for question, given, wanted in zip(asked, to_asker, of_the_rest, strict=True)
        if not equal(question, given, wanted) or given[0] == 500
    ]


@pytest.fixture(autouse=True)
def kept_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep Neo4j from planning statements again for each graph, which takes four times as long as running them."""
    monkeypatch.setattr(reader, "filtered", lambda text: f"CYPHER replan=skip {filtered(text)}")


def test_a_hidden_run_that_shows_the_end_of_another_is_not_named(clean_database: Driver, target: Neo4jTarget) -> None:
    def begun(job: str, run: str, minute: int, **more: Any) -> LineageEvent:
        body = RunEvent(type=RunEventType.START, **more)
        at = datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
        return lineage_event(body, job=JobRef("f", job), run=RunRef(run), producer="test", event_time=at)

    first, second = (ParentRun(run, JobRef("f", "app")) for run in ("a1", "a2"))
    query = [begun("query", "q1", 1, query_id="q", parent=first), begun("query", "q2", 9, query_id="q", parent=second)]
    store(clean_database, [begun("app", "a1", 0), *query])
    asked = [Question("/runs/{id}", (("id", "a1"),)), Question("/jobs/{id}/runs", (("id", "app"),)), Question("/runs")]
    keys = [job_key("default", "f", job) for job in ("app", "query")]
    for seen in (keys, keys[:1]):
        for (status, text, _), question in zip(
            answers(target, asked, Visible(frozenset(), also=frozenset(seen))), asked, strict=True
        ):
            assert status == 200, question
            assert '"inferred_because":"CHILDREN_CONTINUED"' in text, question
            assert ('"q2"' in text) == (seen == keys), question


def test_on_the_demo(clean_database: Driver, target: Neo4jTarget) -> None:
    found = compare(clean_database, target, demo_events(), 1, 20 if in_gate() else 60)
    assert not found, "\n".join(found)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 42))
def test_on_random_graphs(clean_database: Driver, target: Neo4jTarget, seed: int) -> None:
    pools = Pools(tenants=1, jobs=5, datasets=7, runs=8, queries=3, declarations=3)
    events = [sound(event) for event in colliding_events(random.Random(seed), 120, pools)]
    found = compare(clean_database, target, events, seed, 250)
    assert not found, "\n".join(found)
