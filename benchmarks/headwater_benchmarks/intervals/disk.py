"""How large a store is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater_consumers.cypher import load
from headwater_consumers.graph.connection import Neo4jTarget

if TYPE_CHECKING:
    from neo4j import Driver


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of a database's files after a checkpoint.

    Attributes:
        store: nodes, relationships, properties, indexes.
        logs: of transactions, which Neo4j deletes in time.
    """

    store: int
    logs: int


def checkpointed(driver: Driver, target: Neo4jTarget, home: Path) -> Disk:
    """The size of a database's files, after everything was written into them.

    Args:
        driver: to the server.
        target: the database.
        home: Neo4j's folder.
    """
    with driver.session(database=target.database) as session:
        session.run(load("headwater_benchmarks.intervals", "checkpoint")).consume()
    data = home / "data"
    return Disk(*(_bytes(data / kind / target.database) for kind in ("databases", "transactions")))


def _bytes(folder: Path) -> int:
    # As they are on the disk: files may have space reserved at their ends.
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
