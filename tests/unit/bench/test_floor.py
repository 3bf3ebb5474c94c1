"""The floor's transactions: everything once, and nothing before what it needs."""

from __future__ import annotations

from collections import Counter

import pytest

from headwater_benchmarks.ingest import benchmark
from headwater_benchmarks.ingest.floor import FinalGraph, RelationshipKind, create_nodes, phases
from headwater_benchmarks.workload import Mixture
from headwater_graph.facts.model import Label, RelType
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_graph.write import transaction

pytestmark = pytest.mark.nightly

EVENTS = list(Mixture(3).take(400))
GRAPH = FinalGraph(EVENTS)


def test_the_final_graph_is_the_oracles_with_what_the_dump_does_not_show() -> None:
    kinds = GRAPH.by_kind()
    count = sum(map(len, GRAPH.nodes.values())) + sum(map(len, kinds.values()))
    assert count == len(list(oracle(fold(EVENTS))))
    assert RelationshipKind(RelType.NEXT, Label.INTERVAL, Label.INTERVAL) in kinds
    assert RelationshipKind(RelType.DERIVES, Label.COLUMN, Label.COLUMN) in kinds
    assert all("_stamp" in node and "_words" in node for node in GRAPH.nodes[Label.JOB] if "owners" in node)
    assert all(value is not None for node in GRAPH.nodes[Label.RUN] for value in node.values())


def test_everything_is_written_once_and_other_ends_are_there_before() -> None:
    nodes: Counter[str] = Counter()
    relationships = 0
    for phase in phases(GRAPH):
        created: list[str] = []
        for commit in phase:
            rows = commit.parameters["rows"]
            assert 0 < len(rows) <= 500
            needed = {key for name, keys in commit.parameters.items() if name != "rows" for key in keys}
            for row in rows:
                if "node" in row:
                    created.append(row["node"]["key"])
                    relationships += sum(len(ties) for name, ties in row.items() if name != "node")
                else:
                    needed |= {row["start"], row["end"]}
                    relationships += 1
            assert needed <= nodes.keys()
        nodes.update(created)
    assert nodes == Counter(node["key"] for each in GRAPH.nodes.values() for node in each)
    assert relationships == sum(map(len, GRAPH.by_kind().values()))


def test_a_text_is_made_of_labels_and_types_alone() -> None:
    text = create_nodes(
        Label.COLUMN,
        [
            RelationshipKind(RelType.HAS_COLUMN, Label.DATASET, Label.COLUMN),
            RelationshipKind(RelType.INFLUENCES, Label.COLUMN, Label.DATASET),
        ],
    )
    assert text.count("UNWIND $Dataset AS key") == 1
    assert "CREATE (x)-[r:HAS_COLUMN]->(n)" in text
    assert "CREATE (n)-[r:INFLUENCES]->(x)" in text


def test_the_sink_keeps_its_plans_as_headwater_does() -> None:
    assert benchmark.KEEP_PLAN == transaction._KEEP_PLAN
