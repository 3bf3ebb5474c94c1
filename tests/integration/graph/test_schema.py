"""Constraints, indexes and the graph's version; and that every statement finds its nodes by index."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from headwater_graph.facts.model import KEYED, STORED_LABELS
from headwater_graph.schema import GRAPH_VERSION
from headwater_graph.statements import names, statement
from headwater_graph.write import GraphVersionMismatch, GraphWriter
from support.graph.plans import SORTS, operators, sample, sampled_operators, scans

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


def test_every_node_and_keyed_relationship_is_unique_by_key(graph: Driver) -> None:
    with graph.session() as session:
        rows = session.run(
            "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties WHERE properties = ['key'] "
            "RETURN labelsOrTypes[0] AS of, type"
        )
        found = {row["of"]: row["type"] for row in rows}
    assert found == dict.fromkeys({*STORED_LABELS, "HwProgress"}, "UNIQUENESS") | dict.fromkeys(
        KEYED, "RELATIONSHIP_UNIQUENESS"
    )


def test_again_and_by_several_at_once(graph: Driver, writer: GraphWriter) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: writer.ensure_schema(), range(4)))
    with graph.session() as session:
        assert session.run("MATCH (v:HeadwaterGraph) RETURN count(v) AS n").single(strict=True)["n"] == 1


def test_the_graph_of_another_version_is_refused(graph: Driver, writer: GraphWriter) -> None:
    with graph.session() as session:
        session.run("MATCH (v:HeadwaterGraph) SET v.version = $v", v=GRAPH_VERSION + 1).consume()
    with pytest.raises(GraphVersionMismatch, match=f"version {GRAPH_VERSION + 1}") as raised:
        writer.ensure_schema()
    assert (raised.value.found, raised.value.expected) == (GRAPH_VERSION + 1, GRAPH_VERSION)


PARAMETERS: dict[str, Any] = {
    **{
        name: []
        for name in (
            *("rows", "keys", "jobs", "queries", "runs", "datasets", "versions", "columns", "plans"),
            *("derives", "influences", "generates"),
        )
    },
    "version": 1,
    "seconds": 1,
}


def test_every_write_statement_seeks_by_index(subtests: pytest.Subtests, graph: Driver) -> None:
    sample(graph)
    for name in sorted(set(names("write")) - {"await_indexes"}):
        with subtests.test(name):
            found = sampled_operators(graph, statement("write", name), batch=PARAMETERS, **PARAMETERS)
            assert not scans(found), found
            assert any("IndexSeek" in each for each in found), found


def test_neighbouring_segments_are_the_ends_of_an_index_range(graph: Driver) -> None:
    found = operators(graph, statement("write", "segments_beside"), batch={"rows": []})
    assert not SORTS & set(found), found
    # The one before, the segment itself, the one after.
    assert found.count("NodeIndexSeek") == 3
