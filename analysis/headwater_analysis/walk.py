"""Breadth-first search: one statement for each level, ids in and ids out, no node twice.

The statement of a level takes the ids of the nodes reached last. It returns every step that may leave them, as parallel
lists in one row: 30,000 steps of three integers take milliseconds, while as many rows of properties take seconds. Names
of steps and nodes are looked up later, only for the shown page. Ids are Neo4j's, and valid only within the transaction.

If the walk may continue differently from a node, depending on the path to the node, it goes between visits instead. A
visit is a NamedTuple of the node's id and the state of the path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

V = TypeVar("V")
"""Id of a node, or visit of a node: where a step of a walk begins and ends."""


class WalkStep(NamedTuple, Generic[V]):
    """An edge that may be followed.

    Attributes:
        source, target: nodes or visits, in the direction of the walk.
        edge: id of the relationship.
        hops: 1; 0 for an edge that doesn't count as a hop, such as from a dataset to its columns.
        facts: further values of the step.
    """

    source: V
    target: V
    edge: int
    hops: int = 1
    facts: tuple[Any, ...] = ()


class Discovery(NamedTuple, Generic[V]):
    """A node or visit, and the step that found it: if several shortest paths lead there, the statement's first step."""

    node: V
    hops: int
    step: WalkStep[V]


@dataclass(frozen=True, slots=True)
class Walk(Generic[V]):
    """Nodes or visits that were reached, in the order of discovery.

    Attributes:
        found: each node once, without the starts.
        truncated: whether there is more beyond the depth.
    """

    found: dict[V, Discovery[V]]
    truncated: bool

    def path(self, node: V) -> list[WalkStep[V]]:
        """Steps from a start to a node that was reached."""
        steps: list[WalkStep[V]] = []
        while (discovery := self.found.get(node)) is not None:
            steps.append(discovery.step)
            node = discovery.step.source
        return steps[::-1]


def walk(starts: Iterable[V], expand: Callable[[Sequence[V]], Iterable[WalkStep[V]]], *, depth: int | None) -> Walk[V]:
    """Search breadth-first.

    Args:
        starts: nodes or visits where the walk begins.
        expand: lists every step that leaves a level, in the same order for equal graphs.
        depth: maximum number of hops; None: all.
    """
    found: dict[V, Discovery[V]] = {}
    nearest = dict.fromkeys(starts, 0)
    levels: dict[int, list[V]] = {0: list(nearest)}
    beyond: set[V] = set()
    while levels:
        hops = min(levels)
        # After a node was put on this level, a step with 0 hops may have found a shorter path to this node.
        frontier = [node for node in levels.pop(hops) if nearest[node] == hops]
        for step in expand(frontier) if frontier else ():
            target_hops = hops + step.hops
            if target_hops >= nearest.get(step.target, target_hops + 1):
                continue
            if depth is not None and target_hops > depth:
                beyond.add(step.target)
                continue
            found[step.target] = Discovery(step.target, target_hops, step)
            nearest[step.target] = target_hops
            levels.setdefault(target_hops, []).append(step.target)
    ordered = sorted(found.values(), key=lambda discovery: discovery.hops)
    return Walk({discovery.node: discovery for discovery in ordered}, not beyond <= found.keys())
