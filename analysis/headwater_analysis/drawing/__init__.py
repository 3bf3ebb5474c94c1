"""Graph around a dataset, for drawing: nodes, and every edge between them.

answer      nodes, edges, metadata
draw        the question answered
"""

from headwater_analysis.drawing.answer import (
    Drawing,
    DrawingMetadata,
    DrawnColumn,
    DrawnEdge,
    DrawnNode,
    Reach,
)
from headwater_analysis.drawing.draw import MOST_NODES, draw, keys_around

__all__ = [
    "MOST_NODES",
    "Drawing",
    "DrawingMetadata",
    "DrawnColumn",
    "DrawnEdge",
    "DrawnNode",
    "Reach",
    "draw",
    "keys_around",
]
