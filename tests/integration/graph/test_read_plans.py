"""Plans of all statements that answer questions: none reads everything there is, whatever there is most of."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.reader import statement
from headwater_graph import statement_files
from headwater_graph.write import GraphWriter
from support.graph.plans import sample, sampled_operators, scans

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
}


@pytest.mark.nightly
@pytest.mark.parametrize("most", ["HwDataset", "HwJob"])
def test_only_these_read_everything(demo_graph: Driver, most: str) -> None:
    GraphWriter(demo_graph, "neo4j").ensure_schema()
    with demo_graph.session(database="neo4j") as session:
        session.run("UNWIND range(1, 3000) AS n CREATE (:$($label) {key: 'k' + n})", label=most).consume()
    sample(demo_graph)
    questions = [each.name.removesuffix(".cypher") for each in files(PACKAGE).joinpath("cypher").iterdir()]
    asked = {f"{question}/{name}" for question in questions for name in statement_files.names(PACKAGE, question)}
    assert len(asked) > 100
    found = {name for name in sorted(asked) if scans(sampled_operators(demo_graph, statement(name)))}
    assert found == set(SCANNED)
