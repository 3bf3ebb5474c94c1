"""Cypher statements by name: one file each below `cypher/`, its first line `// title`.

Text of events never becomes Cypher: a statement is sent as it stands in its file, and everything else is a parameter.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import LiteralString

_FOLDER = files("headwater_consumers.graph") / "cypher"


@cache
def statement(folder: str, name: str) -> LiteralString:
    """The statement `cypher/<folder>/<name>.cypher`.

    Raises:
        ValueError: it doesn't begin with a title.
        FileNotFoundError: there is none of that name.
    """
    text = (_FOLDER / folder / f"{name}.cypher").read_text(encoding="utf-8")
    if not text.startswith("// "):
        raise ValueError(f"cypher/{folder}/{name}.cypher must begin with `// title`")
    return text


@cache
def names(folder: str) -> tuple[str, ...]:
    """Names of the statements in a folder, sorted."""
    found = (item.name for item in (_FOLDER / folder).iterdir())
    return tuple(sorted(name.removesuffix(".cypher") for name in found if name.endswith(".cypher")))
