"""Nodes and arrows on Neo4j Browser's canvas, and their positions."""

from __future__ import annotations

from dataclasses import dataclass

LOOP = 60  # pixels above the highest node, for an arrow from it to itself


@dataclass(frozen=True, slots=True)
class Node:
    """A circle. Its `id` is valid only on this page."""

    id: str
    label: str
    name: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A relationship from the node `source` to the node `target`, by id."""

    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """Nodes and arrows on the canvas."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the page, in pixels from its top left."""

    x: float
    y: float
    width: float
    height: float

    def holds(self, x: float, y: float) -> bool:
        """Return True for a point within the area, or in the strip above it that loops are drawn in."""
        return self.x <= x <= self.x + self.width and self.y - LOOP <= y <= self.y + self.height
