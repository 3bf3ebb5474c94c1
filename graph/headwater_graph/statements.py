"""Cypher statements of this package."""

from __future__ import annotations

from typing import LiteralString

from headwater_graph import statement_files

_PACKAGE = "headwater_graph"


def statement(file: str, name: str) -> LiteralString:
    """Statement `name` of `cypher/<file>.cypher`, or of a file in the folder `cypher/<file>`.

    Raises:
        KeyError: no statement has that name.
    """
    return statement_files.load(_PACKAGE, f"{file}/{name}")


def names(file: str) -> tuple[str, ...]:
    """Names of the statements in a file or folder, in their order."""
    return statement_files.names(_PACKAGE, file)
