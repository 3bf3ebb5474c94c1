"""Differences in lineage between two times, two runs, or two code versions of a job.

sides    one side of the comparison: as given in the question, and as resolved in the graph
compare  the question: column edges of two sides compared
changes  the answer: changes of edges, datasets and columns
"""

from headwater_analysis.diff.changes import ColumnChange, Diff, EdgeChange, Side
from headwater_analysis.diff.compare import diff
from headwater_analysis.diff.sides import Point

__all__ = ["ColumnChange", "Diff", "EdgeChange", "Point", "Side", "diff"]
