"""The demo's Cypher: files in `cypher/`, each beginning with `// title`; those in `cypher/paste/` for the reader."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import LiteralString, NamedTuple

_FOLDER = files("headwater.demo") / "cypher"


class Favourite(NamedTuple):
    """A query worth pasting into Neo4j Browser."""

    title: str
    text: str


@cache
def statement(name: str) -> LiteralString:
    """The text of `cypher/<name>.cypher`."""
    return (_FOLDER / f"{name}.cypher").read_text(encoding="utf-8")


def favourites() -> list[Favourite]:
    """The queries worth pasting, without their title line, in the order of their files' names."""
    found = []
    for file in sorted((_FOLDER / "paste").iterdir(), key=lambda file: file.name):
        title, _, text = file.read_text(encoding="utf-8").partition("\n")
        found.append(Favourite(title.removeprefix("// "), text.strip()))
    return found
