"""The graph's own statements: `cypher/<folder>/<name>.cypher`."""

from __future__ import annotations

from typing import LiteralString

from headwater_consumers import cypher

_PACKAGE = "headwater_consumers.graph"


def statement(folder: str, name: str) -> LiteralString:
    """The statement `cypher/<folder>/<name>.cypher`.

    Raises:
        ValueError: it doesn't begin with a title.
        FileNotFoundError: there is none of that name.
    """
    return cypher.load(_PACKAGE, f"{folder}/{name}")


def names(folder: str) -> tuple[str, ...]:
    """Names of the statements in a folder, sorted."""
    return cypher.names(_PACKAGE, folder)
