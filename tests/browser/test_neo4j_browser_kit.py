"""Neo4j Browser, in a real headless Chromium, takes the kit as a person gives it: style, favourites and guide."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from neo4j_browser import open_browser
from neo4j_browser_kit import KIT, guide_server

from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver
    from neo4j_browser import NeoBrowser


DRAWN = "Which segment read an offset of a topic, drawn: its query, its runs, what it read and wrote"

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(240)]


@pytest.fixture
def browser(chromium_path: str, stack: StackUnderTest, demo_graph: Driver) -> Iterator[NeoBrowser]:
    with open_browser(chromium_path, styled=False) as opened:
        opened.sign_in(
            stack.browser_url, bolt_uri=stack.neo4j_uri, user=stack.neo4j_user, password=stack.neo4j_password
        )
        yield opened


def test_style_and_favourites_are_dropped_on_it_and_three_are_drawn(browser: NeoBrowser) -> None:
    browser.drop(KIT / "headwater.grass")
    browser.drop(KIT / "favorites.zip")

    browser.open_favorite("Headwater 1 lineage", "Around a dataset: two hops each way")
    lineage = browser.draw()
    assert {node.label for node in lineage.nodes} == {"HwDataset"}
    assert len(lineage.nodes) == 9, "all of the demo's datasets but the weather"
    assert "flights.enriched" in browser.captions(), "a dataset is captioned with its title"
    assert browser.fills() == {"HwDataset": "#2F6FC4"}
    browser.close_frame()

    browser.open_favorite("Headwater 3 traces", DRAWN)
    trace = browser.draw()
    assert {node.label for node in trace.nodes} == {"HwDataset", "HwSegment", "HwQuery", "HwRun"}
    assert {"CONSUMED", "PRODUCED", "IN_QUERY", "IN_RUN"} <= {arrow.type for arrow in trace.arrows}
    assert len(browser.fills()) == 4
    browser.close_frame()

    browser.open_favorite("Headwater 4 impact", "Impact, drawn: jobs and datasets behind a dataset")
    impact = browser.draw()
    assert {node.name for node in impact.nodes if node.label == "HwJob"} == {
        "flights.enrich",
        "flights.delays",
        "flights.routes",
        "flights.daily_report",
    }


def test_the_guide_is_shown_and_puts_a_question_into_the_editor(browser: NeoBrowser) -> None:
    with guide_server(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            browser.open_guide(f"http://localhost:{server.server_port}/guide.html")
            typed = browser.click_in_guide("Impact: whom to tell before a dataset changes")
        finally:
            server.shutdown()
    assert "MATCH (hit)<-[:READS]-(job:HwJob)" in typed
