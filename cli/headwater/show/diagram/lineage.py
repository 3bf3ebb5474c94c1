"""Lineage drawn: dotted what is only INDIRECT, dashed what is only passed through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.show.diagram.diagram import Diagram, Edge, Node
from headwater.show.diagram.labels import asset_label, some
from headwater_consumers.analysis.lineage import Influence

if TYPE_CHECKING:
    from headwater_consumers.analysis.lineage import Lineage, LineageEdge


def lineage_diagram(answer: Lineage) -> Diagram:
    """Of a page that was asked for with its edges. Nodes stand in its order, each once: a column may be in it twice."""
    start = answer.start.key
    listed = {start, *(item.asset.key for item in answer.items)}
    assets = [answer.start, *(item.asset for item in (*answer.items, *answer.through))]
    nodes = {
        asset.key: Node(label=asset_label(asset), start=asset.key == start, passed=asset.key not in listed)
        for asset in assets
    }
    edges = (
        Edge(edge.source, edge.target, some([via.job.name for via in edge.via], edge.via_total), _indirect(edge))
        for edge in answer.edges
    )
    return Diagram(nodes, tuple(edges))


def _indirect(edge: LineageEdge) -> bool:
    kinds = {each.type for via in edge.via for each in via.transformations}
    return bool(kinds) and Influence.DIRECT.value not in kinds
