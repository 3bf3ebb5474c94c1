"""Graph around a dataset, for drawing: nodes, and every edge between them.

drawing     the answer: nodes, edges, metadata
draw        the question
chosen      which datasets are drawn, where there are more than fit
labels      chosen      which datasets are drawn, where there are more than fit
labels of datasets
neighbours  pages of the direct neighbours of a dataset
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
from headwater_analysis.drawing.neighbours import (
    Neighbour,
    NeighbourFacets,
    NeighbourFilters,
    NeighbourPage,
    neighbours,
)

__all__ = [
    "MOST_NODES",
    "ColumnScope",
    "Drawing",
    "DrawingMetadata",
    "DrawnColumn",
    "DrawnEdge",
    "DrawnNode",
    "Neighbour",
    "NeighbourFacets",
    "NeighbourFilters",
    "NeighbourPage",
    "Opened",
    "Reach",
    "draw",
    "keys_around",
    "neighbours",
]
