"""Diagrams of answers, as source text for Mermaid and Graphviz. Arrows point in the direction of the data flow.

The nodes are assets. A trace also has its steps as nodes, and the parts of datasets as texts of the arrows. In an
impact, affected assets are coloured by severity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from headwater.console import shortened
from headwater.show.trace import part_words, step_name
from headwater_analysis.amounts import first_of
from headwater_analysis.assets import Asset
from headwater_analysis.impact import Impact, ImpactHop, Severity
from headwater_analysis.lineage import Influence, Lineage, LineageEdge
from headwater_analysis.trace import Part, Trace
from headwater_schemas.events import Certainty, TransformationType
from headwater_schemas.visible import visible

MOST_LABEL = 80


def asset_label(asset: Asset) -> str:
    """Format an asset: `flights.departed#value.carrier`."""
    column = "" if asset.column is None else f"#{shortened(asset.column, MOST_LABEL)}"
    return shortened(asset.title or asset.name, MOST_LABEL) + column


def names_text(names: Iterable[str], total: int | None = None) -> str:
    """Format the first names, and the number of the others among `total`."""
    return first_of([shortened(name, MOST_LABEL) for name in names], total=total)


class DiagramFormat(StrEnum):
    """Language of the diagram."""

    MERMAID = "mermaid"
    DOT = "dot"


class DiagramShape(StrEnum):
    """Kind of a node: an ASSET, or a STEP that derives assets from others."""

    ASSET = "ASSET"
    STEP = "STEP"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagramNode:
    """A node.

    Attributes:
        label: any text, on one line.
        start: True for the start of the question, which gets a thick border.
        passed: True for an asset between assets of the page that isn't on the page; it gets a dashed border.
        color: fill colour, `#rrggbb`.
    """

    label: str
    shape: DiagramShape = DiagramShape.ASSET
    start: bool = False
    passed: bool = False
    color: str | None = None


@dataclass(frozen=True, slots=True)
class DiagramEdge:
    """An arrow between two nodes, by their keys; dotted for influence without values."""

    source: str
    target: str
    label: str
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """Diagram, drawn from left to right.

    Attributes:
        nodes: nodes by key, in the order in which they are numbered.
    """

    nodes: dict[str, DiagramNode]
    edges: tuple[DiagramEdge, ...]

    @property
    def numbers(self) -> dict[str, int]:
        """Number of each node, by its key. Numbers are valid names in both languages; keys can be any text."""
        return {key: number for number, key in enumerate(self.nodes)}


def drawn(diagram: Diagram, format_: DiagramFormat) -> str:
    """Source text of a diagram."""
    writers: dict[DiagramFormat, Callable[[Diagram], str]] = {DiagramFormat.MERMAID: mermaid, DiagramFormat.DOT: dot}
    return writers[format_](diagram)


def mermaid(diagram: Diagram) -> str:
    """A flowchart of Mermaid."""
    numbers = diagram.numbers
    lines = ["flowchart LR"]
    for key, node in diagram.nodes.items():
        left, right = ("[", "]") if node.shape is DiagramShape.ASSET else ("([", "])")
        lines.append(f'  n{numbers[key]}{left}"{_entities(node.label)}"{right}')
    for edge in diagram.edges:
        arrow = "-.->" if edge.dotted else "-->"
        extra = f'|"{_entities(edge.label)}"|' if edge.label else ""
        lines.append(f"  n{numbers[edge.source]} {arrow}{extra} n{numbers[edge.target]}")
    for key, node in diagram.nodes.items():
        styles = ["stroke-width:3px"] if node.start else ["stroke-dasharray:4 4"] if node.passed else []
        styles += [f"fill:{node.color}", "color:#000000"] if node.color is not None else []
        if styles:
            lines.append(f"  style n{numbers[key]} {','.join(styles)}")
    return "\n".join(lines) + "\n"


def dot(diagram: Diagram) -> str:
    """A digraph of Graphviz."""
    numbers = diagram.numbers
    lines = ["digraph lineage {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for key, node in diagram.nodes.items():
        styles = ["rounded"] if node.shape is DiagramShape.STEP else []
        styles += ["filled"] if node.color is not None else []
        styles += ["dashed"] if node.passed else []
        extra = ", penwidth=3" if node.start else ""
        extra += (f", style={styles[0]}" if len(styles) == 1 else f', style="{",".join(styles)}"') if styles else ""
        extra += f', fillcolor="{node.color}"' if node.color is not None else ""
        lines.append(f"  n{numbers[key]} [label={_quoted(node.label)}{extra}];")
    for edge in diagram.edges:
        style = ", style=dotted" if edge.dotted else ""
        lines.append(f"  n{numbers[edge.source]} -> n{numbers[edge.target]} [label={_quoted(edge.label)}{style}];")
    return "\n".join([*lines, "}", ""])


def _entities(text: str) -> str:
    """Escape a text for Mermaid, except letters, digits and harmless characters."""
    return "".join(char if char.isalnum() or char in " .,_-/:" else f"#{ord(char)};" for char in visible(text))


def _quoted(text: str) -> str:
    escaped = visible(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def lineage_diagram(answer: Lineage) -> Diagram:
    """Diagram of a page with edges. Nodes have the page's order; an asset that the page lists twice is one node."""
    start = answer.start.key
    listed = {start, *(item.asset.key for item in answer.items)}
    assets = [answer.start, *(item.asset for item in (*answer.items, *answer.through))]
    nodes = {
        asset.key: DiagramNode(label=asset_label(asset), start=asset.key == start, passed=asset.key not in listed)
        for asset in assets
    }
    edges = (
        DiagramEdge(
            edge.source, edge.target, names_text([via.job.name for via in edge.via], edge.via_total), _dotted(edge)
        )
        for edge in answer.edges
    )
    return Diagram(nodes, tuple(edges))


def _dotted(edge: LineageEdge) -> bool:
    """Return True if an edge is only INDIRECT, or only possible."""
    if edge.via and all(via.possible for via in edge.via):
        return True
    kinds = {each.type for via in edge.via for each in via.transformations}
    return bool(kinds) and Influence.DIRECT.value not in kinds


_MOST_PART = 120
_LONGEST_NAME = 24  # of a file, so that the arrow's label stays short


def trace_diagram(found: Trace) -> Diagram:
    """Diagram of a trace, in the direction of the data flow even if traced back; uncertain parts are dotted."""
    nodes = {part.dataset.key: DiagramNode(label=asset_label(part.dataset), start=True) for part in found.start}
    edges: dict[DiagramEdge, None] = {}
    for hop in found.hops:
        step = f"step {hop.number}"
        for part in (*hop.inputs, *hop.outputs):
            nodes.setdefault(part.dataset.key, DiagramNode(label=asset_label(part.dataset)))
        nodes[step] = DiagramNode(label=f"{hop.number}. {step_name(hop.step)}", shape=DiagramShape.STEP)
        edges |= {DiagramEdge(part.dataset.key, step, _part(part), _is_uncertain(part)): None for part in hop.inputs}
        edges |= {DiagramEdge(step, part.dataset.key, _part(part), _is_uncertain(part)): None for part in hop.outputs}
    return Diagram(nodes, tuple(edges))


def _part(part: Part) -> str:
    certainty = "" if part.certainty is Certainty.EXACT else f" {part.certainty.value}"
    return shortened(part_words(part, _LONGEST_NAME), _MOST_PART) + certainty


def _is_uncertain(part: Part) -> bool:
    return part.certainty in {Certainty.UPPER_BOUND, Certainty.UNKNOWN}


_RED, _MAGENTA, _AMBER, _BLUE, _GREEN = "#f8b4b4", "#f0abfc", "#fde68a", "#bae6fd", "#bbf7d0"
_COLORS = {
    Severity.CRITICAL: _RED,
    Severity.BREAKING: _RED,
    Severity.BLOCKING: _RED,
    Severity.TAINTED: _RED,
    Severity.RESTRICTED: _MAGENTA,
    Severity.DEGRADED: _AMBER,
    Severity.WARNING: _AMBER,
    Severity.UNKNOWN: _AMBER,
    Severity.COSMETIC: _BLUE,
    Severity.INFO: _BLUE,
    Severity.NONE: _GREEN,
}


def impact_diagram(impact: Impact) -> Diagram:
    """Diagram of a page, with one path to each asset of the page. Other assets on these paths are dashed."""
    nodes = {impact.start.key: DiagramNode(label=asset_label(impact.start), start=True)}
    for item in impact.items:
        label = f"{asset_label(item.asset)}: {item.severity}"
        nodes[item.asset.key] = DiagramNode(label=label, color=_COLORS[item.severity])
    # By source and target of the edge.
    labels: dict[tuple[str, str], dict[str, None]] = {}
    indirect: dict[tuple[str, str], bool] = {}
    for item in impact.items:
        source = impact.start.key
        for hop in item.path:
            nodes.setdefault(hop.asset.key, DiagramNode(label=asset_label(hop.asset), passed=True))
            ends = (source, hop.asset.key)
            labels.setdefault(ends, {})[_edge_label(hop)] = None
            indirect[ends] = indirect.get(ends, True) and _is_indirect(hop)
            source = hop.asset.key
    edges = (DiagramEdge(*ends, names_text(texts), indirect[ends]) for ends, texts in labels.items())
    return Diagram(nodes, tuple(edges))


def _edge_label(hop: ImpactHop) -> str:
    kind = "" if hop.transformation is None else f"{hop.transformation.kind} by "
    return f"{kind}{hop.job.name}"


def _is_indirect(hop: ImpactHop) -> bool:
    return hop.transformation is not None and hop.transformation.type is not TransformationType.DIRECT
