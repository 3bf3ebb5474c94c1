"""Details of hops: every hop between the assets of a page, and its effect on columns."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.lineage import LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter
from support.analysis.dense_events import dense_events
from support.analysis.naive_lineage import NaiveGraph

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack


@pytest.fixture
def naive(clean_database: Driver) -> NaiveGraph:
    delta = fold(dense_events(random.Random(7)))
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(delta)
    return NaiveGraph.of(oracle(delta), "default")


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
