"""Decoding ahead: records of the next batch are looked at as they come, while the batch before is being written.

A batch isn't made before the one before it is through, unless it is full: until then there may be more to put into it.
Without this, a topic that isn't behind would be decoded only once the database has nothing to do.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from headwater_consumers.materializer.decode import decode_one
from headwater_schemas.errors import LineageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from headwater_consumers.materializer.batch import Preparation
    from headwater_consumers.materializer.dead_letter import DeadLetter
    from headwater_consumers.materializer.records import Decoded, Partition, Record

_AT_ONCE = 50  # some 5 ms, in which the end of a transaction may go unnoticed
# Events take ten times the memory of their records. A batch of more than these is in no hurry.
_AT_MOST = 1_000


class Ahead:
    """What became of the first of the fetched records.

    Args:
        how: what decoding takes.

    Attributes:
        outcomes: of as many records as were looked at, in their order.
        seconds: that decoding them took.
    """

    def __init__(self, how: Preparation) -> None:
        self._how = how
        self._in_trouble = False
        self.outcomes: list[Decoded | DeadLetter] = []
        self.seconds = 0.0

    def look(self, fetched: Sequence[Record]) -> None:
        """Decode a few more. Trouble with schemas is left to whoever makes the batch, who waits and tries again."""
        known = len(self.outcomes)
        if self._in_trouble or known >= min(len(fetched), _AT_MOST):
            return
        began = self._how.clock()
        try:
            for record in islice(fetched, known, min(known + _AT_ONCE, _AT_MOST)):
                self.outcomes.append(decode_one(record, self._how.decoder, self._how.reject))
        except LineageError:
            self._in_trouble = True
        self.seconds += self._how.clock() - began

    def forget(self, partitions: Collection[Partition]) -> None:
        """Records of these partitions were let go of."""
        self.outcomes = [one for one in self.outcomes if one.record.partition not in partitions]

    def clear(self) -> None:
        """Other records come first now."""
        self.outcomes = []

    def take(self, count: int) -> tuple[list[Decoded | DeadLetter], float]:
        """Outcomes of at most so many of the first records, and the seconds that all took. They stay until `taken`."""
        return self.outcomes[:count], self.seconds

    def taken(self, count: int) -> None:
        """A batch was made of so many records."""
        del self.outcomes[:count]
        self.seconds = 0.0
        self._in_trouble = False
