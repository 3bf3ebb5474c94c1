"""wipe: empty the graph, so that it can be made anew from the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.graph.statements import statement

if TYPE_CHECKING:
    from neo4j import Driver


def wipe(driver: Driver, database: str | None) -> int:
    """Delete every node that Headwater wrote, with its relationships; what others keep in the database stays.

    In transactions of 2,000 nodes, so it may stop half-way: do it again.

    Returns:
        How many nodes there were.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        return session.run(statement("whole", "wipe")).consume().counters.nodes_deleted
