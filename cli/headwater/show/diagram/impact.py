"""An impact drawn: the ways to what is hit, coloured by how badly; dotted where a column only decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.show.diagram.diagram import Diagram, Edge, Node
from headwater.show.diagram.labels import asset_label, some
from headwater_consumers.analysis.impact import Severity
from headwater_schemas.events import TransformationType

if TYPE_CHECKING:
    from headwater_consumers.analysis.impact import Impact, ImpactHop

_RED, _MAGENTA, _AMBER, _BLUE, _GREEN = "#f8b4b4", "#f0abfc", "#fde68a", "#bae6fd", "#bbf7d0"
_COLORS = {
    Severity.CRITICAL: _RED,
    Severity.BREAKING: _RED,
    Severity.BLOCKING: _RED,
    Severity.TAINTED: _RED,
    Severity.RESTRICTED: _MAGENTA,
    Severity.DEGRADED: _AMBER,
    Severity.WARNING: _AMBER,
    Severity.COSMETIC: _BLUE,
    Severity.INFO: _BLUE,
    Severity.NONE: _GREEN,
}


def impact_diagram(impact: Impact) -> Diagram:
    """Of a page, with one way to each of its assets. What lies on one and isn't on the page is dashed."""
    nodes = {impact.start.key: Node(label=asset_label(impact.start), start=True)}
    for item in impact.items:
        label = f"{asset_label(item.asset)}: {item.severity}"
        nodes[item.asset.key] = Node(label=label, color=_COLORS[item.severity])
    jobs: dict[tuple[str, str], dict[str, None]] = {}
    decides: dict[tuple[str, str], bool] = {}
    for item in impact.items:
        source = impact.start.key
        for hop in item.path:
            nodes.setdefault(hop.asset.key, Node(label=asset_label(hop.asset), passed=True))
            ends = (source, hop.asset.key)
            jobs.setdefault(ends, {})[_done(hop)] = None
            decides[ends] = decides.get(ends, True) and _decides(hop)
            source = hop.asset.key
    edges = (Edge(*ends, some(list(done)), decides[ends]) for ends, done in jobs.items())
    return Diagram(nodes, tuple(edges))


def _done(hop: ImpactHop) -> str:
    kind = "" if hop.transformation is None else f"{hop.transformation.kind} by "
    return f"{kind}{hop.job.name}"


def _decides(hop: ImpactHop) -> bool:
    return hop.transformation is not None and hop.transformation.type is not TransformationType.DIRECT
