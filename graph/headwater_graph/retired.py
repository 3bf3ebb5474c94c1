"""Retired micro-batches in a dump: retention replaces them by summaries.

Retention takes effect with its event. `headwater retention apply` later moves the stored micro-batches. A dump doesn't
depend on its progress: retired micro-batches that are still in a segment are shown as summaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headwater_graph.facts.nodes import IntervalFacts, RetentionFacts
from headwater_graph.facts.spans import Ranges, ranges_of
from headwater_graph.facts.summaries import Horizon, SummaryFacts, SummaryId, summarize
from headwater_graph.oracle import summary_lines
from headwater_graph.statements import statement
from headwater_graph.summaries import (
    batches_of,
    horizon_of,
    retention_of,
    retired_of,
    retired_property,
    stored,
)

if TYPE_CHECKING:
    from neo4j import Session


class RetiredBatches:
    """Retention state of a dump, query by query: retired batch ids and summaries.

    Args:
        internal: whether the dump includes properties that begin with `_`.
    """

    def __init__(self, session: Session, *, internal: bool) -> None:
        self._session = session
        self._internal = internal
        self._retentions = read_retentions(session)
        rows = session.run(statement("read", "retired_queries")) if self._retentions else ()
        self._left = {row["key"] for row in rows}
        self._batches: dict[str, Ranges] = {}
        self._summaries: dict[SummaryId, SummaryFacts] = {}
        self._horizon = Horizon()
        self._query = self._tenant = self._query_id = ""

    def begin(self, query: str) -> None:
        """Start with the query of this key. For the previous query, `end` must have been called."""
        if not self._retentions:
            return
        self._left.discard(query)
        record = self._session.run(statement("read", "query_retention"), {"query": query}).single()
        if record is None:
            return
        self._query, self._tenant, self._query_id = query, record["tenant"], record["query_id"]
        self._horizon = horizon_of(self._tenant, record["jobs"], self._retentions)
        self._batches[query] = retired_of(record["retired"])
        summaries = (stored(native(properties), run, uses) for properties, run, uses in record["summaries"])
        self._summaries = {of: facts for of, facts in summaries if self._horizon.has_summary(of.day)}

    def leave_out(self, intervals: Mapping[int, IntervalFacts]) -> list[IntervalFacts]:
        """Summarize a segment's micro-batches that are past retention; return the others, in batch order."""
        kept, old = self._horizon.split(intervals.values())
        if old:
            self._batches[self._query] = ranges_of([*self._batches[self._query], *batches_of(old)])
            for of, facts in summarize(old, self._horizon).items():
                self._summaries.setdefault(of, SummaryFacts()).join(facts)
        return kept

    def end(self) -> list[tuple[str, str]]:
        """Return the lines of the query's summaries, as (key, line)."""
        lines = summary_lines(self._tenant, self._query_id, self._summaries, internal=self._internal)
        self._summaries, self._horizon = {}, Horizon()
        return lines

    def rest(self) -> list[tuple[str, str]]:
        """Return the lines of summaries of queries without a segment."""
        lines = []
        for query in sorted(self._left):
            self.begin(query)
            lines += self.end()
        return lines

    def of(self, query: str, stored_: list[int] | None) -> list[int] | None:
        """Return the retired batch ids to show for a query; the stored batch ids if the query has no retention."""
        return retired_property(self._batches[query]) if query in self._batches else stored_


_ALL = 2**31 - 1


def read_retentions(session: Session) -> dict[str, RetentionFacts]:
    """Read all stored retention rules, by key."""
    rows = session.run(statement("read", "dump_retention"), after="", page=_ALL)
    return {row["properties"]["key"]: retention_of(native(row["properties"])) for row in rows}


def native(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties as the driver returns them, with times as aware datetimes."""
    return {name: value.to_native() if hasattr(value, "to_native") else value for name, value in properties.items()}
