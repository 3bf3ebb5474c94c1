"""Intervals and their conflicts, with what leaves them: IN_QUERY, IN_RUN, CONSUMED, PRODUCED, READ, WROTE; and NEXT.

Nearly every interval is new and is created whole by one statement. One that is there is joined; if that changes it, it
is written anew. Only another source end digest leads to its Conflicts being read and written too. NEXT is written
around the intervals that changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.nodes import IntervalFacts, Variant
from headwater_consumers.facts.properties import flatten, stamped
from headwater_consumers.facts.registers import Props
from headwater_consumers.graph.derive import Neighbour, marked, neighbour, next_properties, versions_used
from headwater_consumers.graph.keys import conflict_identity
from headwater_consumers.materializer.write.bolt import to_bolt
from headwater_consumers.materializer.write.state import read_uses, read_variant, use_row
from headwater_consumers.materializer.write.transaction import Index, IndexedRows, WriteTransaction


class IntervalRows(IndexedRows):
    """Rows of intervals or conflicts."""

    def add(self, identity: Props, digest: str, variant: Variant, **more: Any) -> None:
        """One of them, with what leaves it and `more` for its row."""
        tenant, key = str(identity["tenant"]), str(identity["key"])
        stamps = stamped(variant.registers)
        properties = {**identity, "source_end_digest": digest, **flatten(variant.registers), **stamps}
        row: dict[str, Any] = {"key": key, "properties": to_bolt(properties), **more}
        row |= {"runs": [], "consumed": [], "produced": [], "read": [], "wrote": []}
        if "queries" in self.indexes:
            row["query"] = self.indexes["queries"].at(str(identity["query"]))
        if "_run" in properties:
            row["runs"].append(self.indexes["runs"].at(str(properties["_run"])))
        for use, registers in variant.uses.items():
            place = self.indexes["datasets"].at(use.dataset)
            what = to_bolt(use_row(tenant, key, use, registers, str(stamps["_stamp"])))
            row[use.type.value.lower()].append({"to": place, "properties": what})
        for type_, version in set(versions_used(tenant, variant.uses)):
            row[type_.value.lower()].append(self.indexes["versions"].at(version))
        self.rows.append(row)


def interval_rows(delta: GraphDelta) -> IntervalRows:
    """Intervals as they are created."""
    rows = IntervalRows("queries", "runs", "datasets", "versions")
    for _, interval in sorted(delta.intervals.items()):
        rows.add(interval.identity, interval.winner, interval.variants[interval.winner])
    return rows


def write_intervals(
    tx: WriteTransaction, delta: GraphDelta, new: IntervalRows
) -> tuple[dict[str, IntervalFacts], set[str]]:
    """Intervals; returns those that are new or changed as they are now, and the keys of the new ones."""
    now = dict(delta.intervals)
    changed = IntervalRows("runs", "datasets", "versions")
    contested: dict[str, IntervalFacts] = {}
    for properties, uses in new.find(tx, "intervals"):
        key = str(properties["key"])
        incoming = delta.intervals[key]
        digest, stored = read_variant(properties, uses)
        del now[key]
        joined = IntervalFacts(incoming.identity, incoming.query, incoming.batch_id)
        joined.variants[digest] = Variant()
        joined.variants[digest].join(stored)
        if incoming.variants.keys() == {digest}:
            joined.join(incoming)
            if joined.variants[digest] != stored:
                changed.add(joined.identity, digest, joined.variants[digest])
                now[key] = joined
        else:
            contested[key] = joined
    created = delta.intervals.keys() & now.keys() - {row["key"] for row in changed.rows}
    conflicts = IntervalRows("runs", "datasets", "versions")
    for key in created:
        _add_losers(conflicts, now[key])
    if contested:
        now |= _settle(tx, delta, contested, changed, conflicts)
    changed.send(tx, "update_intervals")
    conflicts.send(tx, "conflicts")
    return now, set(created)


def _settle(
    tx: WriteTransaction,
    delta: GraphDelta,
    contested: dict[str, IntervalFacts],
    changed: IntervalRows,
    conflicts: IntervalRows,
) -> dict[str, IntervalFacts]:
    """Join contested intervals, of which the Interval is known, with their stored conflicts and the delta.

    Returns those that change. All of their variants are written anew, as another may be the Interval now.
    """
    for key, properties, uses in tx.find("stored_conflicts", keys=sorted(contested)):
        digest, variant = read_variant(properties, uses)
        contested[key].variants[digest] = variant
    now: dict[str, IntervalFacts] = {}
    for key, stored in sorted(contested.items()):
        interval = IntervalFacts(stored.identity, stored.query, stored.batch_id)
        interval.join(stored)
        interval.join(delta.intervals[key])
        if interval != stored:
            now[key] = interval
            changed.add(interval.identity, interval.winner, interval.variants[interval.winner])
            _add_losers(conflicts, interval)
    if now:
        tx.send("delete_conflicts", keys=sorted(now))
    return now


def _add_losers(conflicts: IntervalRows, interval: IntervalFacts) -> None:
    winner = interval.winner
    for digest, variant in sorted(interval.variants.items(), key=lambda item: item[0]):
        if digest != winner:
            key = str(interval.identity["key"])
            conflicts.add(conflict_identity(interval, digest), digest, variant, interval=key)


class _Link(NamedTuple):
    key: str
    neighbour: Neighbour


def write_next(tx: WriteTransaction, changed: Mapping[str, IntervalFacts], created: set[str]) -> None:
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
            pairs[a.key, b.key] = marked(a.neighbour.query, next_properties(a.neighbour, b.neighbour))
    index = Index()
    next_rows = [[index.at(start), index.at(end), properties] for (start, end), properties in sorted(pairs.items())]
    stale = [index.at(key) for key in sorted({start for start, _ in pairs} - created)]
    tx.send_rows("next", next_rows, stale=stale, intervals=index.keys)


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
