"""Declarations of datasets, jobs and consumers: by declaration set, and merged for one subject.

declaration          a set, a declaration, and the merged declarations of one subject
merge                several sets' declarations of one subject → values to show, and contradictions
stored_declarations  declarations in the graph, and owners
consumers            consumers of some datasets or columns
"""

from headwater_analysis.declared.consumers import (
    ReadingConsumer,
    consumers_of,
    consumers_of_datasets,
)
from headwater_analysis.declared.declaration import Contradiction, Declaration, Declared, SetState
from headwater_analysis.declared.merge import contradictions, merge, merged
from headwater_analysis.declared.stored_declarations import (
    declared,
    declared_of_datasets,
    declared_together,
    owners_by_key,
    set_state,
)

__all__ = [
    "Contradiction",
    "Declaration",
    "Declared",
    "ReadingConsumer",
    "SetState",
    "consumers_of",
    "consumers_of_datasets",
    "contradictions",
    "declared",
    "declared_of_datasets",
    "declared_together",
    "merge",
    "merged",
    "owners_by_key",
    "set_state",
]
