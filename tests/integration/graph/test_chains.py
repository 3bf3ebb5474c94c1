"""Findings of check_chains on sound and broken chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_graph.chains import check_chains
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from support.graph.cases import FOLDER, load_case
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

EXPECTED = {
    # case: intervals, missing batches, offset gaps, overlaps, conflicts
    "interval_of_several_batches": (2, 0, 0, 0, 0),
    "chain_with_missing_batches": (2, 2, 0, 0, 0),
    "chain_with_gap_and_overlap": (3, 0, 1, 1, 0),
    "chain_where_nothing_can_be_compared": (3, 0, 0, 0, 0),
    "interval_conflict": (2, 0, 0, 0, 1),
    "run_of_a_streaming_query": (0, 0, 0, 0, 0),
}


def test_chain(subtests: pytest.Subtests, graph: Driver, writer: GraphWriter) -> None:
    for name, expected in EXPECTED.items():
        with subtests.test(name):
            delete_nodes(graph)
            writer.ensure_schema()
            writer.apply(fold(load_case(FOLDER / f"{name}.yaml").events))
            (chain,) = check_chains(graph)
            found = (chain.intervals, chain.missing_batches, chain.offset_gaps, chain.overlaps, chain.conflicts)
            assert found == expected
            assert chain.is_sound == (sum(expected[1:]) == 0)
            assert chain.gaps == chain.missing_batches + chain.offset_gaps
            assert (chain.tenant, chain.query_id) == ("default", "q1")


def test_a_chain_that_begins_late_lacks_what_was_before(graph: Driver, writer: GraphWriter) -> None:
    case = load_case(FOLDER / "chain_with_missing_batches.yaml")
    writer.apply(fold(case.events[1:]))
    (chain,) = check_chains(graph)
    assert (chain.first_batch, chain.last_batch, chain.missing_batches) == (3, 3, 3)
