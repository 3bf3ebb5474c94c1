"""Differences in lineage between two times, two runs, or two code versions of a job.

point     one side, as it is asked for
sides     one side, as the graph has it
edges     column edges of two sides compared
diff      the question
answer    what is said
"""

from headwater_consumers.analysis.diff.answer import Change, ColumnChange, DatasetChange, Diff, EdgeChange, Side
from headwater_consumers.analysis.diff.diff import diff
from headwater_consumers.analysis.diff.point import Point

__all__ = ["Change", "ColumnChange", "DatasetChange", "Diff", "EdgeChange", "Point", "Side", "diff"]
