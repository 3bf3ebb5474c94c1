"""Summaries as nodes and relationships.

The form is shared by the writer, the dump of a database (`dump`) and the expected dump made from events (`oracle`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from headwater_graph.facts.model import Label, RelType, UseKey
from headwater_graph.facts.nodes import IntervalFacts, RetentionFacts, TimeSpan
from headwater_graph.facts.registers import Props
from headwater_graph.facts.spans import Ranges, Spans, ranges_of, union
from headwater_graph.facts.summaries import Horizon, SummaryFacts, SummaryId, bounds, date_text, offsets
from headwater_graph.keys import retention_key, summary_key, use_key

RETIRED = "_retired"
"""Property of a Query: batch ids of retired micro-batches, as a flat list of the start and end of each range."""


class GraphVisitor(Protocol):
    """Receives every node and relationship. Properties are as stored, including those that begin with `_`."""

    def node(self, label: Label, properties: Mapping[str, Any]) -> None:
        """Receive a node; a property that is None isn't stored."""

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        """Receive a relationship between nodes with these keys; the nodes may come later."""


def horizon_of(tenant: str, jobs: Iterable[tuple[str, str]], retentions: Mapping[str, RetentionFacts]) -> Horizon:
    """Return the retention horizon of a query.

    Args:
        jobs: namespace and name of each job that started it.
        retentions: retention rules by key.
    """
    keys = {retention_key(tenant, None, None)}
    for namespace, name in jobs:
        keys |= {retention_key(tenant, namespace, None), retention_key(tenant, namespace, name)}
    return Horizon.of(retentions[key] for key in sorted(keys) if key in retentions)


def retention_of(properties: Mapping[str, Any]) -> RetentionFacts:
    """Convert stored properties, with times as aware datetimes, to a retention rule."""
    identity = {name: properties[name] for name in ("tenant", "namespace", "job") if name in properties}
    return RetentionFacts(identity, properties.get("summarize_before"), properties.get("drop_before"))


def key_of(tenant: str, of: SummaryId) -> str:
    """Key of a summary."""
    return summary_key(tenant, of.query, of.run or None, of.day)


def node(tenant: str, query_id: str, of: SummaryId, facts: SummaryFacts) -> dict[str, Any]:
    """All properties of a summary; a property with the value None is absent."""
    run = f" {facts.run_id[:8]}" if facts.run_id else ""
    return {
        "key": key_of(tenant, of),
        "name": f"{date_text(of.day) or 'no day'}{run}",
        "tenant": tenant,
        "query": of.query,
        "query_id": query_id,
        "run_id": facts.run_id or None,
        "day": date_text(of.day) or None,
        **bounds(facts.batches),
        "first_time": facts.seen.first,
        "last_time": facts.seen.last,
    }


def uses(tenant: str, of: SummaryId, facts: SummaryFacts) -> list[tuple[UseKey, Props]]:
    """Return the CONSUMED and PRODUCED of a summary, with all properties of the relationships."""
    owner = key_of(tenant, of)
    out = []
    for use, spans in sorted(facts.uses.items()):
        properties: Props = {"key": use_key(tenant, use.type, owner, use.dataset, use.ordinal)}
        if use.ordinal:
            properties["ordinal"] = use.ordinal
        out.append((use, properties | offsets(spans)))
    return out


def stored(
    properties: Mapping[str, Any], run: str | None, uses_: Iterable[tuple[str, str, Mapping[str, Any]]]
) -> tuple[SummaryId, SummaryFacts]:
    """Convert a stored summary to facts: the inverse of `node` and `uses`.

    Args:
        properties: properties of the node, times as aware datetimes.
        run: key of its run; None if it has none.
        uses_: type, key of the dataset and properties of each use.
    """
    day = properties.get("day")
    epoch = datetime.fromisoformat("1970-01-01").toordinal()
    of = SummaryId(
        properties["query"], run or "", None if day is None else datetime.fromisoformat(day).toordinal() - epoch
    )
    facts = SummaryFacts(
        properties.get("run_id") or "",
        list(zip(properties["batch_starts"], properties["batch_ends"], strict=True)),
        TimeSpan(properties.get("first_time"), properties.get("last_time")),
    )
    for type_, dataset, of_use in uses_:
        pieces = zip(of_use.get("partitions", ()), of_use.get("from", ()), of_use.get("to_exclusive", ()), strict=True)
        spans: Spans = union(pieces)
        facts.uses[UseKey(RelType(type_), dataset, of_use.get("ordinal", 0))] = spans
    return of, facts


def retired_of(stored_: Iterable[int] | None) -> Ranges:
    """Convert a query's property `RETIRED` to ranges of retired batch ids."""
    numbers = iter(stored_ or ())
    return ranges_of(zip(numbers, numbers, strict=True))


def retired_property(ranges: Ranges) -> list[int] | None:
    """Inverse of `retired_of`; None for no batch ids."""
    return [number for range_ in ranges for number in range_] or None


def batches_of(intervals: Iterable[IntervalFacts]) -> Ranges:
    """Batch ids of micro-batches."""
    return ranges_of((interval.batch_id, interval.batch_id + 1) for interval in intervals)


def visit_summaries(
    tenant: str, query_id: str, summaries: Mapping[SummaryId, SummaryFacts], visitor: GraphVisitor
) -> None:
    """Pass the nodes and relationships of a query's summaries to a visitor."""
    for of, facts in summaries.items():
        key = key_of(tenant, of)
        visitor.node(Label.SUMMARY, node(tenant, query_id, of, facts))
        visitor.relationship(RelType.IN_QUERY, key, of.query, {})
        if of.run:
            visitor.relationship(RelType.IN_RUN, key, of.run, {})
        for use, properties in uses(tenant, of, facts):
            visitor.relationship(use.type, key, use.dataset, properties)
