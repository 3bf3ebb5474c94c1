"""What is declared of datasets, jobs and consumers: by set, and of one subject by all sets that declare it.

answer    the answers
merge     one subject's declarations of several sets → what is shown, and where they contradict each other
ask       the questions
consumers who reads some datasets or columns
"""

from headwater_consumers.analysis.declared.answer import Contradiction, Declaration, Declared, SetState
from headwater_consumers.analysis.declared.ask import (
    declarations,
    declared,
    declared_together,
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

__all__ = [
    "Contradiction",
    "Declaration",
    "Declared",
    "ReadingConsumer",
    "SetState",
    "consumers_of",
    "consumers_of_datasets",
    "contradictions",
    "declarations",
    "declared",
    "declared_together",
    "holding_elsewhere",
    "merge",
    "merged",
    "set_progress",
    "set_state",
    "there",
    "unknown_datasets",
]
