"""Graph around a dataset, for drawing: nodes, and every edge between them.

drawing  the answer: nodes, edges, metadata
draw     the question
chosen   which datasets are drawn, where there are more than fit
"""

from headwater_analysis.drawing.chosen import Opened
from headwater_analysis.drawing.draw import MOST_NODES, draw, keys_around
from headwater_analysis.drawing.drawing import (
    ColumnScope,
    Drawing,
    DrawingMetadata,
    DrawnColumn,
    DrawnEdge,
    DrawnNode,
    Reach,
)

__all__ = [
    "MOST_NODES",
    "ColumnScope",
    "Drawing",
    "DrawingMetadata",
    "DrawnColumn",
    "DrawnEdge",
    "DrawnNode",
    "Opened",
    "Reach",
    "draw",
    "keys_around",
]
