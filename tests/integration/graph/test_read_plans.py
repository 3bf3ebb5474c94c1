"""Plans of statements that answer questions: none reads everything, and micro-batches come off their index in order."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.filtered import filtered
from headwater_analysis.reader import UNFILTERED, statement
from headwater_graph import statement_files
from headwater_graph.write import GraphWriter
from support.graph.plans import SORTS, operators, sample, sampled_operators, scans

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

PACKAGE = "headwater_analysis"
SCANNED = {
    "blast/queries_by_name": "one label, asked with a name that may be an id, a name or both",
    "blast/queries_by_prefix": "one label, after the name wasn't found",
    "diff/changed_jobs": "all plans, for the differences of everything between two times",
    "known/count_broken_chains": "an index of nothing but broken chains",
    "known/count_datasets": "counts all, when all are listed",
    "known/count_jobs": "counts all, when all are listed",
    "service/counts": "counts all",
}


def every_name() -> set[str]:
    questions = [each.name.removesuffix(".cypher") for each in files(PACKAGE).joinpath("cypher").iterdir()]
    found = {f"{question}/{name}" for question in questions for name in statement_files.names(PACKAGE, question)}
    assert len(found) > 100
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("most", ["HwDataset", "HwJob"])
def test_only_these_read_everything(demo_graph: Driver, most: str) -> None:
    GraphWriter(demo_graph, "neo4j").ensure_schema()
    with demo_graph.session(database="neo4j") as session:
        session.run("UNWIND range(1, 3000) AS n CREATE (:$($label) {key: 'k' + n})", label=most).consume()
    sample(demo_graph)
    found = {name for name in sorted(every_name()) if scans(sampled_operators(demo_graph, statement(name)))}
    assert found == set(SCANNED)


@pytest.mark.nightly
def test_the_database_takes_each_as_it_is_filtered(demo_graph: Driver) -> None:
    sample(demo_graph)
    for name in sorted(every_name() - UNFILTERED):
        assert "AllNodesScan" not in sampled_operators(demo_graph, filtered(statement(name))), name


PARAMETERS: dict[str, Any] = {
    "query": "q",
    "after": 1,
    "first": 1,
    "size": 512,
    "places": 64,
    "blocks": 2,
    "segments": 2,
    **{name: [] for name in ("stretches", "queries", "probes")},
    "begin": None,
    "end": None,
}


ORDERED: list[str] = [
    "runs/last_passed",
    "runs/first_failed",
    "micro_batches/from",
    "micro_batches/before",
    "timeline/overview",
    "trace/probe_segments",
    "trace/probe_segment_times",
    "trace/contested",
]


def test_in_the_order_of_the_index(subtests: pytest.Subtests, clean_database: Driver) -> None:
    GraphWriter(clean_database, "neo4j").ensure_schema()
    for name in ORDERED:
        with subtests.test(name):
            found = operators(clean_database, statement(name), given=PARAMETERS)
            # Before the last LIMIT: what comes after it sees a page alone.
            found = found[found.index("Limit") :] if "Limit" in found else found
            assert "NodeIndexSeek" in found or "NodeIndexSeekByRange" in found, found
            assert not SORTS & set(found), found
