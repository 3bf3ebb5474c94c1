"""Spread of a change: the assets that it reaches, and the severity of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeAlias

from headwater_analysis.impact.change import ChangeType, SchemaChange
from headwater_analysis.impact.graph import AssetFacts, Feed, ImpactGraph
from headwater_analysis.impact.moves import ChangeStart, Moves
from headwater_analysis.impact.policy import SEVERITIES, Policy
from headwater_analysis.impact.policy_inputs import Cause, InputGroup, SeverityInputs, StepFacts
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.walk import Walk, WalkStep, walk


class ImpactVisit(NamedTuple):
    """An asset that is hit, and how it is hit.

    Attributes:
        node: id of the asset.
        propagates: whether the change spreads from this asset to others.
        indirect: whether the path has an INDIRECT step.
        rank: rank of the severity; `NOT_JUDGED` where a change starts.
    """

    node: int
    propagates: bool
    indirect: bool
    rank: int


NOT_JUDGED = 15
"""Rank of the changed asset itself."""


def start_visit(node: int) -> ImpactVisit:
    """Return the visit where a change starts."""
    return ImpactVisit(node, propagates=True, indirect=False, rank=NOT_JUDGED)


class Raised(NamedTuple):
    """Replacement of a severity.

    Attributes:
        rank: rank of the new severity.
        number: number of the policy's `[[raise]]`, from 0.
    """

    rank: int
    number: int


def raised(
    graph: ImpactGraph,
    policy: Policy,
    change: ChangeType,
    makers: Mapping[ImpactVisit, Iterable[str]],
    facts: Mapping[int, AssetFacts],
) -> dict[ImpactVisit, Raised]:
    """Severities that replace the rules' severities, by visit.

    Args:
        makers: keys of the jobs that make the asset of each visit, by visit.
    """
    candidates = _may_fit(policy, change, makers, facts)
    if not candidates:
        return {}
    groups = {
        numbers: frozenset[InputGroup]().union(*(policy.raises[number].groups for number in numbers))
        for numbers in set(candidates.values())
    }
    inputs = _inputs(graph, {visit: groups[numbers] for visit, numbers in candidates.items()})
    by_jobs = [visit for visit, numbers in candidates.items() if InputGroup.JOBS in groups[numbers]]
    jobs = graph.critical_jobs({job for visit in by_jobs for job in makers[visit]}) if by_jobs else {}
    # Most assets have equal inputs, or none. Equal inputs are one object in `inputs`, which is judged once.
    decided: dict[tuple[tuple[int, ...], int], int | None] = {}
    out = {}
    for visit, numbers in candidates.items():
        known = inputs[visit.node]
        if jobs and (made_by := [jobs[job] for job in makers[visit] if job in jobs]):
            known = replace(known, jobs=tuple(sorted(made_by, key=lambda job: (job.name, job.criticality))))
            number = _first_that_fits(policy, numbers, known)
        elif (numbers, id(known)) in decided:
            number = decided[numbers, id(known)]
        else:
            number = decided[numbers, id(known)] = _first_that_fits(policy, numbers, known)
        if number is not None:
            out[visit] = Raised(policy.raises[number].to.rank, number)
    return out


def _inputs(graph: ImpactGraph, groups_of: Mapping[ImpactVisit, frozenset[InputGroup]]) -> dict[int, SeverityInputs]:
    """Inputs of the visited assets, each with the groups that its visits need."""
    asked: dict[int, frozenset[InputGroup]] = {}
    for visit, wanted in groups_of.items():
        node = visit.node
        asked[node] = asked[node] | wanted if node in asked else wanted
    groups: dict[frozenset[InputGroup], list[int]] = {}
    for node, wanted in asked.items():
        groups.setdefault(wanted, []).append(node)
    inputs: dict[int, SeverityInputs] = {}
    for wanted, nodes in groups.items():
        inputs |= graph.inputs(nodes, wanted)
    return inputs


def _first_that_fits(policy: Policy, numbers: Iterable[int], known: SeverityInputs) -> int | None:
    return next((number for number in numbers if policy.raises[number].fits(known)), None)


def _may_fit(
    policy: Policy, change: ChangeType, visits: Iterable[ImpactVisit], facts: Mapping[int, AssetFacts]
) -> dict[ImpactVisit, tuple[int, ...]]:
    """Numbers of the raises that may apply, by visit; decided once for equal rank, type and criticality."""
    found: dict[tuple[int, str, str], tuple[int, ...]] = {}
    out = {}
    for visit in visits:
        asset = facts[visit.node]
        judged_by = (visit.rank, asset.type, asset.criticality)
        numbers = found.get(judged_by)
        if numbers is None:
            severity = SEVERITIES[judged_by[0]]
            numbers = found[judged_by] = tuple(
                number
                for number, each in enumerate(policy.raises)
                if each.may_fit(change, asset.type, asset.criticality, severity)
            )
        if numbers:
            out[visit] = numbers
    return out


class HitStep(NamedTuple):
    """Facts of a step in the walk (`WalkStep.facts`).

    Attributes:
        cause: reason why the next asset is hit.
        job: key of the job that makes the step.
        rule: number of the policy's rule.
    """

    cause: Cause
    job: str
    rule: int


@dataclass(slots=True)
class JobHit:
    """A job on the path of a change.

    Attributes:
        hops: fewest hops from the start to its outputs.
        rank: rank of the worst severity that its outputs get.
        visits: visits of the job's outputs.
        causes: causes of the job's steps at `hops` hops.
        kinds: kinds of transformation of these steps.
    """

    hops: int
    rank: int
    visits: set[ImpactVisit] = field(default_factory=set)
    causes: set[Cause] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ImpactSpread:
    """Assets that were hit.

    Attributes:
        worst: each asset's worst visit, by its node.
        jobs: jobs on the paths, by key.
        raised: severities that replace the rules' severities, by visit.
        makers: keys of the jobs that make the asset of each visit, by visit.
    """

    walk: Walk[ImpactVisit]
    worst: dict[int, ImpactVisit]
    facts: dict[int, AssetFacts]
    jobs: dict[str, JobHit]
    raised: dict[ImpactVisit, Raised]
    makers: dict[ImpactVisit, set[str]]

    def rank(self, node: int) -> int:
        """Rank of an asset's severity."""
        return _rank(self.worst[node], self.raised)

    def ordered(self) -> list[tuple[int, int, int, str, int]]:
        """List all assets, sorted: rank, whether INDIRECT, hops, key, and node.

        The worst assets come first; of equal severity, DIRECT before INDIRECT.
        """
        found, facts, raises = self.walk.found, self.facts, self.raised
        return sorted(
            (_rank(visit, raises), int(visit.indirect), found[visit].hops, facts[node].key, node)
            for node, visit in self.worst.items()
        )

    def hops(self, node: int) -> int:
        """Hops to an asset, on the path with the worst severity."""
        return self.walk.found[self.worst[node]].hops


def spread(
    graph: ImpactGraph,
    start: ChangeStart,
    change: ChangeType,
    schema: SchemaChange | None,
    policy: Policy,
    *,
    depth: int | None,
) -> ImpactSpread:
    """Spread a change through the graph, judged by the policy.

    Args:
        start: start of the change; never among the hit assets.
        depth: maximum number of hops; None: all.
    """
    spreading = _Spreading(graph, start, change, schema, policy, depth)
    starts = [start_visit(node) for node in start.nodes or start.wholes]
    reached = walk(starts, spreading.expand, depth=depth)
    makers: dict[ImpactVisit, set[str]] = {visit: set() for visit in reached.found}
    for key, job in spreading.jobs.items():
        for visit in job.visits:
            makers[visit].add(key)
    raises = raised(graph, policy, change, makers, spreading.known)
    worst: dict[int, ImpactVisit] = {}
    for visit, found in reached.found.items():
        known = worst.setdefault(visit.node, visit)
        if known != visit and _order(visit, found.hops, raises) < _order(known, reached.found[known].hops, raises):
            worst[visit.node] = visit
    for job in spreading.jobs.values():
        job.rank = min(_rank(visit, raises) for visit in job.visits)
    return ImpactSpread(reached, worst, spreading.known, spreading.jobs, raises, makers)


def _rank(visit: ImpactVisit, raises: Mapping[ImpactVisit, Raised]) -> int:
    """Rank of a visit's severity."""
    changed = raises.get(visit)
    return visit.rank if changed is None else changed.rank


def _order(visit: ImpactVisit, hops: int, raises: Mapping[ImpactVisit, Raised]) -> tuple[int, bool, int, bool, int]:
    """Sort key for the visits of one node, the worst first. No two visits have equal keys."""
    return _rank(visit, raises), visit.indirect, hops, not visit.propagates, visit.rank


_NewStep: TypeAlias = tuple[str, ImpactVisit, Cause, str, str, int, int]
"""A step to a new visit: key and visit of the source, cause, kind, job, edge, number of the rule.

If several steps lead to one visit, the least tuple is shown, so that equal graphs give equal answers.
"""


_DIRECT_AND_WORST_FIRST = attrgetter("indirect", "rank")
_TARGET = itemgetter(1)
_JOB_AND_TARGET = itemgetter(3, 1)


def _by_influence(flows: Sequence[Feed], leaving: Mapping[int, ImpactVisit]) -> Iterator[tuple[bool, Sequence[Feed]]]:
    """Moves by FLOW, separated by whether they leave INDIRECT visits."""
    indirect = {node for node, visit in leaving.items() if visit.indirect}
    if indirect:
        yield True, [feed for feed in flows if feed[0] in indirect]
    if len(indirect) < len(leaving):
        yield False, [feed for feed in flows if feed[0] not in indirect] if indirect else flows


class _Spreading:
    """State of one spread: cached verdicts, and nodes whose edges were followed already."""

    def __init__(
        self,
        graph: ImpactGraph,
        start: ChangeStart,
        change: ChangeType,
        schema: SchemaChange | None,
        policy: Policy,
        depth: int | None,
    ) -> None:
        self._graph = graph
        self._start = start
        self._change = change
        self._schema = schema
        self._policy = policy
        self._depth = depth
        self._hops = 0
        self._left: set[tuple[int, bool]] = set()  # nodes whose edges were followed, and whether from an INDIRECT visit
        # Among tens of thousands of steps only a few hundred combinations differ, so verdicts are cached.
        self._verdicts: dict[tuple[object, ...], tuple[bool, int, int]] = {}
        self._visited: set[ImpactVisit] = set()
        self.known: dict[int, AssetFacts] = dict(graph.facts([*start.nodes, *start.wholes, start.dataset]))
        fails = not policy.binds_late(start.type)
        self._moves = Moves(graph, start, schema, fails=fails, known=self.known)
        self.jobs: dict[str, JobHit] = {}

    def expand(self, frontier: Sequence[ImpactVisit]) -> Iterable[WalkStep[ImpactVisit]]:
        """Return the steps from these visits, one to each new visit."""
        self._hops += 1
        leaving = self._leaving(frontier)
        moves, flows = self._moves.leaving(list(leaving), first=self._hops == 1), self._moves.flows(leaving)
        self._look_up({*(move.target for move in moves), *map(_TARGET, flows)})
        within = self._start.within
        if within is not None:
            moves = [move for move in moves if self.known[move.target].dataset in within]
            flows = [feed for feed in flows if feed[1] in within]
        counts = self._depth is None or self._hops <= self._depth
        fresh: dict[ImpactVisit, _NewStep] = {}
        for move in moves:
            visit = leaving[move.source]
            indirect = visit.indirect or not move.direct
            target, rule = self._judge(move.target, move.cause, move.kind, masking=move.masking, indirect=indirect)
            if counts:
                self._note_job(move.job, move.cause, move.kind, target)
            if target not in self._visited:
                step = self.known[move.source].key, visit, move.cause, move.kind or "", move.job, move.edge, rule
                fresh[target] = min(step, fresh.get(target, step))
        for indirect, feeds in _by_influence(flows, leaving):
            verdicts = self._judge_flows(feeds, indirect=indirect)
            if counts:
                for job, to in dict.fromkeys(map(_JOB_AND_TARGET, feeds)):
                    self._note_job(job, Cause.FLOW, None, verdicts[to][0])
            self._flow(feeds, verdicts, leaving, fresh)
        self._visited |= fresh.keys()
        return [
            WalkStep(visit, target, edge, facts=HitStep(cause, job, rule))
            for target, (_, visit, cause, _, job, edge, rule) in fresh.items()
        ]

    def _judge_flows(self, feeds: Iterable[Feed], *, indirect: bool) -> dict[int, tuple[ImpactVisit, int]]:
        """Visit and rule for each target of moves by FLOW."""
        return {
            target: self._judge(target, Cause.FLOW, None, masking=False, indirect=indirect)
            for target in dict.fromkeys(map(_TARGET, feeds))
        }

    def _flow(
        self,
        feeds: Iterable[Feed],
        verdicts: Mapping[int, tuple[ImpactVisit, int]],
        leaving: Mapping[int, ImpactVisit],
        fresh: dict[ImpactVisit, _NewStep],
    ) -> None:
        """Add the moves by FLOW to new visits."""
        known = self.known
        new = {target: verdict for target, verdict in verdicts.items() if verdict[0] not in self._visited}
        for source, target, edge, job in feeds:
            if target in new:
                visit, rule = new[target]
                step = known[source].key, leaving[source], Cause.FLOW, "", job, edge, rule
                first = fresh.get(visit)
                if first is None or step < first:
                    fresh[visit] = step

    def _leaving(self, frontier: Iterable[ImpactVisit]) -> dict[int, ImpactVisit]:
        """Visit from which the change continues at each node: DIRECT before INDIRECT, then the worst."""
        leaving: dict[int, ImpactVisit] = {}
        left = self._left
        for visit in sorted(frontier, key=_DIRECT_AND_WORST_FIRST):
            node, _, indirect, _ = visit
            if visit.propagates and (node, False) not in left and not (indirect and (node, True) in left):
                left.add((node, indirect))
                leaving[node] = visit
        return leaving

    def _look_up(self, nodes: set[int]) -> None:
        self.known |= self._graph.facts([node for node in nodes if node not in self.known])

    def _judge(
        self, target: int, cause: Cause, kind: str | None, *, masking: bool, indirect: bool
    ) -> tuple[ImpactVisit, int]:
        """Return the visit that a move leads to, and the number of the rule."""
        facts = self.known[target]
        first, parted = self._hops == 1, facts.parted
        asked = (first, cause, indirect, kind, masking, facts.type, facts.criticality, parted)
        verdict = self._verdicts.get(asked)
        if verdict is None:
            influence = Influence.INDIRECT if indirect else Influence.DIRECT
            step = StepFacts(cause, influence, kind, masking, first, facts.type, facts.criticality, parted)
            severity, goes_on, rule = self._policy.judge(self._change, self._schema, step)
            verdict = self._verdicts[asked] = goes_on, severity.rank, rule
        goes_on, rank, rule = verdict
        return ImpactVisit(target, goes_on, indirect, rank), rule

    def _note_job(self, key: str, cause: Cause, kind: str | None, visit: ImpactVisit) -> None:
        job = self.jobs.get(key)
        if job is None:
            job = self.jobs[key] = JobHit(self._hops, visit.rank)
        job.visits.add(visit)
        if job.hops == self._hops:
            job.causes.add(cause)
            if kind:
                job.kinds.add(kind)
