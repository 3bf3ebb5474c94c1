"""What a table's log says of the versions that a batch write has made."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_producers.spark.events.writes import Counts
from headwater_schemas.events import Certainty, Position


@dataclass(frozen=True, slots=True)
class Committed:
    """A version that a write has made, how sure that is, and what the table counted of it.

    Attributes:
        position: of several, the last; None: there are some, and which is the write's can't be told.
        certainty: of `position`.
        counts: of all of them.
        before: the version that it was made from.
        keeps: whether the table still has files that this write didn't make; None where that isn't known.
    """

    position: Position | None
    certainty: Certainty
    counts: Counts
    before: Position | None = None
    keeps: bool | None = None
