"""Lineage upstream and downstream of a dataset or a column.

scope         the question, and its bounds
hops          the answer: assets, the hops between them, and the jobs of the hops
find_lineage  the question answered: a page, the hops between its assets, caveats
search        breadth-first, DIRECT and INDIRECT separately; pure
steps         edges that the search follows: from dataset to dataset, and from column to column
holding       the rule that decides which plans hold; pure
plans         plans on the paths of a question, and whether they hold, now or at a time
details       names, jobs and columns, looked up only for a page
"""

from headwater_analysis.lineage.find_lineage import lineage
from headwater_analysis.lineage.hops import (
    ColumnMapping,
    Lineage,
    LineageEdge,
    LineageItem,
    Transformation,
    Via,
)
from headwater_analysis.lineage.scope import (
    ALL_HOPS,
    Filters,
    Influence,
    LineageDirection,
    LineageQuestion,
)

__all__ = [
    "ALL_HOPS",
    "ColumnMapping",
    "Filters",
    "Influence",
    "Lineage",
    "LineageDirection",
    "LineageEdge",
    "LineageItem",
    "LineageQuestion",
    "Transformation",
    "Via",
    "lineage",
]
