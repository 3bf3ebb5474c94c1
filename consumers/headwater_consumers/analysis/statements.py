"""The statements of this package: `cypher/<name>.cypher`, fixed text; everything else is a parameter."""

from __future__ import annotations

from typing import LiteralString

from headwater_consumers.cypher import load

_PACKAGE = "headwater_consumers.analysis"


def statement(name: str) -> LiteralString:
    """The statement `analysis/cypher/<name>.cypher`; `name` may have a folder, `trace/locate`.

    Raises:
        ValueError: it doesn't begin with a title.
        FileNotFoundError: there is none of that name.
    """
    return load(_PACKAGE, name)
