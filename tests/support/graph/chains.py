"""The chains of micro-batches in a graph, from its dump: what questions about them are compared with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater_graph.dump import dump

if TYPE_CHECKING:
    from neo4j import Driver


class Next(NamedTuple):
    """Two neighbouring micro-batches, and the properties of NEXT between them, those that begin with `_` included."""

    before: dict[str, Any]
    after: dict[str, Any]
    properties: dict[str, Any]


def chains(driver: Driver) -> list[Next]:
    """Every NEXT of the graph, query by query in batch order."""
    lines = [json.loads(line) for line in dump(driver, internal=True)]
    batches = {line["key"]: line["properties"] for line in lines if line.get("labels") == ["Interval"]}
    found = [
        Next(batches[line["start"]], batches[line["end"]], line["properties"])
        for line in lines
        if line.get("type") == "NEXT"
    ]
    return sorted(found, key=lambda next_: (next_.after["query"], next_.after["batch_id"]))
