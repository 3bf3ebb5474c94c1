"""Steps of an impact: causes of hits, and the visits that `walk` goes between.

An asset has a visit for each way in which it is hit, because a second path may be worse than the shorter one, or
continue where the first one ends.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from headwater_analysis.lineage.scope import Influence

__all__ = ["Cause", "Influence", "StepFacts"]


class Cause(StrEnum):
    """Cause of the next asset's hit.

    - VALUE: the column's value is computed from the previous column.
    - CHOICE: the previous column decides which value the column has: a CASE, a window.
    - LOOKUP: it decides from which row of another dataset the value is taken: the key of a join.
    - ROWS: it decides which rows the dataset has: a filter, join, group or sort.
    - JOB: the job that writes the dataset fails in analysis, so nothing is written.
    - FLOW: the previous dataset feeds the dataset.
    - UNSEEN: a job reads the previous dataset, and its column lineage is missing or incomplete.
    """

    VALUE = "VALUE"
    CHOICE = "CHOICE"
    LOOKUP = "LOOKUP"
    ROWS = "ROWS"
    JOB = "JOB"
    FLOW = "FLOW"
    UNSEEN = "UNSEEN"


class StepFacts(NamedTuple):
    """Facts of a step that a policy may have conditions on.

    Attributes:
        cause: cause of the hit.
        influence: DIRECT where the values of the start go into the asset, step by step, without an INDIRECT one.
        kind: kind of transformation, `AGGREGATE`; None between datasets.
        masking: whether the value can't be read back.
        first: whether it is the first hop.
        type: type of the dataset that is reached, or whose column is; `''`: unknown.
        criticality: criticality of this dataset; `''`: unknown.
        parted: whether the column that is reached has fields of its own, which are columns too.
    """

    cause: Cause
    influence: Influence
    kind: str | None
    masking: bool
    first: bool
    type: str
    criticality: str
    parted: bool


class ImpactVisit(NamedTuple):
    """An asset that is hit, and how it is hit.

    Attributes:
        node: id of the asset.
        propagates: whether the change goes on from here.
        indirect: whether the path has an INDIRECT step.
        rank: rank of the severity; `NOT_JUDGED` where a change starts.
    """

    node: int
    propagates: bool
    indirect: bool
    rank: int


NOT_JUDGED = 15
"""Rank of what changes itself."""


def start_visit(node: int) -> ImpactVisit:
    """Return the visit that a change starts with."""
    return ImpactVisit(node, propagates=True, indirect=False, rank=NOT_JUDGED)
