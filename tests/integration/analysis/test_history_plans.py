"""Pages of micro-batches come off the index of segments in its order, and nothing is sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater_consumers.analysis.reader import statement
from headwater_consumers.materializer.write import GraphWriter

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

SORTS = {"Sort", "Top", "Top1WithTies", "PartialSort", "PartialTop"}
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


@pytest.mark.parametrize(
    "name", ["runs/last_passed", "runs/first_failed", "micro_batches/from", "micro_batches/before", "timeline/overview"]
)
def test_in_the_order_of_the_index(clean_database: Driver, name: str) -> None:
    GraphWriter(clean_database, "neo4j").ensure_schema()
    with clean_database.session(database="neo4j") as session:
        plan = session.run("EXPLAIN " + statement(name), {"given": PARAMETERS}).consume().plan
    assert plan is not None
    operators = below_the_page(plan)
    assert "NodeIndexSeek" in operators or "NodeIndexSeekByRange" in operators, operators
    assert not SORTS & set(operators), operators


@pytest.mark.parametrize("name", ["micro_batches/whole", "timeline/counts", "timeline/cut_segments"])
def test_segments_are_found_by_the_index(clean_database: Driver, name: str) -> None:
    GraphWriter(clean_database, "neo4j").ensure_schema()
    with clean_database.session(database="neo4j") as session:
        plan = session.run("EXPLAIN " + statement(name), {"given": PARAMETERS}).consume().plan
    assert plan is not None
    found = operators_of(plan)
    assert "NodeIndexSeek" in found or "NodeIndexSeekByRange" in found, found


def below_the_page(plan: dict[str, Any]) -> list[str]:
    """Operators before the last LIMIT: what comes after sees a page alone."""
    found = [plan["operatorType"].split("@")[0]]
    for child in plan.get("children", ()):
        found += below_the_page(child)
    return found[found.index("Limit") :] if "Limit" in found else found


def operators_of(plan: dict[str, Any]) -> list[str]:
    """All of them."""
    children = (each for child in plan.get("children", ()) for each in operators_of(child))
    return [plan["operatorType"].split("@")[0], *children]
