"""Pages of micro-batches come off the index in its order: nothing is sorted, whatever a query's million batches are."""

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
    "last": 9,
    "run": "r",
    "limit": 5,
    "looked_back": 5,
}


@pytest.mark.parametrize("name", ["intervals", "last_interval", "last_good_interval", "first_bad_interval"])
def test_in_the_order_of_the_index(clean_database: Driver, name: str) -> None:
    GraphWriter(clean_database, "neo4j").ensure_schema()
    with clean_database.session(database="neo4j") as session:
        plan = session.run("EXPLAIN " + statement(f"runs/{name}"), {"given": PARAMETERS}).consume().plan
    assert plan is not None
    operators = below_the_page(plan)
    assert "NodeIndexSeek" in operators or "NodeIndexSeekByRange" in operators, operators
    assert not SORTS & set(operators), operators


def below_the_page(plan: dict[str, Any]) -> list[str]:
    """Operators before the last LIMIT: what comes after sees a page alone."""
    found = [plan["operatorType"].split("@")[0]]
    for child in plan.get("children", ()):
        found += below_the_page(child)
    return found[found.index("Limit") :] if "Limit" in found else found
