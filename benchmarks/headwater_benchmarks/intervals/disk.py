"""How large a store is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of a database's files.

    Attributes:
        store: nodes, relationships, properties, indexes.
        logs: of transactions, which Neo4j deletes in time.
    """

    store: int
    logs: int


def disk_of(home: Path, database: str) -> Disk:
    """The size of a database's files.

    Args:
        home: Neo4j's folder. The server is stopped, which writes everything into the store's files.
        database: its name.
    """
    return Disk(*(_bytes(home / "data" / kind / database) for kind in ("databases", "transactions")))


def _bytes(folder: Path) -> int:
    # As they are on the disk: files may have space reserved at their ends.
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
