"""A trace drawn: datasets as boxes, micro-batches and runs as rounded ones, on the arrows which part of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console import shortened
from headwater.show.diagram.diagram import Diagram, Edge, Node, Shape
from headwater.show.diagram.labels import asset_label
from headwater.show.trace import part_words, step_name
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from headwater_consumers.analysis.trace import Part, Trace

_MOST_PART = 120
_LONGEST_NAME = 24  # of a file; an arrow has room for no more


def trace_diagram(found: Trace) -> Diagram:
    """Whichever way was asked, data flows from left to right; dotted what is only a bound, or not known."""
    nodes = {part.dataset.key: Node(label=asset_label(part.dataset), start=True) for part in found.start}
    edges: dict[Edge, None] = {}
    for hop in found.hops:
        step = f"step {hop.number}"
        for part in (*hop.inputs, *hop.outputs):
            nodes.setdefault(part.dataset.key, Node(label=asset_label(part.dataset)))
        nodes[step] = Node(label=f"{hop.number}. {step_name(hop.step)}", shape=Shape.STEP)
        edges |= {Edge(part.dataset.key, step, _part(part), _vague(part)): None for part in hop.inputs}
        edges |= {Edge(step, part.dataset.key, _part(part), _vague(part)): None for part in hop.outputs}
    return Diagram(nodes, tuple(edges))


def _part(part: Part) -> str:
    certainty = "" if part.certainty is Certainty.EXACT else f" {part.certainty.value}"
    return shortened(part_words(part, _LONGEST_NAME), _MOST_PART) + certainty


def _vague(part: Part) -> bool:
    return part.certainty in {Certainty.UPPER_BOUND, Certainty.UNKNOWN}
