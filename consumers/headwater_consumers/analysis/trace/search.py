"""The 32-ary search by batch id: finds the first interval of a query that meets a condition.

The condition must be monotone: false up to some interval, true from it on. Each round reads 31 intervals by the index
on (query, batch id), for all searches at once. Among a million intervals this takes four rounds, even if ids are
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headwater_consumers.analysis.micro_batches import Stretch, following
from headwater_consumers.analysis.reader import Transaction
from headwater_consumers.facts.nodes import IntervalFacts

Row = Mapping[str, Any]
"""`batch`, and what is asked of it."""

FAN_OUT = 32
_WIDE = 256
"""Consecutive intervals that a probe reads until one has a time; reconciled ones may have none."""


@dataclass(slots=True)
class Search:
    """One search and its state.

    Attributes:
        query: key of the query.
        first, last: the batch ids to search, both included.
        reached: the condition on an interval's row; None if the row doesn't have the value, which counts as false.
        dataset: key of the dataset whose positions the rows have.
        by: the property that the rows have, when the search is by time or watermark.
        found: the first batch of the first interval that meets the condition; None if none does.
        met_unknown: whether some row didn't have the value.
    """

    query: str
    first: int
    last: int
    reached: Callable[[Row], bool | None]
    dataset: str = ""
    by: str = "processing_time"
    found: int | None = None
    met_unknown: bool = False
    _low: int = 0
    _high: int = 0

    def __post_init__(self) -> None:
        self._low, self._high = self.first - 1, self.last + 1

    def begin_again(self) -> None:
        """Forget what was found."""
        self.found, self.met_unknown = None, False
        self.__post_init__()

    @property
    def done(self) -> bool:
        """Whether no batch id is left to look at."""
        return self._high - self._low <= 1

    def probes(self) -> Iterable[int]:
        """The batch ids to look at next, evenly apart."""
        low, width = self._low, self._high - self._low
        if width <= FAN_OUT:
            return range(low + 1, self._high)
        return (low + width * step // FAN_OUT for step in range(1, FAN_OUT))

    def take(self, answers: Sequence[tuple[int, Sequence[Row]]]) -> None:
        """Draw conclusions from a round: batch ids in ascending order, each with the first intervals from there on."""
        for at, all_rows in answers:
            rows = [row for row in all_rows if row["batch"] <= self.last]
            if not rows:
                self._high = min(self._high, at)
                return
            batch, holds = self._first_known(rows)
            if holds:
                # No interval begins between `at` and this one, so only those before `at` are left to search.
                self.found, self._high = batch, at
                return
            self._low = max(self._low, batch)

    def _first_known(self, rows: Sequence[Row]) -> tuple[int, bool | None]:
        for row in rows:
            holds = self.reached(row)
            if holds is not None:
                return row["batch"], holds
            self.met_unknown = True
        return rows[-1]["batch"], None


Read = Callable[[Search, IntervalFacts], Row]
"""What a search looks at of a micro-batch."""


def run(tx: Transaction, searches: Sequence[Search], read: Read, *, window: int = 1) -> None:
    """Bring searches to their ends.

    Args:
        tx: the transaction.
        searches: of any queries.
        read: the row that `reached` is asked of.
        window: how many intervals in a row a probe looks at until one has the property.
    """
    open_ = [search for search in searches if not search.done]
    while open_:
        probes = [(n, at) for n, search in enumerate(open_) for at in search.probes()]
        found = following(tx, [Stretch(open_[n].query, at) for n, at in probes], window)
        rows: dict[tuple[int, int], list[Row]] = {
            (n, at): [read(open_[n], interval) for interval in intervals]
            for (n, at), intervals in zip(probes, found, strict=True)
        }
        for n, search in enumerate(open_):
            search.take([(at, rows[n, at]) for at in list(search.probes())])
        open_ = [search for search in open_ if not search.done]


def run_by_time(tx: Transaction, searches: Sequence[Search]) -> None:
    """Bring searches by time or watermark to their ends; a second time where an interval without one misled it."""
    run(tx, searches, _time)
    if misled := [search for search in searches if search.met_unknown]:
        for search in misled:
            search.begin_again()
        run(tx, misled, _time, window=_WIDE)


def _time(search: Search, interval: IntervalFacts) -> Row:
    _, time = interval.variants[interval.winner].registers.get(search.by, ("", None))
    return {"batch": interval.batch_id, "time": time}
