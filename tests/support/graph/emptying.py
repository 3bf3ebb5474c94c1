"""An empty database between the cases of one test, and what is in it between tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neo4j import Driver

held: dict[str, tuple[int, ...]] = {}
"""Name of the graph that `hold` put into the database ⇒ its numbers then; nothing once anything else was written."""


def delete_nodes(driver: Driver) -> None:
    """Delete every node and relationship; constraints and indexes stay."""
    held.clear()
    with driver.session(database="neo4j") as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()
