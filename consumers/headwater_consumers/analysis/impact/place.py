"""Places of an impact: an asset, how it was hit, and how badly. Integers, so that `walk` goes from one to the next.

An asset has a place for each way in which it is hit, because a second way may be worse than the one that is shorter, or
go on where the first one ends.
"""

from __future__ import annotations

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
