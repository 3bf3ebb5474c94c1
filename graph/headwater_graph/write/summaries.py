"""Summaries of retired micro-batches, joined with the stored summaries in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import IntervalFacts, RetentionFacts
from headwater_graph.facts.spans import Ranges, has
from headwater_graph.facts.summaries import Horizon, SummaryFacts, SummaryId, summarize
from headwater_graph.summaries import horizon_of, key_of, node, retention_of, retired_of, stored, uses
from headwater_graph.write.bolt import bolt_time, from_bolt, to_bolt
from headwater_graph.write.segments import SegmentRows
from headwater_graph.write.transaction import WriteTransaction


def write_retentions(tx: WriteTransaction, retentions: Mapping[str, RetentionFacts]) -> None:
    """Store retention rules. `write.retention` later moves the micro-batches in segments."""
    tx.send_rows(
        "retentions",
        [
            {
                "key": key,
                "identity": retention.identity,
                "summarize": None if retention.summarize_before is None else bolt_time(retention.summarize_before),
                "drop": None if retention.drop_before is None else bolt_time(retention.drop_before),
            }
            for key, retention in sorted(retentions.items())
        ],
    )


def without_retired(rows: SegmentRows, retired: Mapping[str, Ranges]) -> tuple[SegmentRows, list[IntervalFacts]]:
    """Split micro-batches of segments into kept and retired micro-batches.

    Args:
        retired: retired batch ids by key of the query; queries without retired batches are absent.
    """
    if not retired:
        return rows, []
    kept, late = SegmentRows(names=rows.names), []
    for key, incoming in rows.segments.items():
        ranges = retired.get(incoming.place.query, [])
        retired_here = [interval for batch_id, interval in incoming.intervals.items() if has(ranges, batch_id)]
        if not retired_here:
            kept.segments[key] = incoming
            continue
        late += retired_here
        kept_here = {batch_id: one for batch_id, one in incoming.intervals.items() if not has(ranges, batch_id)}
        if kept_here:
            kept.add(incoming.place, kept_here)
    return kept, late


class Keeping:
    """Retention rules and summaries of some queries.

    Args:
        tx: the transaction, which has locked the queries.
        queries: keys of the queries.
    """

    def __init__(self, tx: WriteTransaction, queries: Iterable[str]) -> None:
        self._queries: dict[str, tuple[str, str]] = {}
        self.horizons: dict[str, Horizon] = {}
        self.retired: dict[str, Ranges] = {}
        for key, tenant, query_id, retired, jobs, retentions in tx.find_rows("retention_of_queries", sorted(queries)):
            by_key = {one["key"]: retention_of(from_bolt(one)) for one in retentions}
            self._queries[key] = tenant, query_id
            self.horizons[key] = horizon_of(tenant, jobs, by_key)
            self.retired[key] = retired_of(retired)

    def summarize(self, tx: WriteTransaction, intervals: Sequence[IntervalFacts]) -> None:
        """Join micro-batches with the summaries of their days."""
        by_query: dict[str, list[IntervalFacts]] = {}
        for interval in intervals:
            by_query.setdefault(interval.query, []).append(interval)
        summaries: dict[SummaryId, SummaryFacts] = {}
        for query, of_query in by_query.items():
            summaries |= summarize(of_query, self.horizons[query])
        keys = {key_of(self._queries[of.query][0], of): of for of in summaries}
        for properties, run, of_uses in tx.find_rows("summaries", sorted(keys)):
            of, facts = stored(from_bolt(properties), run, of_uses)
            summaries[of].join(facts)
        tx.send_rows(
            "update_summaries",
            [_row(*self._queries[of.query], of, summaries[of]) for _, of in sorted(keys.items())],
        )


def _row(tenant: str, query_id: str, of: SummaryId, facts: SummaryFacts) -> dict[str, Any]:
    of_uses = uses(tenant, of, facts)
    return {
        "key": key_of(tenant, of),
        "properties": to_bolt(node(tenant, query_id, of, facts)),
        "query": of.query,
        "runs": [of.run] if of.run else [],
        **{
            type_.value.lower(): [
                {"to": use.dataset, "key": properties["key"], "properties": properties}
                for use, properties in of_uses
                if use.type is type_
            ]
            for type_ in (RelType.CONSUMED, RelType.PRODUCED)
        },
    }


def write_late(tx: WriteTransaction, late: Sequence[IntervalFacts]) -> None:
    """Join late reports of retired micro-batches with the summaries of their days."""
    if late:
        Keeping(tx, {interval.query for interval in late}).summarize(tx, late)
