"""Answers as text that other programs draw: Mermaid and Graphviz. Arrows point the way that data flows.

diagram      nodes and edges, and both ways to write them down
lineage      upstream and downstream
trace        the parts of datasets, and the steps between them
impact       what a change hits, coloured by how badly
"""

from headwater.show.diagram.diagram import Diagram, DiagramFormat, drawn
from headwater.show.diagram.impact import impact_diagram
from headwater.show.diagram.lineage import lineage_diagram
from headwater.show.diagram.trace import trace_diagram

__all__ = ["Diagram", "DiagramFormat", "drawn", "impact_diagram", "lineage_diagram", "trace_diagram"]
