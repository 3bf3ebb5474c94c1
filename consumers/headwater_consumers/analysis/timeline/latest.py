"""Which micro-batches are the latest, over several queries.

Each query's go down by batch id; queries are merged by time. A micro-batch that was only reconstructed has no time of
its own and stands by the next later one of its query.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from headwater_consumers.analysis.cursor import malformed
from headwater_consumers.analysis.moments import moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from headwater_consumers.analysis.reader import Transaction

FIRST_PAGE = 2**63 - 1
"""Before this batch are all of them."""
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time, half-open; None is without end."""

    begin: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Latest:
    """A page.

    Attributes:
        intervals: ids.
        before: for each query, the batch that the next page comes before; None where there is no next page.
    """

    intervals: list[int]
    before: dict[str, int] | None


def latest(tx: Transaction, before: Mapping[str, int], span: Span, limit: int) -> Latest:
    """The latest `limit` of the micro-batches before these batches, by key of the query."""
    queries = [{"key": key, "before": batch} for key, batch in before.items()]
    # One more than asked for tells whether there is a next page.
    rows = tx.rows("timeline/latest", queries=queries, begin=span.begin, end=span.end, limit=limit + 1)
    lists: dict[str, list[tuple[str, int, datetime | None, int]]] = {}
    for row in rows:
        lists.setdefault(row["query"], []).append((row["query"], row["batch"], moment(row["time"]), row["interval"]))
    merged = heapq.merge(*(list(_timed(found)) for found in lists.values()), key=lambda each: each[0], reverse=True)
    page = [each for _, each in islice(merged, limit)]
    if len(rows) <= limit:
        return Latest([interval for *_, interval in page], None)
    reached = dict(before) | {query: batch for query, batch, _, _ in page}
    return Latest([interval for *_, interval in page], reached)


def _timed(
    found: Sequence[tuple[str, int, datetime | None, int]],
) -> Iterator[tuple[tuple[datetime, str], tuple[str, int, datetime | None, int]]]:
    time = _LAST
    for each in found:
        # Never later than the one after it, whatever the clocks said: the merge needs an order.
        time = min(each[2] or time, time)
        yield (time, each[0]), each


def written(before: Mapping[str, int]) -> str:
    """As a cursor holds it."""
    return ",".join(f"{key}:{batch}" for key, batch in before.items())


def read(text: str, queries: Iterable[str]) -> dict[str, int]:
    """What `written` wrote; of queries that came since, nothing.

    Raises:
        QuestionError: it didn't.
    """
    known = set(queries)
    try:
        pairs = [part.split(":") for part in text.split(",")]
        return {key: int(batch) for key, batch in pairs if key in known and 0 <= int(batch) <= FIRST_PAGE}
    except ValueError as error:
        raise malformed() from error
