"""Pages of micro-batches come off the index of segments in its order, and nothing is sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_analysis.reader import statement
from headwater_graph.write import GraphWriter
from support.graph.plans import SORTS, operators

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

PARAMETERS = {
    "query": "q",
    "after": 1,
    "first": 1,
    "size": 512,
    "places": 64,
    "blocks": 2,
    "segments": 2,
    "stretches": [],
    "queries": [],
    "begin": None,
    "end": None,
}


ORDERED: list[str] = [
    "runs/last_passed",
    "runs/first_failed",
    "micro_batches/from",
    "micro_batches/before",
    "timeline/overview",
]


def test_in_the_order_of_the_index(subtests: pytest.Subtests, clean_database: Driver) -> None:
    for name in ORDERED:
        with subtests.test(name):
            GraphWriter(clean_database, "neo4j").ensure_schema()
            found = operators(clean_database, statement(name), given=PARAMETERS)
            # Before the last LIMIT: what comes after it sees a page alone.
            found = found[found.index("Limit") :] if "Limit" in found else found
            assert "NodeIndexSeek" in found or "NodeIndexSeekByRange" in found, found
            assert not SORTS & set(found), found


def test_segments_are_found_by_the_index(subtests: pytest.Subtests, clean_database: Driver) -> None:
    for name in ("micro_batches/whole", "timeline/counts", "timeline/cut_segments"):
        with subtests.test(name):
            GraphWriter(clean_database, "neo4j").ensure_schema()
            found = operators(clean_database, statement(name), given=PARAMETERS)
            assert "NodeIndexSeek" in found or "NodeIndexSeekByRange" in found, found
