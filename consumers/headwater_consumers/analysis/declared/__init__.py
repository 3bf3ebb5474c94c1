"""What is declared of datasets, jobs and consumers: by set, and of one subject by all sets that declare it.

answer    the answers
merge     one subject's declarations of several sets → what is shown, and where they contradict each other
ask       the questions
consumers who reads some datasets or columns
owners    who answers for some datasets, jobs or consumers
"""

from headwater_consumers.analysis.declared.answer import Contradiction, Declaration, Declared, SetState
from headwater_consumers.analysis.declared.ask import (
    dataset_names,
    declarations,
    declared,
    declared_edges,
    declared_of_datasets,
    declared_together,
    feeds_elsewhere,
    holding_elsewhere,
    set_progress,
    set_state,
    there,
    unknown_datasets,
)
from headwater_consumers.analysis.declared.consumers import (
    ReadingConsumer,
    consumers_of,
    consumers_of_datasets,
)
from headwater_consumers.analysis.declared.merge import contradictions, merge, merged
from headwater_consumers.analysis.declared.owners import owners_by_key

__all__ = [
    "Contradiction",
    "Declaration",
    "Declared",
    "ReadingConsumer",
    "SetState",
    "consumers_of",
    "consumers_of_datasets",
    "contradictions",
    "dataset_names",
    "declarations",
    "declared",
    "declared_edges",
    "declared_of_datasets",
    "declared_together",
    "feeds_elsewhere",
    "holding_elsewhere",
    "merge",
    "merged",
    "owners_by_key",
    "set_progress",
    "set_state",
    "there",
    "unknown_datasets",
]
