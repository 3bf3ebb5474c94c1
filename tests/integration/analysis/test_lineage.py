"""Lineage agrees with what is reached by definition, on graphs of colliding events, now and at any time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.lineage import (
    Influence,
    Lineage,
    LineageDirection,
    LineageQuestion,
    lineage,
)
from headwater_analysis.reader import Reader
from headwater_schemas.identity import micros
from support.analysis.dense_events import hold_dense
from support.analysis.naive_lineage import Hop, NaiveGraph, reach
from support.analysis.paging import pages
from support.gate import first_in_gate, in_gate
from support.graph.colliding import START

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

TENANT = "default"
TIMES = [None, START + timedelta(seconds=8), START + timedelta(seconds=20)]
NAMESPACES = ("kafka://b:9092", "s3://bucket", "file")
BOTH = list(LineageDirection)
Graph = tuple[NaiveGraph, Reader]


@pytest.fixture(params=first_in_gate(1, [1, 2]))
def graph(request: pytest.FixtureRequest, neo4j_driver: Driver, reader: Reader) -> Graph:
    return hold_dense(neo4j_driver, request.param), reader


def some(keys: list[str]) -> list[str]:
    """A few of them, the same ones each time: a question takes some hundredths of a second."""
    return keys[:: 12 if in_gate() else 4]


def stamp(time: datetime | None) -> int | None:
    return None if time is None else micros(time)


def found(answer: Lineage) -> dict[str, tuple[bool, int]]:
    return {item.asset.key: (item.influence is not Influence.INDIRECT, item.hops) for item in answer.items}


def check_shape(answer: Lineage, hops: list[Hop]) -> None:
    """Totals are those of the items; parents lead to the start by edges that there are; nothing comes twice."""
    assert answer.total == len(answer.items) == len({item.asset.key for item in answer.items})
    assert answer.max_hops == max((item.hops for item in answer.items), default=0)
    shown = {answer.start.key, *(item.asset.key for item in answer.items)}
    itself = {hop.source for hop in hops if hop.source == hop.target}
    assert {loop.source: loop.target for loop in answer.loops} == {key: key for key in itself & shown}
    assert all(loop.via for loop in answer.loops)
    edges = {(hop.source, hop.target, hop.hops) for hop in hops}
    places = {(item.asset.key, item.influence): item for item in (*answer.items, *answer.through)}
    for item in places.values():
        down = answer.direction is LineageDirection.DOWNSTREAM
        ends = (item.parent, item.asset.key) if down else (item.asset.key, item.parent)
        at_start = item.parent == answer.start.key
        before = 0 if at_start else places[item.parent, item.parent_influence].hops
        assert (*ends, item.hops - before) in edges
        assert bool(item.via) == (item.hops > before)


@pytest.mark.parametrize("direction", BOTH)
def test_datasets(graph: Graph, direction: LineageDirection) -> None:
    naive, reader = graph
    compared = 0
    for as_of in TIMES:
        for since in (None, START + timedelta(seconds=2)):
            hops = naive.dataset_hops(stamp(as_of), stamp(since))
            for start in naive.labelled("Dataset")[:: 3 if in_gate() else 1]:
                for depth in (1, 2, None):
                    question = LineageQuestion(start, direction, depth=depth, as_of=as_of, since=since, limit=1_000)
                    answer = lineage(reader, question)
                    expected = reach(hops, start, upstream=direction is LineageDirection.UPSTREAM, depth=depth)
                    assert found(answer) == expected
                    everything = reach(hops, start, upstream=direction is LineageDirection.UPSTREAM, depth=None)
                    assert answer.truncated == (len(everything) > len(expected))
                    check_shape(answer, hops)
                    compared += len(expected)
    assert compared > 20


@pytest.mark.parametrize("direction", BOTH)
def test_columns(graph: Graph, direction: LineageDirection) -> None:
    naive, reader = graph
    upstream, compared, both = direction is LineageDirection.UPSTREAM, 0, set()
    for as_of in TIMES:
        since = None if as_of is None else START + timedelta(seconds=2)
        hops = naive.column_hops(stamp(as_of), stamp(since), upstream=upstream)
        for start in some(naive.labelled("Column")):
            node = naive.nodes[start]
            for depth in (1, 2, None):
                question = LineageQuestion(
                    node["dataset"], direction, node["name"], depth, as_of=as_of, since=since, limit=1_000
                )
                answer = lineage(reader, question)
                expected = reach(hops, start, upstream=upstream, depth=depth)
                assert found(answer) == expected
                assert (answer.direct, answer.indirect) == (
                    sum(is_direct for is_direct, _ in expected.values()),
                    sum(not is_direct for is_direct, _ in expected.values()),
                )
                check_shape(answer, hops)
                for influence in Influence if depth is None else ():
                    apart = lineage(reader, replace(question, influence=influence))
                    wanted = influence is Influence.DIRECT
                    assert found(apart) == {key: way for key, way in expected.items() if way[0] is wanted}
                compared += len(expected)
                both |= {is_direct for is_direct, _ in expected.values()}
    assert compared > 20
    assert both == {True, False}


@pytest.mark.nightly
@pytest.mark.parametrize("direction", BOTH)
def test_pages_put_together_are_the_whole(graph: Graph, direction: LineageDirection) -> None:
    naive, reader = graph
    seen = 0
    for start in some(naive.labelled("Column")):
        node = naive.nodes[start]
        question = LineageQuestion(node["dataset"], direction, node["name"], None, limit=1_000)
        whole = lineage(reader, question)
        for limit in (2, 7):
            some_of_it = replace(question, limit=limit)
            found = pages(lambda cursor=None, asked=some_of_it: lineage(reader, replace(asked, cursor=cursor)))
            for page in found:
                assert (page.total, page.max_hops, page.truncated) == (whole.total, whole.max_hops, whole.truncated)
                check_connected(page)
            assert tuple(item for page in found for item in page.items) == whole.items
            seen += len(found)
    assert seen > 20


def check_connected(page: Lineage) -> None:
    places = {(item.asset.key, item.influence) for item in (*page.items, *page.through)}
    for item in (*page.items, *page.through):
        assert item.parent == page.start.key or (item.parent, item.parent_influence) in places
    assert not {(i.asset.key, i.influence) for i in page.items} & {(i.asset.key, i.influence) for i in page.through}


@pytest.mark.parametrize("direction", BOTH)
def test_hops_of_some_jobs_alone(graph: Graph, direction: LineageDirection) -> None:
    naive, reader = graph
    jobs = naive.labelled("Job")[:2]
    hops = [hop for hop in naive.dataset_hops(None, None) if hop.job in jobs]
    for start in naive.labelled("Dataset"):
        question = LineageQuestion(start, direction, depth=None, limit=1_000)
        question = replace(question, filters=replace(question.filters, jobs=tuple(jobs)))
        answer = lineage(reader, question)
        assert found(answer) == reach(hops, start, upstream=direction is LineageDirection.UPSTREAM, depth=None)
        check_shape(answer, hops)


def test_what_filters_leave_out_is_passed_through(graph: Graph) -> None:
    naive, reader = graph
    shown = 0
    for start in naive.labelled("Dataset"):
        question = LineageQuestion(start, LineageDirection.DOWNSTREAM, depth=None, limit=1_000)
        everything = lineage(reader, question)
        for types, tags in ((("table",), ()), ((), ("pii=email",)), (("TABLE",), ("gold",)), ((), ())):
            filters = replace(question.filters, types=types, tags=tags, namespaces=NAMESPACES)
            answer = lineage(reader, replace(question, filters=filters))
            left = {key for key in found(everything) if leaves(naive, key, types, tags)}
            assert found(answer) == {key: way for key, way in found(everything).items() if key in left}
            check_connected(answer)
            shown += answer.total
    assert shown


@pytest.mark.nightly
@pytest.mark.parametrize("direction", BOTH)
def test_columns_have_the_tags_of_their_own_and_of_the_whole_dataset(graph: Graph, direction: LineageDirection) -> None:
    naive, reader = graph
    shown = 0
    for start in some(naive.labelled("Column")):
        node = naive.nodes[start]
        question = LineageQuestion(node["dataset"], direction, node["name"], None, limit=1_000)
        everything = lineage(reader, question)
        for tags in (("gold",), ("pii=email",), ("pii", "gold")):
            filters = replace(question.filters, types=("table",), tags=tags, namespaces=NAMESPACES)
            answer = lineage(reader, replace(question, filters=filters))
            left = {key for key in found(everything) if leaves(naive, key, ("table",), tags)}
            assert found(answer) == {key: way for key, way in found(everything).items() if key in left}
            check_connected(answer)
            shown += answer.total
    assert shown


def leaves(naive: NaiveGraph, key: str, types: tuple[str, ...], tags: tuple[str, ...]) -> bool:
    """True if the filters leave a dataset, or a column by its dataset's facts and its own tags."""
    node = naive.nodes[key]
    dataset = naive.nodes[node["dataset"]] if node["label"] == "Column" else node
    lists = (dataset.get(name) or () for name in ("tags", "tag_values", "tag_fields"))
    had = {
        spelled
        for tag, value, field in zip(*lists, strict=True)
        if node["label"] == "Dataset" or field in ("", node["name"])
        for spelled in (tag, f"{tag}={value}")
    }
    of_type = not types or dataset.get("type") == "TABLE"
    return dataset["namespace"] in NAMESPACES and of_type and (not tags or bool(had & set(tags)))


@pytest.fixture
def naive(neo4j_driver: Driver) -> NaiveGraph:
    return hold_dense(neo4j_driver, 7)


@pytest.mark.parametrize("direction", LineageDirection)
def test_hops_between_datasets(naive: NaiveGraph, reader: Reader, direction: LineageDirection) -> None:
    pairs = {(hop.source, hop.target) for hop in naive.dataset_hops(None, None)}
    jobs = {(hop.source, hop.target, hop.job) for hop in naive.dataset_hops(None, None)}
    for start in naive.labelled("Dataset"):
        answer = lineage(reader, LineageQuestion(start, direction, depth=None, edges=True, limit=3))
        shown = {start, *(item.asset.key for item in (*answer.items, *answer.through))}
        found = {(edge.source, edge.target) for edge in answer.edges}
        assert found == {pair for pair in pairs if shown.issuperset(pair)}
        assert len(found) == len(answer.edges)
        for edge in answer.edges:
            made = {job for source, target, job in jobs if (source, target) == (edge.source, edge.target)}
            assert {via.job.key for via in edge.via} == made
            assert edge.via_total == len(made)


@pytest.mark.parametrize("direction", LineageDirection)
def test_hops_between_columns(naive: NaiveGraph, reader: Reader, direction: LineageDirection) -> None:
    upstream = direction is LineageDirection.UPSTREAM
    pairs = {(hop.source, hop.target) for hop in naive.column_hops(None, None, upstream=upstream)}
    for start in naive.labelled("Column")[::5]:
        node = naive.nodes[start]
        answer = lineage(
            reader, LineageQuestion(node["dataset"], direction, node["name"], None, edges=True, limit=1_000)
        )
        shown = {start, *(item.asset.key for item in (*answer.items, *answer.through))}
        assert {(edge.source, edge.target) for edge in answer.edges} == {
            pair for pair in pairs if shown.issuperset(pair)
        }


@pytest.mark.parametrize("direction", LineageDirection)
def test_columns_along_hops_between_datasets(naive: NaiveGraph, reader: Reader, direction: LineageDirection) -> None:
    owner = {each["end"]: each["start"] for each in naive.relationships["HAS_COLUMN"]}
    name = {key: node["name"] for key, node in naive.nodes.items() if node["label"] == "Column"}
    edges = [edge for edge in naive.holding(None, None) if edge["sort"] != "GENERATES"]
    compared = 0
    for start in naive.labelled("Dataset"):
        answer = lineage(reader, LineageQuestion(start, direction, depth=None, columns=True))
        for item in answer.items:
            ends = (item.parent, item.asset.key)
            source, target = ends if direction is LineageDirection.DOWNSTREAM else ends[::-1]
            expected = sorted(
                (name.get(edge["start"], ""), name.get(edge["end"], ""), edge["job"], edge["kind"], edge["masking"])
                for edge in edges
                if (owner.get(edge["start"], edge["start"]), owner.get(edge["end"], edge["end"])) == (source, target)
            )
            assert expected == sorted(
                (each.source or "", each.target or "", each.job, each.transformation.kind, each.transformation.masking)
                for each in item.columns
            )
            assert item.columns_total == len(expected)
            compared += len(expected)
    assert compared > 40
