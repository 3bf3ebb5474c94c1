"""The final graph as rows, ready to be sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.model import Label, RelType
from headwater_consumers.graph.oracle import visit
from headwater_consumers.materializer.write.bolt import to_bolt

Properties = dict[str, Any]


class Kind(NamedTuple):
    """Relationships of one type between nodes of two labels."""

    type: RelType
    start: Label
    end: Label


class Relationship(NamedTuple):
    """One relationship: keys of its ends, and its properties."""

    start: str
    end: str
    properties: Properties


@dataclass(frozen=True, slots=True)
class FinalGraph:
    """Every node and relationship.

    Attributes:
        nodes: properties, `key` among them, by label.
        relationships: by kind.
    """

    nodes: dict[Label, list[Properties]] = field(default_factory=lambda: defaultdict(list))
    relationships: dict[Kind, list[Relationship]] = field(default_factory=lambda: defaultdict(list))

    @property
    def size(self) -> tuple[int, int]:
        """How many nodes and relationships."""
        return sum(map(len, self.nodes.values())), sum(map(len, self.relationships.values()))


def final_graph(delta: GraphDelta) -> FinalGraph:
    """The graph of these base facts, as the consumer stores it.

    Args:
        delta: of all events.
    """
    facts = _Collected()
    visit(delta, facts)
    graph = FinalGraph(facts.nodes)
    for type_, relationship in facts.relationships:
        kind = Kind(type_, facts.labels[relationship.start], facts.labels[relationship.end])
        graph.relationships[kind].append(relationship)
    for rows in graph.relationships.values():
        # As they come from a topic: what leaves one node, and what one query did, is together.
        rows.sort(key=lambda row: row.start)
    return graph


class _Collected:
    """Receives all of it (`graph.oracle.GraphVisitor`)."""

    def __init__(self) -> None:
        self.nodes: dict[Label, list[Properties]] = defaultdict(list)
        self.labels: dict[str, Label] = {}
        self.relationships: list[tuple[RelType, Relationship]] = []

    def node(self, label: Label, properties: Mapping[str, Any]) -> None:
        self.labels[properties["key"]] = label
        self.nodes[label].append(_sent(properties))

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        self.relationships.append((type_, Relationship(start, end, _sent(properties))))


def _sent(properties: Mapping[str, Any]) -> Properties:
    return to_bolt({name: value for name, value in properties.items() if value is not None})
