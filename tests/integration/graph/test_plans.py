"""Plans of the statements that write: they are kept however the graph grows, so those of an empty graph must do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater_benchmarks.workload.mixture import Mixture
from headwater_consumers.graph.statements import names, statement
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.write import GraphWriter

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

WRITES = sorted(set(names("write")) - {"await_indexes", "graph_version"})


def operators(plan: dict[str, Any]) -> set[str]:
    """Of a plan and all that is below it, but for where a property is remembered that was read."""
    own = {plan["operatorType"].split("@")[0]} - {"CacheProperties"}
    return own.union(*(operators(child) for child in plan.get("children", ())))


def planned(driver: Driver, name: str) -> set[str]:
    """The operators that the database would use for a statement now."""
    with driver.session() as session:
        session.run("CALL db.clearQueryCaches()").consume()
        plan = session.run("EXPLAIN " + statement("write", name)).consume().plan
    assert plan is not None
    return operators(plan)


def scans(operators: set[str]) -> set[str]:
    """Those that look at everything there is of a kind."""
    return {operator for operator in operators if "Scan" in operator}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_scanned_by_the_plan_of_an_empty_graph(graph: Driver, name: str) -> None:
    assert scans(planned(graph, name)) == set()


def test_the_check_knows_a_scan(graph: Driver) -> None:
    with graph.session() as session:
        plan = session.run("EXPLAIN MATCH (n:Job) WHERE n.name = 'a' RETURN n").consume().plan
    assert plan is not None
    assert scans(operators(plan)) == {"NodeByLabelScan"}


@pytest.mark.timeout(300)
def test_a_graph_that_has_grown_would_be_written_by_the_same_operators(graph: Driver, writer: GraphWriter) -> None:
    before = {name: planned(graph, name) for name in WRITES}
    events = list(Mixture(1).take(2_000))
    for at in range(0, len(events), 500):
        writer.apply(fold(events[at : at + 500]))
    after = {name: planned(graph, name) for name in WRITES}
    assert before == after
