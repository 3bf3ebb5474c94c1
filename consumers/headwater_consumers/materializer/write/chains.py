"""NEXT around the intervals that changed."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater_consumers.graph.derive import Neighbour, neighbour, next_properties
from headwater_consumers.materializer.write.state import read_uses
from headwater_consumers.materializer.write.transaction import Index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater_consumers.facts.nodes import IntervalFacts
    from headwater_consumers.materializer.write.transaction import Transaction


class _Link(NamedTuple):
    key: str
    neighbour: Neighbour


def write_next(tx: Transaction, changed: Mapping[str, IntervalFacts], created: set[str]) -> None:
    """NEXT into, between and out of the intervals of `changed`, whose queries are locked.

    Args:
        tx: the transaction.
        changed: intervals as they are now, all variants.
        created: keys of those that are new, so that nothing leaves them yet.
    """
    if not changed:
        return
    stretches = list(_stretches(changed))
    rows = [
        {"query": query, "first": stretch[0].neighbour.batch_id, "last": stretch[-1].neighbour.batch_id}
        for query, stretch in stretches
    ]
    around: dict[str, dict[int, _Link]] = defaultdict(dict)
    for query, batch_id, key, stored in tx.find_rows("neighbours", rows):
        around[query][batch_id] = _Link(key, neighbour(query, batch_id, read_uses(stored, "")))
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for query, stretch in stretches:
        batches = sorted(around[query])
        first, last = stretch[0].neighbour.batch_id, stretch[-1].neighbour.batch_id
        before = [around[query][batch] for batch in batches if batch < first][-1:]
        after = [around[query][batch] for batch in batches if batch > last][:1]
        for a, b in pairwise((*before, *stretch, *after)):
            pairs[a.key, b.key] = _marked(a.neighbour.query, next_properties(a.neighbour, b.neighbour))
    index = Index()
    next_rows = [[index.at(start), index.at(end), properties] for (start, end), properties in sorted(pairs.items())]
    stale = [index.at(key) for key in sorted({start for start, _ in pairs} - created)]
    tx.send_rows("next", next_rows, stale=stale, intervals=index.keys)


def _marked(query: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """With `_broken`, the query's key, where they don't fit together: an index finds what is broken in all queries.

    The properties themselves are lists, too long for an index where a topic has a thousand partitions.
    """
    broken = any(name in properties for name in ("missing", "gap_partitions", "overlap_partitions"))
    return {**properties, "_broken": query} if broken else dict(properties)


def _stretches(changed: Mapping[str, IntervalFacts]) -> Iterable[tuple[str, list[_Link]]]:
    """Query key and changed intervals without a batch id missing in between, in batch order."""
    queries: dict[str, list[IntervalFacts]] = defaultdict(list)
    for interval in changed.values():
        queries[interval.query].append(interval)
    for query, intervals in sorted(queries.items()):
        intervals.sort(key=lambda interval: interval.batch_id)
        stretch: list[_Link] = []
        for interval in intervals:
            link = _Link(
                str(interval.identity["key"]),
                neighbour(query, interval.batch_id, interval.variants[interval.winner].uses),
            )
            if stretch and stretch[-1].neighbour.batch_id + 1 != interval.batch_id:
                yield query, stretch
                stretch = []
            stretch.append(link)
        yield query, stretch
