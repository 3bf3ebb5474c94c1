"""Spread of a change: the assets that it reaches, and the severity of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from headwater_analysis.impact.change import ChangeType, SchemaChange
from headwater_analysis.impact.graph import AssetFacts, Feed, ImpactGraph
from headwater_analysis.impact.moves import ChangeStart, Moves
from headwater_analysis.impact.policy import Policy
from headwater_analysis.impact.raising import Raised, raised
from headwater_analysis.impact.steps import (
    NODE_SHIFT,
    Cause,
    Influence,
    StepFacts,
    is_indirect,
    node_of,
    order_of,
    place_of,
    propagates,
    rank_of,
    start_place,
)
from headwater_analysis.walk import Walk, WalkStep, walk


class HitStep(NamedTuple):
    """`facts` of a step in the walk.

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
        hops: least hops from the start to its outputs.
        rank: rank of the worst severity that it passes on.
        places: places that it makes.
        causes: causes of its steps.
        kinds: kinds of transformation in its first hop.
    """

    hops: int
    rank: int
    places: set[int] = field(default_factory=set)
    causes: set[Cause] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ImpactSpread:
    """Assets that were hit.

    Attributes:
        walk: walk from place to place.
        worst: each asset's worst place, by its node.
        facts: facts of every node.
        jobs: jobs on the paths, by key.
        raised: places whose severity by the rules is replaced.
        makers: keys of the jobs that make the asset of each place, by place.
    """

    walk: Walk
    worst: dict[int, int]
    facts: dict[int, AssetFacts]
    jobs: dict[str, JobHit]
    raised: dict[int, Raised]
    makers: dict[int, set[str]]

    def rank(self, node: int) -> int:
        """Rank of an asset's severity."""
        return _rank(self.worst[node], self.raised)

    def ordered(self) -> list[tuple[int, int, int, str, int]]:
        """List all assets: rank, whether INDIRECT, hops, key, which they are sorted by, and node.

        The worst are first, and DIRECT ones before INDIRECT ones.
        """
        found, facts, raises = self.walk.found, self.facts, self.raised
        return sorted(
            (_rank(place, raises), int(is_indirect(place)), found[place].hops, facts[node].key, node)
            for node, place in self.worst.items()
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
    """Follow a change.

    Args:
        graph: graph to ask.
        start: start of the change; never among the hit assets.
        change: type of the change.
        schema: kind of a schema change.
        policy: policy that judges the steps.
        depth: most hops; None: all.
    """
    spreading = _Spreading(graph, start, change, schema, policy, depth)
    places = [start_place(node) for node in start.nodes or start.wholes]
    reached = walk(places, spreading.expand, depth=depth)
    makers: dict[int, set[str]] = {place: set() for place in reached.found}
    for key, job in spreading.jobs.items():
        for place in job.places:
            makers[place].add(key)
    raises = raised(graph, policy, change, makers, spreading.known)
    worst: dict[int, int] = {}
    for place, found in reached.found.items():
        known = worst.setdefault(node_of(place), place)
        if known != place and _order(place, found.hops, raises) < _order(known, reached.found[known].hops, raises):
            worst[node_of(place)] = place
    for job in spreading.jobs.values():
        job.rank = min(_rank(place, raises) for place in job.places)
    return ImpactSpread(reached, worst, spreading.known, spreading.jobs, raises, makers)


def _rank(place: int, raises: Mapping[int, Raised]) -> int:
    """Rank of a place's severity."""
    changed = raises.get(place)
    return rank_of(place) if changed is None else changed.rank


def _order(place: int, hops: int, raises: Mapping[int, Raised]) -> tuple[int, bool, int, bool, int]:
    """Sort key for the places of one node, the worst first; no two are equal, whatever the order of discovery."""
    return _rank(place, raises), is_indirect(place), hops, not propagates(place), rank_of(place)


_Taken: TypeAlias = tuple[str, int, Cause, str, str, int, int]
"""A step to a new place: key of the source, source place, cause, kind, job, edge; and the rule's number.

Of several steps to one place the least is shown: the same for equal graphs, whatever the order of rows.
"""


_TARGET = itemgetter(1)
_JOB_AND_TARGET = itemgetter(3, 1)


def _by_way(flows: Sequence[Feed], leaving: Mapping[int, int]) -> Iterator[tuple[bool, Sequence[Feed]]]:
    """Moves by FLOW that leave DIRECT places, and those that leave INDIRECT ones."""
    indirect = {node for node, place in leaving.items() if is_indirect(place)}
    if indirect:
        yield True, [feed for feed in flows if feed[0] in indirect]
    if len(indirect) < len(leaving):
        yield False, [feed for feed in flows if feed[0] not in indirect] if indirect else flows


class _Spreading:
    """State of one spread: cached verdicts, and nodes that were left already."""

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
        self._left: set[int] = set()  # twice the node, and one more for INDIRECT
        # Of tens of thousands of steps all but a few hundred repeat an earlier combination: those are cached.
        self._verdicts: dict[tuple[object, ...], tuple[int, int]] = {}
        self._placed: set[int] = set()
        self.known: dict[int, AssetFacts] = dict(graph.facts([*start.nodes, *start.wholes, start.dataset]))
        fails = not policy.binds_late(start.type)
        self._moves = Moves(graph, start, schema, fails=fails, known=self.known)
        self.jobs: dict[str, JobHit] = {}

    def expand(self, frontier: Sequence[int]) -> Iterable[WalkStep]:
        """Steps from these places, one to each new place by the policy."""
        self._hops += 1
        leaving = self._leaving(frontier)
        moves, flows = self._moves.leaving(list(leaving), first=self._hops == 1), self._moves.flows(leaving)
        self._look_up({*(move.target for move in moves), *map(_TARGET, flows)})
        within = self._start.within
        if within is not None:
            moves = [move for move in moves if self.known[move.target].dataset in within]
            flows = [feed for feed in flows if feed[1] in within]
        counts = self._depth is None or self._hops <= self._depth
        fresh: dict[int, _Taken] = {}
        for move in moves:
            place = leaving[move.source]
            indirect = is_indirect(place) or not move.direct
            target, rule = self._judge(move.target, move.cause, move.kind, masking=move.masking, indirect=indirect)
            if counts:
                self._note_job(move.job, move.cause, move.kind, target)
            if target not in self._placed:
                taken = self.known[move.source].key, place, move.cause, move.kind or "", move.job, move.edge, rule
                fresh[target] = min(taken, fresh.get(target, taken))
        for indirect, feeds in _by_way(flows, leaving):
            verdicts = self._judge_flows(feeds, indirect=indirect)
            if counts:
                for job, to in dict.fromkeys(map(_JOB_AND_TARGET, feeds)):
                    self._note_job(job, Cause.FLOW, None, verdicts[to][0])
            self._flow(feeds, verdicts, leaving, fresh)
        self._placed |= fresh.keys()
        return [
            WalkStep(place, target, edge, facts=HitStep(cause, job, rule))
            for target, (_, place, cause, _, job, edge, rule) in fresh.items()
        ]

    def _judge_flows(self, feeds: Iterable[Feed], *, indirect: bool) -> dict[int, tuple[int, int]]:
        """Places and rules that moves by FLOW lead to, by node: most repeat an earlier combination."""
        return {
            target: self._judge(target, Cause.FLOW, None, masking=False, indirect=indirect)
            for target in dict.fromkeys(map(_TARGET, feeds))
        }

    def _flow(
        self,
        feeds: Iterable[Feed],
        verdicts: Mapping[int, tuple[int, int]],
        leaving: Mapping[int, int],
        fresh: dict[int, _Taken],
    ) -> None:
        """Take the moves by FLOW to places that are new."""
        known = self.known
        new = {target: verdict for target, verdict in verdicts.items() if verdict[0] not in self._placed}
        for source, target, edge, job in feeds:
            if target in new:
                there, rule = new[target]
                taken = known[source].key, leaving[source], Cause.FLOW, "", job, edge, rule
                first = fresh.get(there)
                if first is None or taken < first:
                    fresh[there] = taken

    def _leaving(self, frontier: Iterable[int]) -> dict[int, int]:
        """Place of each node to continue from: a DIRECT one before an INDIRECT one, then the worst."""
        leaving: dict[int, int] = {}
        left = self._left
        for place in sorted(frontier, key=order_of):
            node, indirect = node_of(place), is_indirect(place)
            if propagates(place) and node << 1 not in left and not (indirect and node << 1 | 1 in left):
                left.add(node << 1 | indirect)
                leaving[node] = place
        return leaving

    def _look_up(self, nodes: set[int]) -> None:
        self.known |= self._graph.facts([node for node in nodes if node not in self.known])

    def _judge(self, target: int, cause: Cause, kind: str | None, *, masking: bool, indirect: bool) -> tuple[int, int]:
        """Return the place that a move leads to, and the number of the rule."""
        facts = self.known[target]
        first, parted = self._hops == 1, facts.parted
        asked = (first, cause, indirect, kind, masking, facts.type, facts.criticality, parted)
        verdict = self._verdicts.get(asked)
        if verdict is None:
            influence = Influence.INDIRECT if indirect else Influence.DIRECT
            step = StepFacts(cause, influence, kind, masking, first, facts.type, facts.criticality, parted)
            severity, goes_on, rule = self._policy.judge(self._change, self._schema, step)
            verdict = place_of(0, indirect=indirect, rank=severity.rank, propagates=goes_on), rule
            self._verdicts[asked] = verdict
        how, rule = verdict
        return target << NODE_SHIFT | how, rule

    def _note_job(self, key: str, cause: Cause, kind: str | None, place: int) -> None:
        job = self.jobs.get(key)
        if job is None:
            job = self.jobs[key] = JobHit(self._hops, rank_of(place))
        job.places.add(place)
        if job.hops == self._hops:
            job.causes.add(cause)
            if kind:
                job.kinds.add(kind)
