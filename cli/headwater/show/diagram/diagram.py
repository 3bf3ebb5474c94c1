"""Diagram: nodes and edges, and how Mermaid and Graphviz are told of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable


class DiagramFormat(StrEnum):
    """Who draws it."""

    MERMAID = "mermaid"
    DOT = "dot"


class Shape(StrEnum):
    """What a node is: an ASSET, or a STEP that makes one of another."""

    ASSET = "ASSET"
    STEP = "STEP"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node.

    Attributes:
        label: any text, on one line.
        start: what was asked of: a thick border.
        passed: not listed, only passed through: a dashed border.
        color: to fill it with, `#rrggbb`.
    """

    label: str
    shape: Shape = Shape.ASSET
    start: bool = False
    passed: bool = False
    color: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow, by the keys of its ends; dotted where nothing but a decision flows."""

    source: str
    target: str
    label: str
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """What is drawn, from left to right.

    Attributes:
        nodes: by key, in the order in which they are numbered.
        edges: between them.
    """

    nodes: dict[str, Node]
    edges: tuple[Edge, ...]

    @property
    def numbers(self) -> dict[str, int]:
        """Nodes by key; keys are anything, and numbers are names in both languages."""
        return {key: number for number, key in enumerate(self.nodes)}


def drawn(diagram: Diagram, format_: DiagramFormat) -> str:
    """The text that draws it."""
    writers: dict[DiagramFormat, Callable[[Diagram], str]] = {DiagramFormat.MERMAID: mermaid, DiagramFormat.DOT: dot}
    return writers[format_](diagram)


def mermaid(diagram: Diagram) -> str:
    """A flowchart."""
    numbers = diagram.numbers
    lines = ["flowchart LR"]
    for key, node in diagram.nodes.items():
        left, right = ("[", "]") if node.shape is Shape.ASSET else ("([", "])")
        lines.append(f'  n{numbers[key]}{left}"{_entities(node.label)}"{right}')
    for edge in diagram.edges:
        arrow = "-.->" if edge.dotted else "-->"
        said = f'|"{_entities(edge.label)}"|' if edge.label else ""
        lines.append(f"  n{numbers[edge.source]} {arrow}{said} n{numbers[edge.target]}")
    for key, node in diagram.nodes.items():
        styles = ["stroke-width:3px"] if node.start else ["stroke-dasharray:4 4"] if node.passed else []
        styles += [f"fill:{node.color}", "color:#000000"] if node.color is not None else []
        if styles:
            lines.append(f"  style n{numbers[key]} {','.join(styles)}")
    return "\n".join(lines) + "\n"


def dot(diagram: Diagram) -> str:
    """A digraph."""
    numbers = diagram.numbers
    lines = ["digraph lineage {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for key, node in diagram.nodes.items():
        styles = ["rounded"] if node.shape is Shape.STEP else []
        styles += ["filled"] if node.color is not None else []
        styles += ["dashed"] if node.passed else []
        said = ", penwidth=3" if node.start else ""
        said += (f", style={styles[0]}" if len(styles) == 1 else f', style="{",".join(styles)}"') if styles else ""
        said += f', fillcolor="{node.color}"' if node.color is not None else ""
        lines.append(f"  n{numbers[key]} [label={_quoted(node.label)}{said}];")
    for edge in diagram.edges:
        style = ", style=dotted" if edge.dotted else ""
        lines.append(f"  n{numbers[edge.source]} -> n{numbers[edge.target]} [label={_quoted(edge.label)}{style}];")
    return "\n".join([*lines, "}", ""])


def _entities(text: str) -> str:
    """Mermaid's own escapes, of all but letters, digits and what can mean nothing to it."""
    return "".join(char if char.isalnum() or char in " .,_-/:" else f"#{ord(char)};" for char in visible(text))


def _quoted(text: str) -> str:
    escaped = visible(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
