"""The dump of a floor's graph with a node for each micro-batch, which Headwater's own dump doesn't read."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headwater_graph.dump import dump
from headwater_graph.dump_lines import node_line, relationship_key, relationship_line
from headwater_graph.facts.model import Label
from headwater_graph.statement_files import load

if TYPE_CHECKING:
    from neo4j import Driver

_PAGE_NODES = 500


def floor_dump(driver: Driver, database: str) -> Iterator[str]:
    """The graph's lines, without newlines, in code-point order of their key, as `graph.dump.dump` gives them."""
    return heapq.merge(
        dump(driver, database), _micro_batches(driver, database), key=lambda line: json.loads(line)["key"]
    )


def _micro_batches(driver: Driver, database: str) -> Iterator[str]:
    after = ""
    with driver.session(database=database, default_access_mode="READ") as session:
        while True:
            rows = list(session.run(load("headwater_benchmarks.ingest", "floor/dump"), after=after, page=_PAGE_NODES))
            for row in rows:
                node = _native(row["properties"])
                after = node["key"]
                yield node_line(Label(row["label"]), node)
                leaving = [(type_, end, _native(properties)) for type_, end, properties in row["leaving"]]
                yield from (line for _, line in sorted(_relationship(after, *each) for each in leaving))
            if len(rows) < _PAGE_NODES:
                return


def _relationship(start: str, type_: str, end: str, properties: Mapping[str, Any]) -> tuple[str, str]:
    key = relationship_key(type_, start, end, properties.get("key"))
    return key, relationship_line(type_, start, end, properties)


def _native(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.to_native() if hasattr(value, "to_native") else value for name, value in properties.items()}
