"""Facts of the graph that an impact's walk reads, one level at a time. Names are looked up later."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, Protocol, TypeAlias

from headwater_analysis.families import Families
from headwater_analysis.identity import Identities
from headwater_analysis.impact.policy_inputs import InputGroup, JobInput, SeverityInputs
from headwater_analysis.impact.stored_inputs import StoredInputs
from headwater_analysis.lineage.plans import Plan, Plans, WrittenDataset
from headwater_analysis.reader import Transaction

_COPIES = ("COPY", "RENAME")


class StoredColumnEdge(NamedTuple):
    """Edge from a column, or from a dataset's rows, to a column or a whole dataset.

    Attributes:
        source, target: ids of nodes.
        edge: id of the relationship.
        whole: whether the edge holds for every column of the target, a dataset.
        direct: whether the source's value goes into the target.
        masking: whether the original value can't be recovered.
        job: key of the job.
        by: id of the column from which the stored edge starts, if that is a parent or a field of `source`; None if the
            stored edge starts from `source` itself.
        copied: whether the stored edge copies the whole column `by`, and `target` was replaced by the field of the copy
            that corresponds to `source`.
    """

    source: int
    target: int
    edge: int
    whole: bool
    direct: bool
    kind: str
    masking: bool
    job: str
    by: int | None = None
    copied: bool = False


Feed: TypeAlias = tuple[int, int, int, str]
"""Edge from a dataset to a derived dataset: ids of source, target and edge, and key of the job. No class: an answer has
tens of thousands of these edges, and creating instances would take longer than reading the edges."""


class AssetFacts(NamedTuple):
    """Facts of a column or dataset.

    Attributes:
        key: key of the node.
        dataset: id of the dataset itself, or of the column's dataset.
        type, criticality: type and criticality of that dataset; `''`: unknown. A declared criticality overrides a
            reported one.
        parted: whether the node is a column with fields, which are columns too: a struct, a topic's payload.
    """

    key: str
    dataset: int
    type: str
    criticality: str
    parted: bool = False


class ImpactGraph(Protocol):
    """Graph lookups that `spread` needs."""

    def column_edges(self, nodes: Sequence[int], /) -> Iterable[StoredColumnEdge]:
        """Current edges that leave these columns, their parents or their fields."""

    def lookups(self, edges: Sequence[int], /) -> Mapping[int, Sequence[int]]:
        """Ids of the columns whose values a join looks up, by id of the edge from the join key to the joined rows."""

    def feeds(self, nodes: Sequence[int], /) -> Iterable[Feed]:
        """FEEDS edges that leave these datasets."""

    def unseen(self, made: Iterable[tuple[str, int]], /) -> set[tuple[str, int]]:
        """Filter pairs of a job's key and an output's id to those whose column lineage is missing or incomplete.

        For these pairs, a missing edge proves nothing.
        """

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, AssetFacts]:
        """Facts of these nodes."""

    def inputs(self, nodes: Sequence[int], groups: Iterable[InputGroup], /) -> Mapping[int, SeverityInputs]:
        """Severity inputs of these nodes, for these groups. Facts of the step and criticalities of jobs are missing."""

    def critical_jobs(self, jobs: Iterable[str], /) -> Mapping[str, JobInput]:
        """Jobs among these, by key, that have a criticality."""


def _each_once(feeds: list[Feed], possible: Sequence[bool]) -> list[Feed]:
    """Keep one edge per source, target and job; edges under other names of the datasets are dropped.

    A certain edge is preferred to a possible one.
    """
    if len({(source, target, job) for source, target, _, job in feeds}) == len(feeds):
        return feeds
    once: dict[tuple[int, int, str], Feed] = {}
    for feed, _ in sorted(zip(feeds, possible, strict=True), key=itemgetter(1)):
        once.setdefault((feed[0], feed[1], feed[3]), feed)
    return list(once.values())


class StoredGraph:
    """`ImpactGraph` in Neo4j, read within one transaction.

    Args:
        former: whether to include edges of plans that no longer hold.
        groups: groups of inputs that the policy needs for most datasets and jobs; some are looked up ahead.

    Attributes:
        ended: keys of replaced plans (which no longer hold) that have an edge from a column, by the column's id.
        former: ids of edges that no current plan has, or that belong to a dropped column whose name another column has
            now.
    """

    def __init__(self, tx: Transaction, *, former: bool = False, groups: Iterable[InputGroup] = ()) -> None:
        self._tx = tx
        self._groups = frozenset(groups)
        self._with_former = former
        self._plans = Plans(tx, replaced=True)
        self._identities = Identities.of(tx)
        self._families = Families.of(tx)
        self._unseen: dict[tuple[str, int], bool] = {}
        self.ended: dict[int, set[str]] = {}
        self.former: set[int] = set()
        # Facts of a level come with the FEEDS edges into this level, which saves a round trip for each level.
        self._raw: dict[int, AssetFacts] = {}
        self._facts: dict[int, AssetFacts] = {}
        self._inputs = StoredInputs.of(tx)

    def column_edges(self, nodes: Sequence[int], /) -> list[StoredColumnEdge]:
        """See `ImpactGraph`."""
        self._identities.learn(nodes)
        if not nodes:
            return []
        asked = self._identities.expanded(nodes)
        relatives = self._families.relatives(asked)
        row = self._tx.row("impact/column_edges", nodes=list(dict.fromkeys([*asked, *relatives.every])))
        if row is None:
            return []
        own = set(asked)
        rows = [
            (source, *values, by)
            for leaves, *values in zip(*row.values(), strict=True)
            for source, by in [
                *([(leaves, None)] if leaves in own else []),
                *((n, leaves) for n in relatives.of(leaves)),
            ]
        ]
        if not rows:
            return []
        sources, targets, edges, whole, direct, kinds, masking, plans, bys = zip(*rows, strict=True)
        holding = self._plans.holding(plans, targets)
        jobs = (self._plans[plan].job for plan in plans)
        found = self._of_fields(
            map(StoredColumnEdge, sources, targets, edges, whole, direct, kinds, masking, jobs, bys)
        )
        for source, plan, holds in zip(sources, plans, holding, strict=True):
            if not holds:
                for span in self._identities.node_spans(source):
                    self.ended.setdefault(span.node, set()).add(plan)
        if self._with_former:
            self.former.update(edge for edge, holds in zip(edges, holding, strict=True) if not holds)
            holding = [True] * len(holding)
        held = [(edge, plan) for edge, plan, holds in zip(found, plans, holding, strict=True) if holds]
        self._identities.learn(edge.target for edge, _ in held)
        return self._placed(held, set(nodes)) if self._identities.any else [edge for edge, _ in held]

    def _of_fields(self, edges: Iterable[StoredColumnEdge]) -> list[StoredColumnEdge]:
        """For edges that copy a parent of their source: replace the target by the copy of the source, if any."""
        found = list(edges)
        copies = {
            index: (edge.source, edge.by, edge.target)
            for index, edge in enumerate(found)
            if edge.by is not None and edge.direct and edge.kind in _COPIES
        }
        fields = self._families.copied(list(copies.values())) if copies else {}
        for index, copy in copies.items():
            if copy in fields:
                found[index] = found[index]._replace(target=fields[copy], copied=True)
        return found

    def _placed(self, edges: Sequence[tuple[StoredColumnEdge, str]], wanted: Container[int]) -> list[StoredColumnEdge]:
        """Translate edges, each with its plan, from former names: both ends become the shown node of their column."""
        identities, placed = self._identities, []
        for edge, plan in edges:
            span = self._plans[plan].first_seen, self._plans[plan].last_seen
            nears, fars = (identities.taking(node, *span) for node in (edge.source, edge.target))
            if not (nears and fars):
                # Another column may have a dropped column's name now: the job uses the new one in its next run.
                self.former.add(edge.edge)
            placed += [
                edge._replace(source=near, target=far)
                for near in nears or [identities.shown_node(edge.source)]
                for far in fars or [identities.shown_node(edge.target)]
                if near in wanted
            ]
        return placed

    def plan(self, key: str) -> Plan:
        """Plan with this key; `column_edges` must have read an edge of the plan before."""
        return self._plans[key]

    def lookups(self, edges: Sequence[int], /) -> dict[int, list[int]]:
        """See `ImpactGraph`."""
        rows = self._tx.rows("impact/lookups", edges=edges) if edges else []
        self._identities.learn(target for row in rows for target in row["targets"])
        shown = self._identities.shown_node
        return {row["edge"]: list(dict.fromkeys(map(shown, row["targets"]))) for row in rows}

    def feeds(self, nodes: Sequence[int], /) -> list[Feed]:
        """See `ImpactGraph`."""
        if not nodes:
            return []
        self._identities.learn(nodes, datasets=True)
        asked = self._identities.expanded(nodes)
        sources, targets, edges, jobs, possible, *fed = self._tx.one("impact/feeds", nodes=asked).values()
        # Neo4j looks up these nodes while Python judges this level.
        self._inputs.expect(
            jobs if InputGroup.JOBS in self._groups else (), nodes if InputGroup.PUBLICATION in self._groups else ()
        )
        for node, key, type_, criticality in zip(*fed, strict=True):
            if node not in self._raw:
                self._raw[node] = AssetFacts(key, node, type_, criticality)
        if not self._identities.any:
            return _each_once(list(zip(sources, targets, edges, jobs, strict=True)), possible)
        hops = self._identities.hops(nodes, sources, targets, edges)
        feeds = [(source, target, edges[n], jobs[n]) for n, source, target in hops]
        return _each_once(feeds, [possible[n] for n, _, _ in hops])

    def unseen(self, made: Iterable[tuple[str, int]], /) -> set[tuple[str, int]]:
        """See `ImpactGraph`."""
        asked = set(made)
        if new := sorted(asked - self._unseen.keys()):
            # Look up all names of the dataset, the shown one included: its FEEDS edges may belong to other names only.
            facts = self.facts(list(dict.fromkeys(target for _, target in new)))
            names = {target: self._identities.members(found.key) for target, found in facts.items()}
            unseen = self._plans.unseen_under(
                {(job, target): [WrittenDataset(job, name) for name in names[target]] for job, target in new}
            )
            self._unseen |= {pair: pair in unseen for pair in new}
        return {pair for pair in asked if self._unseen[pair]}

    def ever_incomplete(self, made: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Filter pairs of a job's key and an output's id to those for which some plan's column lineage is incomplete.

        Former plans count, too: the data that they wrote may still exist.
        """
        asked = set(made)
        facts = self.facts(list(dict.fromkeys(target for _, target in asked)))
        self._plans.of_jobs(sorted({job for job, _ in asked}))
        return {
            (job, target)
            for job, target in asked
            for plan in self._plans.of_job(job).values()
            if (plan.incomplete is not None or not plan.known)
            and not set(plan.outputs).isdisjoint(self._identities.members(facts[target].key))
        }

    def facts(self, nodes: Sequence[int], /) -> dict[int, AssetFacts]:
        """See `ImpactGraph`."""
        if new := [node for node in nodes if node not in self._raw]:
            ids, *facts = self._tx.one("impact/facts", nodes=new).values()
            found = dict(zip(ids, map(AssetFacts, *facts), strict=True))
            self._identities.learn((each.dataset for each in found.values()), datasets=True)
            shown = self._identities.shown_node
            self._raw |= {node: each._replace(dataset=shown(each.dataset)) for node, each in found.items()}
        if without_declared := [node for node in nodes if node not in self._facts]:
            declared = self._inputs.criticalities(self._raw[node].dataset for node in without_declared)
            for node in without_declared:
                facts_of = self._raw[node]
                value = declared.get(facts_of.dataset)
                self._facts[node] = facts_of if value is None else facts_of._replace(criticality=value)
        return {node: self._facts[node] for node in nodes}

    def inputs(self, nodes: Sequence[int], groups: Iterable[InputGroup], /) -> dict[int, SeverityInputs]:
        """See `ImpactGraph`."""
        known = self.facts(nodes)
        datasets = {node: facts.dataset for node, facts in known.items()}
        return self._inputs.look_up(datasets, {node: facts.criticality for node, facts in known.items()}, groups)

    def critical_jobs(self, jobs: Iterable[str], /) -> dict[str, JobInput]:
        """See `ImpactGraph`."""
        return self._inputs.job_criticalities(jobs)
