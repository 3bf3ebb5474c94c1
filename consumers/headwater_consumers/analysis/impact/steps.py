"""How a change gets from one asset to the next, and what is known of that step."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from headwater_consumers.analysis.lineage.question import Influence

__all__ = ["Cause", "Influence", "StepFacts"]


class Cause(StrEnum):
    """Why the next asset is hit.

    - VALUE: the column's value is made of the one before.
    - CHOICE: the one before decides which value the column has: a CASE, a window.
    - LOOKUP: it decides from which row of another dataset the value is taken: the key of a join.
    - ROWS: it decides which rows the dataset has: a filter, join, group or sort.
    - JOB: the job that writes the dataset can't be analyzed any more, so nothing is written.
    - FLOW: the dataset before feeds the dataset.
    - UNSEEN: a job reads the dataset before, and its column lineage is missing or incomplete.
    """

    VALUE = "VALUE"
    CHOICE = "CHOICE"
    LOOKUP = "LOOKUP"
    ROWS = "ROWS"
    JOB = "JOB"
    FLOW = "FLOW"
    UNSEEN = "UNSEEN"


class StepFacts(NamedTuple):
    """What a policy may ask of a step.

    Attributes:
        cause: see there.
        influence: DIRECT where the values of the start go into the asset, step by step, without an INDIRECT one.
        kind: of transformation, `AGGREGATE`; None between datasets.
        masking: whether the value can't be read back.
        first: whether it is the first hop.
        type: of the dataset that is reached, or whose column is; `''`: not known.
        criticality: likewise.
        parted: whether a column is reached that has fields of its own, which are columns too.
    """

    cause: Cause
    influence: Influence
    kind: str | None
    masking: bool
    first: bool
    type: str
    criticality: str
    parted: bool
