"""What a dataset or a column comes from, and what comes of it.

question          what may be asked
answer            what is said
ask               the question answered
search            breadth-first, DIRECT and INDIRECT apart; pure
scope             a question's bounds, as statements take them
datasets          the steps from dataset to dataset
columns           the steps from column to column
holding           the rule by which plans hold; pure
plans             the plans that a question meets, and which of them hold, now or at a time
caveats           what else to know before it reads as nothing
page              where a page begins and ends
between           every hop between the assets of a page
details           what is looked up for a page alone
mappings          the columns along hops between datasets
transformations   what an edge of a plan does
"""

from headwater_consumers.analysis.lineage.answer import (
    ColumnMapping,
    Lineage,
    LineageEdge,
    LineageItem,
    Transformation,
    Via,
)
from headwater_consumers.analysis.lineage.ask import lineage
from headwater_consumers.analysis.lineage.question import (
    ALL_HOPS,
    Direction,
    Filters,
    Influence,
    LineageQuestion,
)

__all__ = [
    "ALL_HOPS",
    "ColumnMapping",
    "Direction",
    "Filters",
    "Influence",
    "Lineage",
    "LineageEdge",
    "LineageItem",
    "LineageQuestion",
    "Transformation",
    "Via",
    "lineage",
]
