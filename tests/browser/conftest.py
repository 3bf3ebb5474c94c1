"""Chromium, and the page at `/` served over the stack's Neo4j."""

from __future__ import annotations

from collections.abc import Iterator

import headless_chromium
import pytest
from headless_chromium import INSTALL_CHROMIUM, find_chromium, running_chromium
from playwright.sync_api import Browser, expect

from headwater_analysis.reader import reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from support.api import client_of
from support.stack import StackUnderTest
from support.waiting import patience

# A state is waited for as long as a busy machine may need; 5 s, the default, are too few for a first answer.
expect.set_options(timeout=patience(60) * 1_000)
headless_chromium.STEP_SECONDS = patience(headless_chromium.STEP_SECONDS)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    found = find_chromium()
    if found is None:
        pytest.skip(f"Chromium is not installed: {INSTALL_CHROMIUM}")
    return found


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """Chromium of a file of tests: a start takes two seconds, and pages share nothing."""
    with running_chromium(chromium_path) as running:
        yield running


@pytest.fixture
def served(stack: StackUnderTest) -> Iterator[str]:
    """URL of the page, with whatever the test has put into the graph."""
    target = Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")
    # A database that has just started plans each statement first, for longer than a question may take if it is busy.
    seconds = patience(60)
    analysis, serve = AnalysisSettings(timeout_seconds=seconds), ServeSettings(port=0, timeout_max_seconds=seconds)
    with client_of(Graph(reading_driver(target), target, analysis, serve)) as client:
        yield str(client.base_url)
