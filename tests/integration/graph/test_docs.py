"""The queries of docs/graph.md run, and name nothing that the graph doesn't have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_graph.write.retention import retire
from support.graph.cases import load_cases

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

PAGE = (Path(__file__).parents[3] / "docs" / "graph.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```cypher\n(// ([^\n]*)\n.*?)```", PAGE, re.DOTALL)


def test_the_queries_of_the_page(graph: Driver, writer: GraphWriter) -> None:
    for case in load_cases():
        # A tenant for each: in one graph, a case would fill in the micro-batches that another is about the lack of.
        writer.apply(fold([replace(event, tenant=case.path.stem) for event in case.events]))
    retire(graph, None, lambda _moved, _left: None)  # so that there are summaries
    assert len(QUERIES) >= 4
    for text, title in QUERIES:
        with graph.session() as session:
            summary = session.run(text).consume()
        unknown = [n["title"] for n in summary.notifications or () if "Unknown" in n["code"]]
        assert unknown == [], title
