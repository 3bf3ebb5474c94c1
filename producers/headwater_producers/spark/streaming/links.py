"""Attribution of writes inside foreachBatch to micro-batches.

The clock never decides. Spark gives each streaming query a session of its own, runs the query's micro-batches one after
the other, and gives each query plan a number that only grows. So a write in that session belongs to the last
foreachBatch call whose frame has a smaller number. A write through another session is identified by the frame itself:
its plan ends in the frame's RDD, or in an RDD derived from it. Any other write is identified by the thread that ran it,
as far as Spark records that: see `driver.attribution`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

# Maximum number of remembered calls, and of RDDs. Most writes are reported soon; some only after their function's call.
_LIMIT: Final = 1_000


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Micro-batch of a streaming query, in one run of the query.

    Attributes:
        run_id: id of the start; None if it wasn't observed.
    """

    query_id: str
    batch_id: int
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlanKey:
    """Key of a query plan within the application.

    Attributes:
        number: `QueryExecution.id`, which grows with each plan made.
    """

    session: str
    number: int
    rdds: frozenset[int]


class BatchLinks:
    """Links from foreachBatch calls, and from the RDDs that hold rows of their frames, to micro-batches."""

    def __init__(self) -> None:
        self._calls: OrderedDict[int, tuple[PlanKey, MicroBatch]] = OrderedDict()
        self._rdds: OrderedDict[int, MicroBatch] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._calls)

    def called(self, frame: PlanKey, batch: MicroBatch) -> None:
        """Record the call of a foreachBatch function with `frame`."""
        self._calls[frame.number] = (frame, batch)
        if len(self._calls) > _LIMIT:
            self._calls.popitem(last=False)
        for rdd in frame.rdds:
            self.kept(rdd, batch)

    def kept(self, rdd: int, batch: MicroBatch) -> None:
        """Record that an RDD has rows of a micro-batch's frame: the frame's own RDD, or a derived RDD."""
        self._rdds[rdd] = batch
        if len(self._rdds) > _LIMIT:
            self._rdds.popitem(last=False)

    def owner(self, write: PlanKey) -> MicroBatch | None:
        """Return the micro-batch of `write`; None if its plan shows no micro-batch."""
        return self.made_of(write.rdds) or self._last_call(write)

    def made_of(self, rdds: Iterable[int]) -> MicroBatch | None:
        """Return the latest micro-batch that has one of these RDDs: a function can join frames of several."""
        known = [rdd for rdd in rdds if rdd in self._rdds]
        return self._rdds[max(known)] if known else None

    def call(self, query_id: str, batch_id: int, run_id: str | None = None) -> MicroBatch | None:
        """Return the micro-batch of a call, by its ids from Spark or the caller; None if the call wasn't observed.

        Args:
            run_id: id of the start; None: the last start.
        """
        for _, batch in reversed(self._calls.values()):
            is_start = run_id is None or batch.run_id in (None, run_id)
            if (batch.query_id, batch.batch_id) == (query_id, batch_id) and is_start:
                return batch
        return None

    def _last_call(self, write: PlanKey) -> MicroBatch | None:
        latest: tuple[int, MicroBatch] | None = None
        for frame, batch in self._calls.values():
            if (
                frame.session == write.session
                and frame.number < write.number
                and (not latest or frame.number > latest[0])
            ):
                latest = (frame.number, batch)
        return latest[1] if latest else None
