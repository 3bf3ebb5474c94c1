"""Every question of the Browser's kit has an answer: on the demo's graph or, if it looks for faults, where some are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from neo4j import RoutingControl
from neo4j_browser_kit import load_favorites

from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from support.graph.cases import load_case

if TYPE_CHECKING:
    from neo4j import Driver
    from neo4j_browser_kit import Favorite

FAULTS = Path(__file__).parents[2] / "recordings" / "neo4j_browser" / "faults.yaml"
FAVORITES = load_favorites()

pytestmark = [pytest.mark.nightly, pytest.mark.stack]


def rows(driver: Driver, favorite: Favorite) -> int:
    result = driver.execute_query(favorite.cypher, routing_=RoutingControl.READ, database_="neo4j")
    return len(result.records)


def test_on_the_demo_each_question_finds_something_but_no_faults(demo_graph: Driver) -> None:
    found = {favorite.title: rows(demo_graph, favorite) for favorite in FAVORITES}
    assert [one.title for one in FAVORITES if one.quiet and found[one.title]] == []
    assert [one.title for one in FAVORITES if not one.quiet and not found[one.title]] == []


def test_each_quiet_question_finds_its_fault(clean_database: Driver) -> None:
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(load_case(FAULTS).events))
    assert [one.title for one in FAVORITES if one.quiet and not rows(clean_database, one)] == []
