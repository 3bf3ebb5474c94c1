"""32-ary search by batch id: finds the first interval (stored micro-batch) of a query that meets a condition.

The condition must be monotone: false before some interval, and true for this interval and all later intervals. Each
round reads 31 intervals by the index on (query, batch id), for all searches at once. Among a million intervals this
takes four rounds, even if ids are missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headwater_analysis.micro_batches import StoredMicroBatch, Stretch, load, stored_batches
from headwater_analysis.moments import moment, moment_of
from headwater_analysis.reader import Transaction
from headwater_graph.segments import segment

if TYPE_CHECKING:
    from neo4j import Record

Row = Mapping[str, Any]
"""Row with `batch`, and the value that a search needs."""

FAN_OUT = 32
_WIDE = 256
"""Number of consecutive intervals that a probe reads to find one with a time: reconciled intervals may have none."""


@dataclass(slots=True)
class Search:
    """A search and its state.

    Attributes:
        query: key of the query.
        first, last: batch ids to search, both included.
        reached: condition on an interval's row; returns None if the row lacks the value, which counts as false.
        dataset: key of the dataset whose positions the rows have.
        by: property that a search by time compares: `processing_time`, `watermark_before` or `watermark_after`.
        near: partition and offset near which the search probably ends; None: unknown.
        found: batch id of the first interval that meets the condition; None if no interval does.
        met_unknown: whether some row lacked the value.
    """

    query: str
    first: int
    last: int
    reached: Callable[[Row], bool | None]
    dataset: str = ""
    by: str = "processing_time"
    near: tuple[int, int] | None = None
    found: int | None = None
    met_unknown: bool = False
    _low: int = 0
    _high: int = 0

    def __post_init__(self) -> None:
        self._low, self._high = self.first - 1, self.last + 1

    def begin_again(self) -> None:
        """Forget the results."""
        self.found, self.met_unknown = None, False
        self.__post_init__()

    @property
    def done(self) -> bool:
        """True if no batch id is left."""
        return self._high - self._low <= 1

    def probes(self, fan_out: int = FAN_OUT) -> Iterable[int]:
        """Batch ids to read next, evenly spaced."""
        low, width = self._low, self._high - self._low
        if width <= fan_out:
            return range(low + 1, self._high)
        return (low + width * step // fan_out for step in range(1, fan_out))

    def narrow(self, low: int, high: int) -> None:
        """Exclude batch ids before `low` and after `high`: they can't be the first."""
        self._low, self._high = max(self._low, low - 1), min(self._high, high + 1)

    @property
    def left(self) -> tuple[int, int]:
        """First and last batch id among which the result may still be."""
        return self._low + 1, self._high - 1

    def take(self, answers: Sequence[tuple[int, Sequence[Row]]], window: int) -> None:
        """Narrow the search by the results of a round.

        Args:
            answers: batch ids in ascending order, each with the first intervals at or after it.
            window: maximum number of intervals in each answer.
        """
        for at, all_rows in answers:
            rows = [row for row in all_rows if row["batch"] <= self.last]
            if not rows:
                self._high = min(self._high, at)
                return
            batch, holds = self._first_known(rows)
            if holds is None and len(rows) < window:
                # These are the last intervals, and none has the value.
                self._high = min(self._high, at)
                return
            if holds:
                # No interval begins between `at` and this one, so only intervals before `at` are left to search.
                self.found, self._high = batch, at
                return
            self._low = max(self._low, batch)

    def see(self, batch: int, row: Row) -> None:
        """Narrow the search by one interval; an interval without the value changes nothing."""
        if holds := self.reached(row):
            self.found = self._high = batch
        elif holds is not None:
            self._low = batch

    def _first_known(self, rows: Sequence[Row]) -> tuple[int, bool | None]:
        for row in rows:
            holds = self.reached(row)
            if holds is not None:
                return row["batch"], holds
            self.met_unknown = True
        return rows[-1]["batch"], None


Read = Callable[[Search, StoredMicroBatch], Row]
"""Function that returns the row of a micro-batch for a search."""


def run(tx: Transaction, searches: Sequence[Search], read: Read, *, window: int = 1) -> None:
    """Run searches until all are done.

    Args:
        read: returns the row that `reached` takes.
        window: number of consecutive intervals that a probe reads until one has the value.
    """
    open_ = [search for search in searches if not search.done]
    near = [search for search in open_ if _is_near(search)]
    load(tx, [Stretch(search.query, *search.left) for search in near])
    _run(tx, near, read, window, _IN_MEMORY)
    _run(tx, [search for search in open_ if not search.done], read, window, FAN_OUT)


def _run(tx: Transaction, searches: Sequence[Search], read: Read, window: int, fan_out: int) -> None:
    open_ = searches
    while open_:
        probes = [(n, at) for n, search in enumerate(open_) for at in search.probes(fan_out)]
        answers = stored_batches(tx, [Stretch(open_[n].query, at) for n, at in probes], window)
        rows: dict[tuple[int, int], list[Row]] = {
            (n, at): [read(open_[n], each) for each in batches]
            for (n, at), batches in zip(probes, answers, strict=True)
        }
        for n, search in enumerate(open_):
            search.take([(at, rows[n, at]) for at in list(search.probes(fan_out))], window)
        open_ = [search for search in open_ if not search.done]


_IN_MEMORY = 2
"""Fan-out of a search in memory: decoding a micro-batch costs more than a round."""
_NEAR = 2
"""Maximum number of segments to read whole and search in memory."""


def _is_near(search: Search) -> bool:
    first, last = search.left
    return segment.at(last).segment - segment.at(first).segment < _NEAR


@dataclass(frozen=True, slots=True)
class Guide:
    """Offsets of a topic's partition in a segment (up to 512 consecutive micro-batches of a query, in blocks).

    Attributes:
        start: first batch id of the segment.
        partition: partition of the topic.
        first, end: lowest and highest offset (half-open) in the segment.
        begins: first offset of each block; None, or -1, where unknown.
    """

    start: int
    partition: int
    first: int
    end: int
    begins: Sequence[int | None]

    def has(self, near: tuple[int, int] | None) -> bool:
        """Return whether the segment has this partition and offset."""
        return near is not None and near[0] == self.partition and self.first <= near[1] < self.end

    def block(self, offset: int) -> int:
        """Number of the block that may have the offset."""
        return max((n for n, begin in enumerate(self.begins) if begin is not None and 0 <= begin <= offset), default=0)


def add_guide(tx: Transaction, query: str, dataset: str, type_: str, guide: Guide) -> None:
    """Cache a guide to the offsets of a dataset that a query read (CONSUMED) or wrote (PRODUCED)."""
    _guides(tx).setdefault((query, dataset, type_), []).append(guide)


def _guides(tx: Transaction) -> dict[tuple[str, str, str], list[Guide]]:
    guides: Any = tx.shared.setdefault("guides", {})
    return guides  # type: ignore[no-any-return]


def look_near(tx: Transaction, searches: Sequence[Search], type_: str, read: Read) -> None:
    """Narrow searches by cached guides, mostly to one block of a segment.

    A search whose result lies elsewhere isn't narrowed that far; its result is correct, too.
    """
    guides = _guides(tx)
    for search in searches:
        for guide in guides.get((search.query, search.dataset, type_), ()):
            first, last = guide.start, guide.start + segment.SIZE - 1
            if guide.has(search.near) and search.first <= last and first <= search.last:
                begin = first + guide.block(search.near[1]) * segment.PLACES if search.near is not None else first
                _look_between(tx, search, read, begin, min(begin + segment.PLACES - 1, last))
                if search.left[0] < first or last < search.left[1]:
                    _look_between(tx, search, read, first, last)
                break


def _look_between(tx: Transaction, search: Search, read: Read, first: int, last: int) -> None:
    """Narrow a search by the first and the last micro-batch of a range of batch ids within one cached segment."""
    for backwards in (False, True):
        for batch in stored_batches(tx, [Stretch(search.query, first, last)], 1, backwards=backwards)[0]:
            if search.left[0] <= batch.batch_id <= search.left[1]:
                search.see(batch.batch_id, read(search, batch))


def narrow(tx: Transaction, searches: Sequence[Search], type_: str) -> None:
    """Search by the offsets of whole segments first, so that at most two segments are left to read.

    Args:
        type_: CONSUMED or PRODUCED.
    """
    _narrow(tx, searches, "trace/probe_segments", {"type": type_}, _offset_rows)


def _offset_rows(row: Record) -> Iterable[Row]:
    # The segment's offsets include offsets of conflicting reports, which aren't searched.
    if row["contested"]:
        return ()
    return ({"batch": row["first"], "uses": [{**use, "position": "kafka"} for use in row["uses"]]},)


def _narrow(
    tx: Transaction,
    searches: Sequence[Search],
    name: str,
    asked: Mapping[str, Any],
    rows_of: Callable[[Record], Iterable[Row]],
) -> None:
    """Narrow searches by the properties of segments, until at most two segments of each search are left.

    Args:
        name: statement that finds the first segment at or after a batch id.
        asked: further parameters of each probe.
        rows_of: returns a segment's properties as rows for `reached`. If `reached` holds for the segment, it holds for
            some micro-batch of the segment; if not, it can only hold for the segment's last micro-batches.
    """
    open_ = {
        n: [segment.at(first).segment, segment.at(last).segment]
        for n, search in enumerate(searches)
        for first, last in [search.left]
        if not search.done
    }
    while open_ := {n: bounds for n, bounds in open_.items() if bounds[1] - bounds[0] >= _NEAR}:
        probes = [
            {
                "n": n,
                "query": searches[n].query,
                "start": number * segment.SIZE,
                "dataset": searches[n].dataset,
                **asked,
            }
            for n, (low, high) in open_.items()
            for number in _evenly(low, high)
        ]
        rows: dict[int, list[Record]] = defaultdict(list)
        for row in tx.rows(name, probes=probes):
            rows[row["n"]].append(row)
        for n, bounds in open_.items():
            if not _halve(searches[n], bounds, sorted(rows[n], key=lambda row: row["at"]), rows_of):
                bounds[0] = bounds[1]


def _evenly(low: int, high: int) -> list[int]:
    """Evenly spaced numbers between two bounds, both excluded."""
    count = min(FAN_OUT, high - low)
    return sorted({low + (high - low) * step // count for step in range(1, count)})


def _halve(
    search: Search, bounds: list[int], rows: Sequence[Record], rows_of: Callable[[Record], Iterable[Row]]
) -> bool:
    """Narrow a search by segments in ascending order; return whether that changed anything."""
    low, high = bounds
    for row in rows:
        if row["first"] < search.first or row["last"] > search.last:
            continue
        reached = [search.reached(each) for each in rows_of(row)]
        number = segment.at(row["start"]).segment
        if True in reached:
            search.narrow(search.first, row["last"])
            high = min(high, number)
            break
        if False in reached:
            search.narrow(row["first"], search.last)
            low = max(low, number)
    moved = [low, high] != bounds
    bounds[:] = [low, high]
    return moved


def run_by_time(tx: Transaction, searches: Sequence[Search]) -> None:
    """Run searches by time or watermark.

    Searches that read an interval without the value run again, with a wider window.
    """
    _run_by_time(tx, searches, 1)
    if misled := [search for search in searches if search.met_unknown]:
        for search in misled:
            search.begin_again()
        _run_by_time(tx, misled, _WIDE)


def _run_by_time(tx: Transaction, searches: Sequence[Search], window: int) -> None:
    of_segments = [each for each in searches if each.by == "processing_time"]
    _narrow(tx, of_segments, "trace/probe_segment_times", {}, _last_time_rows)
    run(tx, searches, _time, window=window)


def _last_time_rows(row: Record) -> Iterable[Row]:
    return ({"batch": row["last"], "time": moment_of(row["last_time"])},)


def _time(search: Search, batch: StoredMicroBatch) -> Row:
    if search.by == "processing_time":
        return {"batch": batch.batch_id, "time": batch.processing_time()}
    interval = batch.interval()
    _, time = interval.variants[interval.winner].registers.get(search.by, ("", None))
    return {"batch": batch.batch_id, "time": time}


def reached_after(time: datetime, *, inclusive: bool) -> Callable[[Row], bool | None]:
    """Condition for `Search.reached`: the row's time is after the given time (`inclusive`: or equal)."""

    def reached(row: Row) -> bool | None:
        own = moment(row["time"])
        return None if own is None else is_after(own, time, inclusive=inclusive)

    return reached


def is_after(one: datetime, time: datetime, *, inclusive: bool) -> bool:
    """Return whether `one` is after `time` (`inclusive`: or equal to it)."""
    return one > time or (inclusive and one == time)
