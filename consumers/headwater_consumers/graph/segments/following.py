"""Micro-batches that follow on the one before, added to a segment's summary as numbers.

Nearly all micro-batches of a query are alike but for their numbers, and begin where the one before ended. What such a
one adds to the summary needs no facts: its ends go to the lists, and the bounds of the offsets are those of the first
and the last. Whatever else comes, or comes otherwise, is added as any (`Summary.add`).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import add, sub
from typing import Self

from headwater_consumers.facts.alike import Alike, KafkaUse, Numbers
from headwater_consumers.facts.delta import MicroBatch
from headwater_consumers.graph.derive import Neighbour, next_properties
from headwater_consumers.graph.segments import segment
from headwater_consumers.graph.segments.lists import TAIL, UNKNOWN, Columns, Offsets
from headwater_consumers.graph.segments.summary import Range, Summary
from headwater_schemas.identity import from_micros


def add_all(
    summary: Summary, tenant: str, micro_batches: Iterable[MicroBatch], before: Neighbour | None
) -> Neighbour | None:
    """Add micro-batches by ascending batch id that come after all others; returns the last as the next one's neighbour.

    Args:
        summary: of the segment so far.
        tenant: of the graph.
        micro_batches: what is added.
        before: the one before the first, of this segment or an earlier one.
    """
    following: _Following | None = None
    for one in micro_batches:
        if following is not None:
            if following.add(one):
                continue
            before = following.end()
        following = _Following.begin(summary, one, before)
        if following is None:
            before = summary.add(tenant, one.outline(), before)
    return before if following is None else following.end()


class _Following:
    """A run of alike micro-batches, of which the summary has all but the bounds until `end`.

    Args:
        summary: which they are added to.
        alike: of all of them.
        columns: the node's tail.
        uses: of those with offsets: the use, its range, its tail, and the end of the micro-batch before.
        batch_id: of the micro-batch before.
    """

    __slots__ = ("_alike", "_batch_id", "_columns", "_count", "_last", "_summary", "_times", "_uses")

    def __init__(
        self,
        summary: Summary,
        alike: Alike,
        columns: Columns,
        uses: list[tuple[KafkaUse, Range, Offsets, Numbers]],
        batch_id: int,
    ) -> None:
        self._summary, self._alike, self._columns, self._uses = summary, alike, columns, uses
        self._batch_id, self._count = batch_id, 0
        self._times: list[int] = []
        self._last: Numbers = ()

    @classmethod
    def begin(cls, summary: Summary, one: MicroBatch, before: Neighbour | None) -> Self | None:
        """What adds a micro-batch and those that follow; None where it has to be added as any.

        Args:
            summary: that of its segment so far.
            one: the micro-batch.
            before: the micro-batch before it.
        """
        alike, columns = one.alike, summary.lists.get(TAIL)
        if alike is None or columns is None or before is None or alike.uses.keys() != summary.ranges.keys():
            return None
        uses = []
        positions = {}
        for key, use in alike.uses.items():
            range_ = summary.ranges[key]
            if use is None:
                if range_.offsets:
                    return None
                continue
            tail = range_.lists.get(TAIL)
            if tail is None or list(range_.offsets) != use.properties["partitions"]:
                return None
            begins = use.from_(one.numbers)
            # Where the lists have got to: of a partition that had nothing yet, or not of late, it isn't the end before.
            if tuple(map(add, tail.from_, tail.ends[-len(begins) :])) != begins:
                return None
            positions[key] = use.position(one.numbers)
            uses.append((use, range_, tail, begins))
        if next_properties(before, Neighbour(alike.query, one.batch_id, positions)):
            return None
        following = cls(summary, alike, columns, uses, before.batch_id)
        return following if following.add(one) else None

    def add(self, one: MicroBatch) -> bool:
        """Add a micro-batch; False, and nothing is added, where it has to be added as any."""
        alike, numbers, batch_id = self._alike, one.numbers, one.batch_id
        if one.alike is not alike or batch_id != self._batch_id + 1 or batch_id % segment.TAIL == 0:
            return False
        if alike.dropped is not None and numbers[alike.dropped]:
            return False
        if any(use.from_(numbers) != end for use, _, _, end in self._uses):
            return False
        for at, (use, range_, tail, _) in enumerate(self._uses):
            end = use.to_exclusive(numbers)
            if tail.starts is not None:
                tail.starts += tail.ends[-len(end) :]
            tail.ends += map(sub, end, tail.from_)
            self._uses[at] = use, range_, tail, end
        time = UNKNOWN
        if alike.time is not None:
            time = numbers[alike.time]
            self._times.append(time)
            time //= 1_000
        self._columns.add(
            batch_id,
            time,
            UNKNOWN if alike.duration_ms is None else numbers[alike.duration_ms],
            UNKNOWN if alike.rows_in is None else numbers[alike.rows_in],
        )
        self._batch_id, self._last = batch_id, numbers
        self._count += 1
        return True

    def end(self) -> Neighbour:
        """Add what they add up to; returns the last as the neighbour of the next."""
        summary, alike, count = self._summary, self._alike, self._count
        summary.batches += count
        summary.last = self._batch_id
        if self._times:
            began, ended = from_micros(min(self._times)), from_micros(max(self._times))
            summary.timed += count
            summary.began = began if summary.began is None else min(summary.began, began)
            summary.ended = ended if summary.ended is None else max(summary.ended, ended)
        if alike.run is not None:
            summary.runs[alike.run] = summary.runs.get(alike.run, 0) + count
        for key in alike.uses:
            summary.ranges[key].batches += count
        for _, range_, _, end in self._uses:
            for (partition, (first, highest)), last in zip(list(range_.offsets.items()), end, strict=True):
                range_.offsets[partition] = first, max(highest, last)
        positions = {key: use.position(self._last) for key, use in alike.uses.items() if use is not None}
        return Neighbour(alike.query, self._batch_id, positions)
