"""How far a change goes, and how badly it hits what it reaches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from headwater_consumers.analysis.impact.graph import Facts
from headwater_consumers.analysis.impact.moves import Moves
from headwater_consumers.analysis.impact.place import (
    is_indirect,
    node_of,
    place_of,
    propagates,
    rank_of,
    start_place,
)
from headwater_consumers.analysis.impact.steps import Cause, Influence, StepFacts
from headwater_consumers.analysis.walk import Step, Walk, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater_consumers.analysis.impact.change import ChangeType, SchemaChange
    from headwater_consumers.analysis.impact.graph import Graph
    from headwater_consumers.analysis.impact.moves import Move, Start
    from headwater_consumers.analysis.impact.policy import Policy


class Hit(NamedTuple):
    """What a step of the walk says, as its `facts`.

    Attributes:
        cause: why the next one is hit.
        job: key of the job that makes the step.
        rule: number of the policy's rule.
    """

    cause: Cause
    job: str
    rule: int


@dataclass(slots=True)
class JobHit:
    """A job on the way.

    Attributes:
        hops: from the start to what it writes, at least.
        rank: of the worst severity that it passes on.
        causes: of its steps.
        kinds: of transformation, of the first of its hops.
    """

    hops: int
    rank: int
    causes: set[Cause] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Spread:
    """What was hit.

    Attributes:
        walk: from place to place.
        worst: each asset's worst place, by its node.
        facts: of every node.
        jobs: by key.
    """

    walk: Walk
    worst: dict[int, int]
    facts: dict[int, Facts]
    jobs: dict[str, JobHit]

    def hops(self, node: int) -> int:
        """Hops to an asset, the way that hits it worst."""
        return self.walk.found[self.worst[node]].hops


def spread(
    graph: Graph, start: Start, change: ChangeType, schema: SchemaChange | None, policy: Policy, *, depth: int | None
) -> Spread:
    """Follow a change.

    Args:
        graph: to ask.
        start: where it begins; never among what is hit.
        change: what it is.
        schema: what happens to the column, if it is a schema change.
        policy: which steps matter, and go on.
        depth: most hops; None: all.
    """
    spreading = _Spreading(graph, start, change, schema, policy, depth)
    places = [start_place(node) for node in (*start.nodes, *start.wholes)]
    reached = walk(places, spreading.expand, depth=depth)
    worst: dict[int, int] = {}
    for place, found in reached.found.items():
        known = worst.get(node_of(place))
        if known is None or _order(place, found.hops) < _order(known, reached.found[known].hops):
            worst[node_of(place)] = place
    return Spread(reached, worst, spreading.known, spreading.jobs)


def _order(place: int, hops: int) -> tuple[int, bool, int]:
    return rank_of(place), is_indirect(place), hops


class _Spreading:
    """The state of one spread: what is known, and what has been left already."""

    def __init__(
        self,
        graph: Graph,
        start: Start,
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
        self._left: set[tuple[int, bool]] = set()
        self._verdicts: dict[StepFacts, tuple[int, bool, int]] = {}
        self.known: dict[int, Facts] = dict(graph.facts([*start.nodes, *start.wholes, start.dataset]))
        fails = not policy.binds_late(start.type)
        self._moves = Moves(graph, start, schema, fails=fails, known=self.known)
        self.jobs: dict[str, JobHit] = {}

    def expand(self, frontier: Sequence[int]) -> Iterable[Step]:
        """The steps that leave these places, each to the place that the policy makes of it."""
        self._hops += 1
        leaving = self._leaving(frontier)
        moves = self._moves.leaving(list(leaving), first=self._hops == 1)
        self._look_up({move.target for move in moves})
        within = self._start.within
        if within is not None:
            moves = [move for move in moves if self.known[move.target].dataset in within]
        moves.sort(key=self._move_order)
        return [self._step(move, place) for move in moves for place in leaving[move.source]]

    def _leaving(self, frontier: Sequence[int]) -> dict[int, list[int]]:
        """Places to go on from, by node: DIRECT is enough where it is DIRECT too."""
        leaving: dict[int, list[int]] = {}
        for place in sorted(frontier, key=is_indirect):
            node = node_of(place)
            if propagates(place) and not {(node, False), (node, is_indirect(place))} & self._left:
                self._left.add((node, is_indirect(place)))
                leaving.setdefault(node, []).append(place)
        return leaving

    def _look_up(self, nodes: set[int]) -> None:
        self.known |= self._graph.facts([node for node in nodes if node not in self.known])

    def _move_order(self, move: Move) -> tuple[str, str, str, str, str, int]:
        source, target = self.known[move.source].key, self.known[move.target].key
        return source, target, move.cause, move.kind or "", move.job, move.edge

    def _step(self, move: Move, place: int) -> Step:
        indirect = is_indirect(place) or not move.direct
        facts = self.known[move.target]
        step = StepFacts(
            move.cause,
            Influence.INDIRECT if indirect else Influence.DIRECT,
            move.kind,
            move.masking,
            self._hops == 1,
            facts.type,
            facts.criticality,
            facts.parted,
        )
        if step not in self._verdicts:
            severity, goes_on, number = self._policy.judge(self._change, self._schema, step)
            self._verdicts[step] = severity.rank, goes_on, number
        rank, goes_on, number = self._verdicts[step]
        if self._depth is None or self._hops <= self._depth:
            self._note_job(move, rank)
        target = place_of(move.target, indirect=indirect, rank=rank, propagates=goes_on)
        return Step(place, target, move.edge, facts=Hit(move.cause, move.job, number))

    def _note_job(self, move: Move, rank: int) -> None:
        job = self.jobs.setdefault(move.job, JobHit(self._hops, rank))
        job.rank = min(job.rank, rank)
        if job.hops == self._hops:
            job.causes.add(move.cause)
            if move.kind:
                job.kinds.add(move.kind)
