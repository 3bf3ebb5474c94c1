"""The final graph as rows, ready to be sent: with a node for each micro-batch, or with segments of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label, RelType
from headwater_graph.oracle import visit
from headwater_graph.write.bolt import to_bolt
from headwater_graph.write.segments import segment_rows, write_segments
from headwater_graph.write.transaction import WriteTransaction

Properties = dict[str, Any]


class Packed(StrEnum):
    """The label that the graph stores in place of `Label.INTERVAL` and `Label.CONFLICT`."""

    SEGMENT = "Segment"


AnyLabel = Label | Packed


class Kind(NamedTuple):
    """Relationships of one type between nodes of two labels."""

    type: RelType
    start: AnyLabel
    end: AnyLabel


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

    nodes: dict[AnyLabel, list[Properties]] = field(default_factory=lambda: defaultdict(list))
    relationships: dict[Kind, list[Relationship]] = field(default_factory=lambda: defaultdict(list))

    @property
    def size(self) -> tuple[int, int]:
        """Number of nodes and of relationships."""
        return sum(map(len, self.nodes.values())), sum(map(len, self.relationships.values()))


def final_graph(delta: GraphDelta) -> FinalGraph:
    """The graph of these base facts, with a node for each micro-batch.

    Args:
        delta: of all events.
    """
    facts = _Collected()
    visit(delta, facts)
    return facts.graph()


def segment_graph(delta: GraphDelta) -> FinalGraph:
    """The graph of these base facts as the consumer stores it.

    Args:
        delta: of all events.
    """
    facts = _Collected()
    visit(replace(delta, intervals={}), facts)
    sent = Sent()
    write_segments(sent, segment_rows(delta))
    for row in sent.rows:
        key = row["key"]
        facts.node(Packed.SEGMENT, {"key": key, **row["properties"]})
        for place in row["query"]:
            facts.relationship(RelType.IN_QUERY, key, sent.keys["queries"][place], {})
        for place, count in row["runs"]:
            facts.relationship(RelType.IN_RUN, key, sent.keys["runs"][place], {"batches": count})
        for type_ in (RelType.CONSUMED, RelType.PRODUCED):
            for use in row[type_.value.lower()]:
                properties = {"key": use["key"], **use["properties"]}
                facts.relationship(type_, key, sent.keys["datasets"][use["to"]], properties)
        for type_, word in ((RelType.READ, "read"), (RelType.WROTE, "wrote")):
            for place, batches, time in row[word]:
                version = sent.keys["versions"][place]
                facts.relationship(type_, key, version, {"batches": batches, "first_time": time})
    for start, end in sent.next:
        facts.relationship(RelType.NEXT, start, end, {})
    return facts.graph()


class Sent(WriteTransaction):
    """A transaction in an empty graph that isn't one: it keeps the rows of segments.

    Attributes:
        rows: of the statement `update_segments`.
        keys: of the hot nodes that they refer to by place, by the name of the parameter.
        next: of the statement `next`.
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.keys: dict[str, list[str]] = {}
        self.next: list[tuple[str, str]] = []

    def find_rows(self, name: str, rows: Sequence[Any], **parameters: Any) -> list[Any]:  # noqa: ARG002
        """Nothing is there."""
        return []

    def send_rows(self, name: str, rows: Sequence[Any], **parameters: Any) -> None:
        """Keep them."""
        if name == "next":
            self.next += [(start, end) for start, end in rows]
        elif name == "update_segments":
            self.rows += rows
            self.keys |= parameters


class _Collected:
    """Receives all of it (`graph.oracle.GraphVisitor`)."""

    def __init__(self) -> None:
        self.nodes: dict[AnyLabel, list[Properties]] = defaultdict(list)
        self.labels: dict[str, AnyLabel] = {}
        self.relationships: list[tuple[RelType, Relationship]] = []

    def graph(self) -> FinalGraph:
        graph = FinalGraph(self.nodes)
        for type_, relationship in self.relationships:
            kind = Kind(type_, self.labels[relationship.start], self.labels[relationship.end])
            graph.relationships[kind].append(relationship)
        for rows in graph.relationships.values():
            # As they come from a topic: what leaves one node, and what one query did, is together.
            rows.sort(key=lambda row: row.start)
        return graph

    def node(self, label: AnyLabel, properties: Mapping[str, Any]) -> None:
        self.labels[properties["key"]] = label
        self.nodes[label].append(_sent(properties))

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        self.relationships.append((type_, Relationship(start, end, _sent(properties))))


def _sent(properties: Mapping[str, Any]) -> Properties:
    return to_bolt({name: value for name, value in properties.items() if value is not None})
