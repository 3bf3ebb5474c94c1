"""GraphDelta: base facts of a set of events, and the join of two deltas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from headwater_graph.facts.declarations import DeclarationFacts, SetFacts
from headwater_graph.facts.incidents import IncidentFacts
from headwater_graph.facts.nodes import (
    DatasetFacts,
    IntervalFacts,
    Link,
    NodeFacts,
    OfDatasetFacts,
    PlanFacts,
    QueryFacts,
    RetentionFacts,
    RunFacts,
    TimeSpan,
)

_N = TypeVar("_N", bound=NodeFacts)


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """Base facts by key, without derived facts. A delta isn't changed once `fold` has returned it.

    `join` is associative, commutative and idempotent, and `fold(a + b) == fold(a).join(fold(b))`. Only the counts
    (`events`, `duplicates`, `stale`) don't follow these laws.

    Attributes:
        jobs, datasets, aliases, queries, runs, plans, versions, intervals, retentions, consumers: facts by key of the
            node. Plans with the same key have the same content.
        schemas, declarations, declaration_sets, incidents: facts by key of the node.
        links: relationships that only have a span, each with its span.
        events: number of events folded.
        duplicates: number of events equal to an earlier event of the same fold.
        stale: number of events superseded by another report with the same event id in the same fold.
    """

    jobs: dict[str, NodeFacts] = field(default_factory=dict)
    datasets: dict[str, DatasetFacts] = field(default_factory=dict)
    aliases: dict[str, NodeFacts] = field(default_factory=dict)
    queries: dict[str, QueryFacts] = field(default_factory=dict)
    runs: dict[str, RunFacts] = field(default_factory=dict)
    plans: dict[str, PlanFacts] = field(default_factory=dict)
    versions: dict[str, OfDatasetFacts] = field(default_factory=dict)
    schemas: dict[str, OfDatasetFacts] = field(default_factory=dict)
    intervals: dict[str, IntervalFacts] = field(default_factory=dict)
    retentions: dict[str, RetentionFacts] = field(default_factory=dict)
    consumers: dict[str, NodeFacts] = field(default_factory=dict)
    declarations: dict[str, DeclarationFacts] = field(default_factory=dict)
    declaration_sets: dict[str, SetFacts] = field(default_factory=dict)
    incidents: dict[str, IncidentFacts] = field(default_factory=dict)
    links: dict[Link, TimeSpan] = field(default_factory=dict)
    events: int = field(default=0, compare=False)
    duplicates: int = field(default=0, compare=False)
    stale: int = field(default=0, compare=False)

    def join(self, other: GraphDelta) -> GraphDelta:
        """Return the union of both deltas. Neither is changed."""
        joined = GraphDelta(
            events=self.events + other.events,
            duplicates=self.duplicates + other.duplicates,
            stale=self.stale + other.stale,
        )
        for delta in (self, other):
            joined.add(delta)
        return joined

    def add(self, delta: GraphDelta) -> None:
        """Join another delta in place. `delta` isn't changed."""
        _add(self.jobs, delta.jobs, lambda node: NodeFacts(node.identity))
        _add(self.datasets, delta.datasets, lambda node: DatasetFacts(node.identity))
        _add(self.aliases, delta.aliases, lambda node: NodeFacts(node.identity))
        _add(self.queries, delta.queries, lambda node: QueryFacts(node.identity))
        _add(self.runs, delta.runs, lambda node: RunFacts(node.identity))
        _add(self.plans, delta.plans, lambda node: PlanFacts(node.identity, job=node.job))
        _add(self.versions, delta.versions, lambda node: OfDatasetFacts(node.identity, dataset=node.dataset))
        _add(self.schemas, delta.schemas, lambda node: OfDatasetFacts(node.identity, dataset=node.dataset))
        for key, theirs in delta.intervals.items():
            if key not in self.intervals:
                self.intervals[key] = IntervalFacts(theirs.identity, theirs.query, theirs.batch_id)
            self.intervals[key].join(theirs)
        for key, retention in delta.retentions.items():
            self.retentions.setdefault(key, RetentionFacts(retention.identity)).join(retention)
        _add(self.consumers, delta.consumers, lambda node: NodeFacts(node.identity))
        self.declarations.update(delta.declarations)
        for key, declared in delta.declaration_sets.items():
            self.declaration_sets.setdefault(key, SetFacts(declared.identity)).join(declared)
        for key, incident in delta.incidents.items():
            self.incidents.setdefault(key, IncidentFacts(incident.identity)).join(incident)
        for link, span in delta.links.items():
            self.links.setdefault(link, TimeSpan()).see(span.first, span.last)


def _add(into: dict[str, _N], other: dict[str, _N], new: Callable[[_N], _N]) -> None:
    for key, theirs in other.items():
        if key not in into:
            into[key] = new(theirs)
        into[key].join(theirs)
