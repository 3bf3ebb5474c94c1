"""The worked examples of docs/analysis/history.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.worked_examples import check_page

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


def test_the_examples(asked_demo: None, neo4j_driver: Driver) -> None:
    with neo4j_driver.session(database="neo4j") as session:
        session.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()").consume()
    check_page("history.md")
