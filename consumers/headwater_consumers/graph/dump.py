"""dump: the whole graph as JSON lines in order of key, the same for equal graphs, byte for byte."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from headwater_consumers.facts.model import Label
from headwater_consumers.graph.lines import node_line, relationship_key, relationship_line
from headwater_consumers.graph.statements import statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from neo4j import Driver, Session

PAGE_NODES = 500
"""Nodes a label that are in memory at once, with what leaves them."""


def dump(driver: Driver, database: str | None = None, *, page_nodes: int = PAGE_NODES) -> Iterator[str]:
    """The graph's lines (`graph.lines`), without newlines, in code-point order of their key.

    Streamed: a page of each label is in memory at a time. The pages are read one after the other, so what is written
    meanwhile may be in the dump in parts.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session:
        yield from (line for _, line in heapq.merge(*(_label(session, label, page_nodes) for label in Label)))


def _label(session: Session, label: Label, page_nodes: int) -> Iterator[tuple[str, str]]:
    # Keys are hexadecimal, so Neo4j's order of strings is that of code points.
    after = ""
    while True:
        result = session.run(statement("read", f"dump_{label.value.lower()}"), after=after, page=page_nodes)
        rows = list(result)
        for row in rows:
            node = _native(row["properties"])
            after = node["key"]
            yield after, node_line(label, node)
            yield from sorted(_relationship(after, *leaving) for leaving in row["leaving"])
        if len(rows) < page_nodes:
            return


def _relationship(start: str, type_: str, end: str, stored: Mapping[str, Any]) -> tuple[str, str]:
    properties = _native(stored)
    key = relationship_key(type_, start, end, properties.get("key"))
    return key, relationship_line(type_, start, end, properties)


def _native(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.to_native() if hasattr(value, "to_native") else value for name, value in properties.items()}
