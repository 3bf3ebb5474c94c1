"""The floor's shapes: everything once, and nothing before what it needs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from headwater_benchmarks.ingest.floor.graph import FinalGraph, Kind, Packed, final_graph, segment_graph
from headwater_benchmarks.ingest.floor.shapes import SHAPES, Phase, Shape, by_owner
from headwater_benchmarks.ingest.floor.statements import create_owners
from headwater_benchmarks.ingest.topic import in_memory
from headwater_benchmarks.workload.mixture import Mixture
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label, RelType
from headwater_graph.oracle import oracle

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def delta() -> GraphDelta:
    return in_memory(list(Mixture(3).take(400)))


@pytest.fixture(scope="module")
def graph(delta: GraphDelta) -> FinalGraph:
    return final_graph(delta)


def test_the_final_graph_is_the_oracles(delta: GraphDelta, graph: FinalGraph) -> None:
    nodes, relationships = graph.size
    assert nodes + relationships == len(list(oracle(delta)))
    assert Kind(RelType.NEXT, Label.INTERVAL, Label.INTERVAL) in graph.relationships
    assert Kind(RelType.DERIVES, Label.COLUMN, Label.COLUMN) in graph.relationships


def test_it_has_what_the_consumer_stores_and_the_dump_does_not_show(graph: FinalGraph) -> None:
    assert all("_stamp" in node and "_words" in node for node in graph.nodes[Label.JOB] if "owners" in node)
    assert all("_stamp" in node for node in graph.nodes[Label.INTERVAL])
    assert all(value is not None for node in graph.nodes[Label.RUN] for value in node.values())


def test_with_segments_all_but_micro_batches_is_the_same(delta: GraphDelta, graph: FinalGraph) -> None:
    packed = segment_graph(delta)
    micro_batches = {Label.INTERVAL, Label.CONFLICT}
    assert {label: len(rows) for label, rows in packed.nodes.items() if label is not Packed.SEGMENT} == {
        label: len(rows) for label, rows in graph.nodes.items() if label not in micro_batches
    }
    segments = packed.nodes[Packed.SEGMENT]
    assert sum(segment["batches"] for segment in segments) == len(graph.nodes[Label.INTERVAL])
    for type_, end in ((RelType.IN_QUERY, Label.QUERY), (RelType.IN_RUN, Label.RUN), (RelType.PRODUCED, Label.DATASET)):
        starts = [row.start for row in packed.relationships[Kind(type_, Packed.SEGMENT, end)]]
        assert set(starts) == {segment["key"] for segment in segments}
    nodes, relationships = written(SHAPES[1].phases(packed, 1_000))
    assert (nodes.total(), relationships) == packed.size


def test_a_shape_writes_everything_once(subtests: pytest.Subtests, graph: FinalGraph) -> None:
    for shape in SHAPES:
        for rows in (7, 1_000):
            with subtests.test(shape=shape.name, rows=rows):
                nodes, relationships = written(shape.phases(graph, rows))
                assert nodes == Counter(node["key"] for each in graph.nodes.values() for node in each)
                assert relationships == graph.size[1]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_transaction_has_more_rows_than_it_may(graph: FinalGraph, shape: Shape) -> None:
    for phase in shape.phases(graph, 50):
        assert all(0 < len(commit.parameters["rows"]) <= 50 for commit in phase)


def test_an_owner_is_created_once_its_other_ends_are_there(graph: FinalGraph) -> None:
    there: set[str] = set()
    for phase in by_owner(graph, 100):
        needed: set[str] = set()
        for commit in phase:
            for name, value in commit.parameters.items():
                if name != "rows":
                    needed |= set(value)
            needed |= {row[end] for row in commit.parameters["rows"] for end in ("start", "end") if end in row}
        assert needed <= there
        there |= {key for commit in phase for key in created(commit.parameters["rows"])}


def test_a_text_is_made_of_labels_and_types_alone() -> None:
    text = create_owners(
        Label.COLUMN,
        [
            Kind(RelType.HAS_COLUMN, Label.DATASET, Label.COLUMN),
            Kind(RelType.INFLUENCES, Label.COLUMN, Label.DATASET),
        ],
    )
    assert text.count("UNWIND $Dataset AS key") == 1
    assert "CREATE (x)-[r:HAS_COLUMN]->(n)" in text
    assert "CREATE (n)-[r:INFLUENCES]->(x)" in text


def written(phases: list[Phase]) -> tuple[Counter[str], int]:
    """Keys of the nodes that are created, and how many relationships are."""
    nodes: Counter[str] = Counter()
    relationships = 0
    for phase in phases:
        for commit in phase:
            rows = commit.parameters["rows"]
            nodes.update(created(rows))
            relationships += sum("start" in row for row in rows)
            relationships += sum(
                len(ties) for row in rows if "node" in row for name, ties in row.items() if name != "node"
            )
    return nodes, relationships


def created(rows: list[dict[str, Any]]) -> list[str]:
    """Keys of the nodes that these rows create."""
    return [row["node"]["key"] if "node" in row else row["key"] for row in rows if "start" not in row]
