"""Which micro-batch a write inside foreachBatch belongs to.

Never told by the clock. Spark gives each streaming query a session of its own and runs its micro-batches one after the
other, and each query plan a number that only grows: so a write in that session belongs to the last foreachBatch call
whose frame has a smaller number. A write that was made through another session is known by the frame itself: its plan
ends in the frame's RDD.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

# Calls remembered. Writes are reported soon after; the rest is for writes that outlive their function's call.
_LIMIT: Final = 1_000


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """One micro-batch of a streaming query."""

    query_id: str
    batch_id: int


@dataclass(frozen=True, slots=True)
class PlanKey:
    """What tells one query plan from all others of the application.

    Attributes:
        session: id of the session that it was made in.
        number: `QueryExecution.id`, which grows with each plan made.
        rdds: ids of the RDDs that its leaves are, if any.
    """

    session: str
    number: int
    rdds: frozenset[int]


class BatchLinks:
    """The foreachBatch calls seen so far."""

    def __init__(self) -> None:
        self._calls: OrderedDict[int, tuple[PlanKey, MicroBatch]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._calls)

    def called(self, frame: PlanKey, batch: MicroBatch) -> None:
        """A foreachBatch function is called with `frame`."""
        self._calls[frame.number] = (frame, batch)
        if len(self._calls) > _LIMIT:
            self._calls.popitem(last=False)

    def owner(self, write: PlanKey) -> MicroBatch | None:
        """The micro-batch that `write` belongs to; None for one that is no part of any."""
        latest: tuple[int, MicroBatch] | None = None
        for frame, batch in self._calls.values():
            if frame.rdds & write.rdds:
                return batch
            if (
                frame.session == write.session
                and frame.number < write.number
                and (not latest or frame.number > latest[0])
            ):
                latest = (frame.number, batch)
        return latest[1] if latest else None
