"""Steps of an impact: causes of hits, and the places that `walk` goes between.

A place is an asset, the way in which it was hit, and the severity: an integer, so that `walk` goes from one to the
next. An asset has a place for each way in which it is hit, because a second path may be worse than the shorter one, or
continue where the first one ends.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from headwater_analysis.lineage.question import Influence

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


NODE_SHIFT = 6
"""Bits of a place below its node's id."""

_NOT_JUDGED = 15


def start_place(node: int) -> int:
    """Return the place where a change starts."""
    return place_of(node, indirect=False, rank=_NOT_JUDGED, propagates=True)


def place_of(node: int, *, indirect: bool, rank: int, propagates: bool) -> int:
    """Return the place of an asset that is hit in this way; `rank` is that of the severity."""
    return node << NODE_SHIFT | propagates << 5 | indirect << 4 | rank


def node_of(place: int) -> int:
    """Return the id of a place's node."""
    return place >> NODE_SHIFT


def is_indirect(place: int) -> bool:
    """Return whether the path to a place has an INDIRECT step."""
    return bool(place >> 4 & 1)


def propagates(place: int) -> bool:
    """Return whether the change propagates from a place."""
    return bool(place >> 5 & 1)


def rank_of(place: int) -> int:
    """Return the rank of a place's severity."""
    return place & 15


def order_of(place: int) -> int:
    """Sort key of places: the DIRECT ones first, then by the rank of their severity."""
    return place & 31
