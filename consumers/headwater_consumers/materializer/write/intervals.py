"""Intervals and their conflicts, with what leaves them: IN_QUERY, IN_RUN, CONSUMED, PRODUCED, READ, WROTE.

Nearly every interval is new and is created whole by one statement. One that is there is joined; if that changes it, it
is written anew. Only another source end digest leads to its Conflicts being read and written too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.graph.oracle import conflict_identity
from headwater_consumers.materializer.fold.facts import IntervalFacts, Variant
from headwater_consumers.materializer.fold.properties import flatten, stamped
from headwater_consumers.materializer.fold.uses import versions_used
from headwater_consumers.materializer.write.bolt import to_bolt
from headwater_consumers.materializer.write.state import read_variant, use_row
from headwater_consumers.materializer.write.transaction import Index

if TYPE_CHECKING:
    from headwater_consumers.materializer.fold.delta import GraphDelta
    from headwater_consumers.materializer.fold.registers import Props
    from headwater_consumers.materializer.write.transaction import Transaction


class _Rows:
    """Rows of intervals or conflicts, and the hot nodes that they refer to."""

    def __init__(self, *indexes: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self._indexes = {name: Index() for name in indexes}

    def add(self, identity: Props, digest: str, variant: Variant, **more: Any) -> None:
        tenant, key = str(identity["tenant"]), str(identity["key"])
        stamps = stamped(variant.registers)
        properties = {**identity, "source_end_digest": digest, **flatten(variant.registers), **stamps}
        row: dict[str, Any] = {"key": key, "properties": to_bolt(properties), **more}
        row |= {"runs": [], "consumed": [], "produced": [], "read": [], "wrote": []}
        if "queries" in self._indexes:
            row["query"] = self._indexes["queries"].at(str(identity["query"]))
        if "_run" in properties:
            row["runs"].append(self._indexes["runs"].at(str(properties["_run"])))
        for use, registers in variant.uses.items():
            place = self._indexes["datasets"].at(use.dataset)
            what = to_bolt(use_row(tenant, key, use, registers, str(stamps["_stamp"])))
            row[use.type.value.lower()].append({"to": place, "properties": what})
        for type_, version in set(versions_used(tenant, variant.uses)):
            row[type_.value.lower()].append(self._indexes["versions"].at(version))
        self.rows.append(row)

    def send(self, tx: Transaction, name: str) -> list[Any]:
        return tx.rows(name, self.rows, **{name: index.keys for name, index in self._indexes.items()})


def write_intervals(tx: Transaction, delta: GraphDelta) -> tuple[dict[str, IntervalFacts], set[str]]:
    """Intervals; returns those that are new or changed as they are now, and the keys of the new ones."""
    new = _Rows("queries", "runs", "datasets", "versions")
    for _, interval in sorted(delta.intervals.items()):
        new.add(interval.identity, interval.winner, interval.variants[interval.winner])
    now = dict(delta.intervals)
    changed = _Rows("runs", "datasets", "versions")
    contested: dict[str, IntervalFacts] = {}
    for record in new.send(tx, "intervals"):
        key = record["key"]
        said = delta.intervals[key]
        digest, stored = read_variant(record["properties"], record["uses"])
        del now[key]
        joined = IntervalFacts(said.identity, said.query, said.batch_id)
        joined.variants[digest] = Variant()
        joined.variants[digest].join(stored)
        if said.variants.keys() == {digest}:
            joined.join(said)
            if joined.variants[digest] != stored:
                changed.add(joined.identity, digest, joined.variants[digest])
                now[key] = joined
        else:
            contested[key] = joined
    created = delta.intervals.keys() & now.keys() - {row["key"] for row in changed.rows}
    conflicts = _Rows("runs", "datasets", "versions")
    for key in created:
        _add_losers(conflicts, now[key])
    if contested:
        now |= _settle(tx, delta, contested, changed, conflicts)
    changed.send(tx, "update_intervals")
    conflicts.send(tx, "conflicts")
    return now, set(created)


def _settle(
    tx: Transaction, delta: GraphDelta, contested: dict[str, IntervalFacts], changed: _Rows, conflicts: _Rows
) -> dict[str, IntervalFacts]:
    """Join contested intervals, of which the Interval is known, with their stored conflicts and the delta.

    Returns those that change. All of their variants are written anew, as another may be the Interval now.
    """
    for record in tx.run("stored_conflicts", keys=sorted(contested)):
        digest, variant = read_variant(record["properties"], record["uses"])
        contested[record["interval"]].variants[digest] = variant
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
        tx.run("delete_conflicts", keys=sorted(now))
    return now


def _add_losers(conflicts: _Rows, interval: IntervalFacts) -> None:
    winner = interval.winner
    for digest, variant in sorted(interval.variants.items(), key=lambda item: item[0]):
        if digest != winner:
            key = str(interval.identity["key"])
            conflicts.add(conflict_identity(interval, digest), digest, variant, interval=key)
