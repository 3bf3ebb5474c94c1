"""The 32-ary search by batch id: the first interval of a query from which on something holds.

Each round asks for 31 intervals by the index on (query, batch id), so that among a million it takes four rounds, of all
searches at once, whatever ids are missing. What a search asks must be monotone: false, then true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from neo4j import Record

from headwater_consumers.analysis.reader import Transaction

FAN_OUT = 32
_WIDE = 256
"""Intervals in a row that are passed over to one that has a time; reconciled ones may have none."""


@dataclass(slots=True)
class Search:
    """One search, and as far as it has come.

    Attributes:
        query: key of the query.
        first, last: the batch ids to search, both included.
        reached: what is asked of an interval's row; None where the row doesn't have it, which counts as not yet.
        dataset: key of the dataset that the rows are about.
        by: the property that is asked for, by time or watermark.
        found: the first batch of the first interval for which it holds; None where there is none.
        met_unknown: whether some row didn't have it.
    """

    query: str
    first: int
    last: int
    reached: Callable[[Record], bool | None]
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

    def take(self, answers: Sequence[tuple[int, Sequence[Record]]]) -> None:
        """Draw conclusions from a round: batch ids in ascending order, each with the first intervals from there on."""
        for at, all_rows in answers:
            rows = [row for row in all_rows if row["batch"] <= self.last]
            if not rows:
                self._high = min(self._high, at)
                return
            batch, holds = self._first_known(rows)
            if holds:
                # What begins between `at` and this one has none: only those before `at` are open.
                self.found, self._high = batch, at
                return
            self._low = max(self._low, batch)

    def _first_known(self, rows: Sequence[Record]) -> tuple[int, bool | None]:
        for row in rows:
            holds = self.reached(row)
            if holds is not None:
                return row["batch"], holds
            self.met_unknown = True
        return rows[-1]["batch"], None


def run(tx: Transaction, statement: str, searches: Sequence[Search], *, window: int = 1) -> None:
    """Bring searches to their ends.

    Args:
        tx: the transaction.
        statement: one that returns `n`, `at`, `batch` for rows `n`, `query`, `at`, `dataset`, `by` of the probes.
        searches: of any queries.
        window: how many intervals in a row a probe looks at until one has the property.
    """
    open_ = [search for search in searches if not search.done]
    while open_:
        probes = [
            {"n": n, "query": search.query, "at": at, "dataset": search.dataset, "by": search.by}
            for n, search in enumerate(open_)
            for at in search.probes()
        ]
        rows: dict[tuple[int, int], list[Record]] = defaultdict(list)
        for row in tx.rows(statement, probes=probes, window=window):
            rows[row["n"], row["at"]].append(row)
        for n, search in enumerate(open_):
            search.take([(at, rows.get((n, at), ())) for at in list(search.probes())])
        open_ = [search for search in open_ if not search.done]


def run_by_time(tx: Transaction, searches: Sequence[Search]) -> None:
    """Bring searches by time or watermark to their ends; a second time where an interval without one misled it."""
    run(tx, "trace/probe_times", searches)
    if misled := [search for search in searches if search.met_unknown]:
        for search in misled:
            search.begin_again()
        run(tx, "trace/probe_times", misled, window=_WIDE)
