"""Graph around a dataset, for drawing: nodes, and every edge between them.

drawing     the answer: nodes, edges, metadata
draw        the question
chosen      choice of the datasets to draw if there are more than fit
labels      labels of datasets
most_used   datasets with the most uses
neighbours  pages of the direct neighbours of a dataset
"""

from headwater_analysis.drawing.chosen import Opened
from headwater_analysis.drawing.draw import MOST_NODES, draw, keys_around
from headwater_analysis.drawing.drawing import (
    ColumnScope,
    Drawing,
    DrawnNode,
    Reach,
)
from headwater_analysis.drawing.most_used import MostUsed, most_used
from headwater_analysis.drawing.neighbours import (
    Neighbour,
    NeighbourFilters,
    NeighbourPage,
    neighbours,
)

__all__ = [
    "MOST_NODES",
    "ColumnScope",
    "Drawing",
    "DrawnNode",
    "MostUsed",
    "Neighbour",
    "NeighbourFilters",
    "NeighbourPage",
    "Opened",
    "Reach",
    "draw",
    "keys_around",
    "most_used",
    "neighbours",
]
