"""Oracle: the expected dump, D(fold(all events)), without a database.

The oracle shares `fold` and the rules of `derive` with the materializer; hand-written goldens test these. It shares
nothing that can go wrong in a database: batches, locks, races, statements, reading state back.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwater_graph import derive, keys
from headwater_graph.declarations import OWN, declaration_links, declaration_state, set_properties
from headwater_graph.derive import plan_edges, versions_used
from headwater_graph.dump_lines import USES, node_line, relationship_key, relationship_line
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label, RelType, UseKey
from headwater_graph.facts.nodes import Evidence, IntervalFacts, Link, NodeFacts, TimeSpan, Variant
from headwater_graph.facts.owners import without_stamps_of_the_schema
from headwater_graph.facts.properties import flatten, stamped
from headwater_graph.facts.registers import Props, Registers
from headwater_graph.facts.summaries import SummaryFacts, SummaryId, summarize
from headwater_graph.incidents import concerned, incident_properties, incident_state, reached_links
from headwater_graph.keys import column_identity, conflict_identity, feeds_identity, use_properties
from headwater_graph.summaries import (
    RETIRED,
    GraphVisitor,
    batches_of,
    horizon_of,
    retired_property,
    visit_summaries,
)


def oracle(delta: GraphDelta, *, internal: bool = False) -> Iterator[str]:
    """Dump of the graph of these base facts, as lines without newlines.

    Args:
        delta: `fold` of all events, joined.
        internal: whether to include properties that begin with `_`.
    """
    lines = _Lines(internal=internal)
    visit(delta, lines)
    for _, line in lines.sorted():
        yield line


def summary_lines(
    tenant: str, query_id: str, summaries: Mapping[SummaryId, SummaryFacts], *, internal: bool = False
) -> list[tuple[str, str]]:
    """Lines of the summaries of one query, as (key, line) in order of key."""
    lines = _Lines(internal=internal)
    visit_summaries(tenant, query_id, summaries, lines)
    return lines.sorted()


def micro_batch_lines(
    intervals: Sequence[IntervalFacts], before: IntervalFacts | None, *, internal: bool = False
) -> list[tuple[str, str]]:
    """Lines of the micro-batches of one query, as (key, line) in order of key.

    Args:
        before: micro-batch before `intervals`; the lines include its NEXT.
        internal: whether to include properties that begin with `_`.
    """
    lines = _Lines(internal=internal)
    graph = _Graph(lines)
    for interval in intervals:
        graph.interval(interval)
    graph.chain(intervals if before is None else (before, *intervals))
    return lines.sorted()


def visit(delta: GraphDelta, visitor: GraphVisitor) -> None:
    """Pass the whole graph of these base facts to a visitor, in no particular order.

    Args:
        delta: `fold` of all events, joined.
        visitor: receiver of the nodes and relationships.
    """
    _Graph(visitor).derive(delta)


class _Lines:
    def __init__(self, *, internal: bool) -> None:
        self._internal = internal
        self._lines: list[tuple[str, str]] = []
        self._stamps: dict[str, str] = {}
        # Uses may be reported before their run, and columns before their dataset's schema.
        self._uses: list[tuple[RelType, str, str, Mapping[str, Any]]] = []
        self._columns: list[Mapping[str, Any]] = []
        self._current: set[str] = set()

    def node(self, label: Label, properties: Mapping[str, Any]) -> None:
        if self._internal and label is Label.COLUMN:
            self._columns.append(properties)
            return
        self._lines.append((properties["key"], node_line(label, properties, internal=self._internal)))
        if self._internal and (stamp := properties.get("_stamp")) is not None:
            self._stamps[properties["key"]] = stamp

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        if self._internal and type_ in USES:
            self._uses.append((type_, start, end, properties))
            return
        if type_ is RelType.HAS_COLUMN and properties.get("current"):
            self._current.add(end)
        self._add(type_, start, end, properties)

    def sorted(self) -> list[tuple[str, str]]:
        for use in self._uses:
            self._add(*use)
        for column in self._columns:
            stored = without_stamps_of_the_schema(column) if column["key"] in self._current else column
            self._lines.append((column["key"], node_line(Label.COLUMN, stored, internal=True)))
        self._uses.clear()
        self._columns.clear()
        return sorted(self._lines)

    def _add(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        key = relationship_key(type_, start, end, properties.get("key"))
        stamp = self._stamps.get(start)
        line = relationship_line(type_, start, end, properties, stamp=stamp, internal=self._internal)
        self._lines.append((key, line))


class _Graph:
    def __init__(self, visitor: GraphVisitor) -> None:
        self._visitor = visitor
        self._retired: dict[str, list[IntervalFacts]] = {}

    def node(self, label: Label, node: NodeFacts, **derived: object) -> None:
        properties = {**node.identity, **flatten(node.registers), **stamped(node.registers), **derived}
        properties |= {"first_seen": node.seen.first, "last_seen": node.seen.last}
        self._visitor.node(label, properties)

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any] | None = None) -> None:
        self._visitor.relationship(type_, start, end, properties or {})

    def uses(self, tenant: str, owner: str, uses: Mapping[UseKey, Registers], stamp: object) -> None:
        base = None if stamp is None else str(stamp)
        for use, registers in uses.items():
            properties = use_properties(tenant, owner, use, registers) | stamped(registers, base)
            self.relationship(use.type, owner, use.dataset, properties)
        for type_, version in set(versions_used(tenant, dict(uses))):
            self.relationship(type_, owner, version)

    def derive(self, delta: GraphDelta) -> None:
        kept = self._split(delta)
        for job in delta.jobs.values():
            self.node(Label.JOB, job)
        for key, dataset in delta.datasets.items():
            self.node(Label.DATASET, dataset)
            self._columns(key, dataset.identity, delta)
            for alias, type_ in derive.known_as(str(dataset.identity["tenant"]), dataset.registers).items():
                self.relationship(RelType.KNOWN_AS, key, alias, {"type": type_})
        for consumer in delta.consumers.values():
            self.node(Label.CONSUMER, consumer)
        for alias_facts in delta.aliases.values():
            self.node(Label.ALIAS, alias_facts)
        for key, query in delta.queries.items():
            retired = {RETIRED: retired_property(batches_of(self._retired.get(key, ())))}
            self.node(Label.QUERY, query, **query.batches.properties(), **retired)
            for job_key in query.jobs:
                self.relationship(RelType.OF, key, job_key)
        for key, version in delta.versions.items():
            self.node(Label.VERSION, version)
            self.relationship(RelType.OF, key, version.dataset)
        for key, schema in delta.schemas.items():
            self.node(Label.SCHEMA_VERSION, schema)
            self.relationship(RelType.OF, key, schema.dataset)
        self._runs(delta)
        self._plans(delta)
        self._intervals(kept)
        self._incidents(delta)
        self._links(delta, self._declarations(delta))

    def _columns(self, dataset: str, identity: Props, delta: GraphDelta) -> None:
        facts = delta.datasets[dataset]
        current = derive.current_paths(facts)
        for path, column in facts.columns.items():
            properties = column_identity(identity, path) | flatten(column.registers)
            self._visitor.node(Label.COLUMN, properties | stamped(column.registers))
            validity = derive.column_validity(path, column, current)
            self.relationship(RelType.HAS_COLUMN, dataset, str(properties["key"]), validity)

    def _runs(self, delta: GraphDelta) -> None:
        ends = derive.run_ends(delta.runs)
        for key, run in delta.runs.items():
            self.node(Label.RUN, run, **run.batches.properties(), **ends[key])
            tenant = str(run.identity["tenant"])
            for job in run.jobs:
                self.relationship(RelType.OF, key, job)
            for query in run.queries:
                self.relationship(RelType.IN_QUERY, key, query)
            _, parent = run.registers.get("parent", ("", None))
            if isinstance(parent, dict):
                self.relationship(RelType.CHILD_OF, key, keys.run_key(tenant, str(parent["parent_run_id"])))
            self.uses(tenant, key, run.uses, stamped(run.registers).get("_stamp"))

    def _plans(self, delta: GraphDelta) -> None:
        for key, plan in delta.plans.items():
            self.node(Label.PLAN, plan)
            self.relationship(RelType.OF, key, plan.job)
            for edge in plan_edges(plan):
                self.relationship(edge.type, edge.start, edge.end, edge.properties)

    def _split(self, delta: GraphDelta) -> list[list[IntervalFacts]]:
        """Return kept micro-batches, by query in batch order; add summaries of the retired micro-batches."""
        chains: dict[str, list[IntervalFacts]] = defaultdict(list)
        for interval in delta.intervals.values():
            chains[interval.query].append(interval)
        kept = []
        for key, chain in chains.items():
            query = delta.queries[key]
            tenant, query_id = str(query.identity["tenant"]), str(query.identity["query_id"])
            jobs = [delta.jobs[job].identity for job in query.jobs]
            names = [(str(job["namespace"]), str(job["name"])) for job in jobs]
            horizon = horizon_of(tenant, names, delta.retentions)
            chain.sort(key=lambda interval: interval.batch_id)
            mine, old = horizon.split(chain)
            kept.append(mine)
            if old:
                self._retired[key] = old
                visit_summaries(tenant, query_id, summarize(old, horizon), self._visitor)
        for retention in delta.retentions.values():
            self._visitor.node(Label.RETENTION, {**retention.identity, **retention.properties()})
        return kept

    def _intervals(self, chains: Sequence[Sequence[IntervalFacts]]) -> None:
        for chain in chains:
            for interval in chain:
                self.interval(interval)
            self.chain(chain)

    def interval(self, interval: IntervalFacts) -> None:
        """Emit a micro-batch and its conflicts, with their outgoing relationships except NEXT."""
        key, winner = str(interval.identity["key"]), interval.winner
        for digest, variant in interval.variants.items():
            if digest == winner:
                self._variant(Label.INTERVAL, dict(interval.identity), digest, variant)
                self.relationship(RelType.IN_QUERY, key, interval.query)
            else:
                identity = conflict_identity(interval, digest)
                self._variant(Label.CONFLICT, identity, digest, variant)
                self.relationship(RelType.CONFLICTS_WITH, str(identity["key"]), key)

    def chain(self, intervals: Sequence[IntervalFacts]) -> None:
        """Emit NEXT between micro-batches of one query in batch order."""
        for one, other in itertools.pairwise(intervals):
            joint = derive.next_properties(derive.neighbour_of(one), derive.neighbour_of(other))
            properties = derive.marked(one.query, joint)
            self.relationship(RelType.NEXT, str(one.identity["key"]), str(other.identity["key"]), properties)

    def _variant(self, label: Label, identity: Props, digest: str, variant: Variant) -> None:
        key, tenant = str(identity["key"]), str(identity["tenant"])
        stamps = stamped(variant.registers)
        self._visitor.node(label, {**identity, "source_end_digest": digest, **flatten(variant.registers), **stamps})
        _, run = variant.registers.get("run", ("", None))
        if isinstance(run, dict):
            self.relationship(RelType.IN_RUN, key, str(run["_run"]))
        self.uses(tenant, key, variant.uses, stamps.get("_stamp"))

    def _declarations(self, delta: GraphDelta) -> dict[Link, list[str]]:
        """Nodes of sets and declarations, and the declarations (keys) behind each relationship."""
        held: set[str] = set()
        for declared in delta.declaration_sets.values():
            revision = declared.revision
            state = declaration_state(() if revision is None else revision.items, delta.declarations)
            held |= state.held
            self._visitor.node(Label.DECLARATION_SET, declared.identity | set_properties(revision, state))
        links: dict[Link, list[str]] = defaultdict(list)
        for key, declaration in sorted(delta.declarations.items()):
            current = True if key in held else None
            self._visitor.node(Label.DECLARATION, {**declaration.properties, "current": current})
            self.relationship(RelType.IN_SET, key, declaration.set)
            self.relationship(RelType.DECLARES, key, declaration.subject)
            for column, properties in declaration.columns:
                self.relationship(RelType.DECLARES, key, column, properties)
            for link in declaration_links(declaration.properties) if current else ():
                links[link].append(key)
        return links

    def _incidents(self, delta: GraphDelta) -> None:
        for key, incident in delta.incidents.items():
            tenant, log, reached = str(incident.identity["tenant"]), incident.log, incident.reached
            state = incident_state(log, reached)
            self._visitor.node(Label.INCIDENT, incident.identity | incident_properties(log, state, reached))
            for node in concerned(tenant, state.scope.values()):
                self.relationship(RelType.CONCERNS, key, node)
            for dataset, properties in reached_links(tenant, state.reached or ()).items():
                self.relationship(RelType.REACHED, key, dataset, properties)

    def _links(self, delta: GraphDelta, by_sets: Mapping[Link, list[str]]) -> None:
        observed: dict[Link, TimeSpan] = {}
        for link, span in delta.links.items():
            observed.setdefault(link, TimeSpan()).see(span.first, span.last)
        for run in delta.runs.values():
            for link in derive.run_links(run.jobs, run.uses):
                observed.setdefault(link, TimeSpan()).see(run.seen.first, run.seen.last)
        declared_by_jobs: set[Link] = set()
        for key, job in delta.jobs.items():
            declared_by_jobs |= derive.declared_links(key, job.registers)
        possible = {link._replace(evidence=Evidence.OBSERVED): link for link in derive.possible_feeds(observed)}
        certain = {link for link in observed if link.evidence is Evidence.OBSERVED}
        for link in certain | possible.keys() | declared_by_jobs | by_sets.keys():
            properties: dict[str, Any] = {"declarations": by_sets.get(link)}
            if link.type is RelType.FEEDS:
                job = delta.jobs[link.via]
                properties |= feeds_identity(*_named(job.identity), link)
            elif link.type is RelType.USED:
                properties["_job"] = delta.plans[link.end].job
            if link.type in (RelType.READS, RelType.WRITES, RelType.FEEDS):
                properties["observed"] = True if link in certain else None
                properties["possible"] = True if link in possible else None
                properties["declared"] = True if link in declared_by_jobs or link in by_sets else None
                properties[OWN] = True if link in declared_by_jobs else None
            seen = observed.get(possible.get(link, link), TimeSpan())
            self.relationship(
                link.type, link.start, link.end, {**properties, "first_seen": seen.first, "last_seen": seen.last}
            )


def _named(job: Props) -> tuple[str, str, str]:
    return str(job["tenant"]), str(job["name"]), str(job[keys.SCOPE])
