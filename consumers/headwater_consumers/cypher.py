"""Cypher statements by name: one file each, below `cypher/` of the package they belong to, its first line `// title`.

Text of events and of questions never becomes Cypher: a statement is sent as it stands in its file, and everything else
is a parameter.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import LiteralString


@cache
def load(package: str, name: str) -> LiteralString:
    """The statement `cypher/<name>.cypher` of a package; `name` may have a folder before it, with `/`.

    Raises:
        ValueError: it doesn't begin with a title.
        FileNotFoundError: there is none of that name.
    """
    text = files(package).joinpath("cypher", *f"{name}.cypher".split("/")).read_text(encoding="utf-8")
    if not text.startswith("// "):
        raise ValueError(f"cypher/{name}.cypher of {package} must begin with `// title`")
    return text


@cache
def names(package: str, folder: str) -> tuple[str, ...]:
    """Names of the statements in a folder below `cypher/`, sorted, without the folder."""
    found = (item.name for item in files(package).joinpath("cypher", folder).iterdir())
    return tuple(sorted(name.removesuffix(".cypher") for name in found if name.endswith(".cypher")))
