"""Steps of an impact: why an asset is hit, and the places that `walk` goes between.

A place is an asset, how it was hit, and how badly: an integer, so that `walk` goes from one to the next. An asset has
a place for each way in which it is hit, because a second way may be worse than the one that is shorter, or go on where
the first one ends.
"""

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


NODE_SHIFT = 6
"""A place is its node's id shifted so far, with the rest below."""

_NOT_JUDGED = 15


def start_place(node: int) -> int:
    """Where a change begins."""
    return place_of(node, indirect=False, rank=_NOT_JUDGED, propagates=True)


def place_of(node: int, *, indirect: bool, rank: int, propagates: bool) -> int:
    """The place of an asset that is hit so; `rank` is that of the severity."""
    return node << NODE_SHIFT | propagates << 5 | indirect << 4 | rank


def node_of(place: int) -> int:
    """The id of its node."""
    return place >> NODE_SHIFT


def is_indirect(place: int) -> bool:
    """Whether the way there has an INDIRECT step."""
    return bool(place >> 4 & 1)


def propagates(place: int) -> bool:
    """Whether it goes on from there."""
    return bool(place >> 5 & 1)


def rank_of(place: int) -> int:
    """The rank of its severity."""
    return place & 15


def way_of(place: int) -> int:
    """What orders places: the DIRECT ones first, then by the rank of their severity."""
    return place & 31
