"""Neo4j Browser, in a real headless Chromium, signs in to the stack's Neo4j and draws a lineage graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from flow_layout import flow_layout
from neo4j_browser import NeoBrowserError, open_browser

from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver


FLOW = "MATCH flow = (:HwDataset)-[:FEEDS]->(:HwDataset) RETURN flow"
SEED = """
CREATE (departed:HwDataset {name: 'departed', title: 'departed'}),
       (enriched:HwDataset {name: 'enriched', title: 'enriched'}),
       (departed)-[:FEEDS]->(enriched),
       (planes:HwDataset {name: '/data/planes', title: 'planes'})-[:FEEDS]->(enriched),
       (enriched)-[:FEEDS]->(:HwDataset {name: '/data/report', title: 'report'})
"""
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(180)]


def test_a_lineage_graph_is_drawn_from_left_to_right(
    chromium_path: str, stack: StackUnderTest, clean_database: Driver, tmp_path: Path
) -> None:
    clean_database.execute_query(SEED, database_="neo4j")
    with open_browser(chromium_path) as browser:
        browser.sign_in(
            stack.browser_url, bolt_uri=stack.neo4j_uri, user=stack.neo4j_user, password=stack.neo4j_password
        )
        drawn = browser.draw(FLOW)
        name = {node.id: node.name for node in drawn.nodes}
        assert {node.label for node in drawn.nodes} == {"HwDataset"}
        assert {(name[arrow.source], arrow.type, name[arrow.target]) for arrow in drawn.arrows} == {
            ("departed", "FEEDS", "enriched"),
            ("/data/planes", "FEEDS", "enriched"),
            ("enriched", "FEEDS", "/data/report"),
        }

        browser.arrange(
            drawn, flow_layout([node.id for node in drawn.nodes], [(one.source, one.target) for one in drawn.arrows])
        )
        captions = browser.captions()
        assert sorted(captions) == ["departed", "enriched", "planes", "report"]
        assert captions["departed"] < captions["enriched"] < captions["report"], "not left to right"

        picture = tmp_path / "lineage.png"
        browser.save(picture)
    assert picture.read_bytes().startswith(PNG_SIGNATURE)


def test_a_wrong_password_is_an_error_that_does_not_show_it(chromium_path: str, stack: StackUnderTest) -> None:
    with open_browser(chromium_path) as browser, pytest.raises(NeoBrowserError, match="Unauthorized") as refused:
        browser.sign_in(stack.browser_url, bolt_uri=stack.neo4j_uri, user=stack.neo4j_user, password="not-the-password")
    assert "not-the-password" not in str(refused.value)
