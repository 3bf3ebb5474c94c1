"""Plans of the statements that write: they are kept however the graph grows, so those of an empty graph must do."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.workload import Mixture
from headwater_graph.fold import fold
from headwater_graph.statements import names, statement
from headwater_graph.write import GraphWriter
from support.events import FULL_EVENTS
from support.graph.plans import operators, scans, used_plans

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

WRITES = sorted(set(names("write")) - {"await_indexes", "graph_version"})


def planned(driver: Driver, name: str) -> set[str]:
    """The operators that the database would use for a statement now, but for where it keeps a property it has read."""
    return set(operators(driver, statement("write", name))) - {"CacheProperties"}


def test_the_check_knows_a_scan(graph: Driver) -> None:
    assert scans(operators(graph, "MATCH (n:HwJob) WHERE n.name = 'a' RETURN n")) == {"NodeByLabelScan"}


@pytest.mark.nightly
def test_statements_are_run_without_scans(graph: Driver, writer: GraphWriter) -> None:
    """A plan that reads all columns for each changed one, made while the graph is new, is kept until a restart."""
    with used_plans(graph) as used:
        events = list(Mixture(1).take(1_000))
        for at in range(0, len(events), 200):
            writer.apply(fold(events[at : at + 200]))
        for event in FULL_EVENTS.values():
            writer.apply(fold([event()]))
    assert {"columns", "update_columns", "links", "runs", "segments", "incidents", "declarations"} <= used.keys()
    assert {name: found for name, plan in used.items() if (found := scans(plan))} == {}


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_a_graph_that_has_grown_would_be_written_by_the_same_operators(graph: Driver, writer: GraphWriter) -> None:
    before = {name: planned(graph, name) for name in WRITES}
    events = list(Mixture(1).take(2_000))
    for at in range(0, len(events), 500):
        writer.apply(fold(events[at : at + 500]))
    after = {name: planned(graph, name) for name in WRITES}
    assert before == after


def test_what_is_applied_again_changes_each_job_and_dataset_first(graph: Driver, writer: GraphWriter) -> None:
    """Else Neo4j would plan what follows once more, for transactions that have changed nothing yet."""
    delta = fold(list(Mixture(1).take(50)))
    found = []
    for _ in range(4):
        writer.apply(delta)
        records, _, _ = graph.execute_query("MATCH (n:HwJob|HwDataset) RETURN n.key AS key, n._l AS lock")
        found.append({record["key"]: record["lock"] for record in records})
    for before, after in pairwise(found):
        assert before.keys() == after.keys()
        assert all(before[key] != after[key] for key in before)
