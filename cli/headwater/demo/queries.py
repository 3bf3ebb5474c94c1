"""Queries of the demo that are worth pasting into Neo4j Browser: `cypher/paste.cypher`."""

from __future__ import annotations

from typing import NamedTuple

from headwater_graph.statement_files import load, names


class Favourite(NamedTuple):
    """A query worth pasting into Neo4j Browser."""

    title: str
    text: str


def favourites() -> list[Favourite]:
    """The queries worth pasting, without their title line, in the order of their file."""
    found = []
    for name in names("headwater.demo", "paste"):
        title, _, text = load("headwater.demo", f"paste/{name}").partition("\n")
        found.append(Favourite(title.removeprefix(f"// {name}: "), text.strip()))
    return found
