"""Breadth-first search that keeps DIRECT and INDIRECT paths separate.

A node has two visits: DIRECT, by a path that is DIRECT all along, and INDIRECT, by a path with an INDIRECT step. Each
visit is found at most once, with the fewest hops. An INDIRECT visit is kept only if it is nearer than the DIRECT one.
Otherwise it adds nothing: the DIRECT visit leads to the same nodes, with no more hops.

Nodes and edges are integers, so that 30,000 steps take some hundredths of a second. This module asks no database;
`Steps` does.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Edges(NamedTuple):
    """Edges in parallel lists, sources and targets in the direction of the search.

    Attributes:
        direct: flag of each edge; None if all are DIRECT.
    """

    sources: Sequence[int]
    targets: Sequence[int]
    edges: Sequence[int]
    direct: Sequence[bool] | None = None


class LineageVisit(NamedTuple):
    """A node, and whether the path to it has an INDIRECT step."""

    node: int
    indirect: bool


class SearchFacts(NamedTuple):
    """Properties of a node that the search needs.

    Attributes:
        key: key of the node; decides between equally near parents, so that equal graphs give equal answers.
        shown: whether to list it; False: the search only passes through it.
    """

    key: str
    shown: bool


class Beyond(NamedTuple):
    """Edges that leave the nodes of the last hop.

    Attributes:
        loops: edges from a node to itself.
        targets: targets of the other edges.
    """

    loops: Edges
    targets: Collection[int]


class Steps(Protocol):
    """A graph to search."""

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        """Edges that leave these nodes: one hop."""

    def beyond(self, nodes: Sequence[int], found: Sequence[int], /) -> Beyond | None:
        """Summary of the edges that leave the nodes of the last hop; None if all edges are needed.

        Args:
            nodes: nodes of the last hop.
            found: all nodes that were found: their facts will be needed.
        """

    def members(self, nodes: Sequence[int], /) -> Edges:
        """Edges that don't count as a hop: from these nodes to the nodes that they represent (dataset ⇒ columns)."""

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, SearchFacts]:
        """Facts of these nodes."""


@dataclass(slots=True)
class LastSteps:
    """Last steps of the shortest paths to a visit.

    Attributes:
        hops: fewest hops from the start.
        parents: visits before this visit on its shortest paths, one for each edge to this visit.
        edges: edge from each of the parents.
    """

    hops: int
    parents: list[LineageVisit]
    edges: list[int]


@dataclass(frozen=True, slots=True)
class Reached:
    """Result of a search.

    Attributes:
        start: node where it began.
        found: visits by distance, the nearest first.
        facts: facts of the start and of every node in `found`.
        loops: edges from a node to itself, for the start and every node in `found` that has some.
        leaving: all edges that leave the start and the found nodes, in order, also beyond the depth; for the nodes of
            the last hop only loops, if the steps need no other edges.
        truncated: whether there is more beyond the depth.
    """

    start: int
    found: dict[LineageVisit, LastSteps]
    facts: Mapping[int, SearchFacts]
    loops: Mapping[int, list[int]]
    leaving: Sequence[Edges]
    truncated: bool

    def listed(self) -> list[LineageVisit]:
        """Visits of shown nodes, each node once: DIRECT before INDIRECT, then by hops, then by key."""
        visits = [
            visit
            for visit in self.found
            if self.facts[visit.node].shown and not (visit.indirect and _direct(visit.node) in self.found)
        ]
        visits.sort(key=self.order)
        return visits

    def order(self, visit: LineageVisit) -> tuple[int, int, str]:
        """Sort key of a visit."""
        return int(visit.indirect), self.found[visit].hops, self.facts[visit.node].key

    def parent(self, visit: LineageVisit) -> LineageVisit:
        """Parent of a visit: the visit right before it whose node has the least key."""
        parents = self.found[visit].parents
        # Mostly there is only one visit before.
        if len(parents) == 1:
            return parents[0]
        return min(parents, key=lambda parent: (self.facts[parent.node].key, parent))

    def edges(self, visit: LineageVisit) -> list[int]:
        """All edges to a visit from its parent."""
        found, parent = self.found[visit], self.parent(visit)
        if len(found.parents) == 1:
            return found.edges
        return [edge for edge, near in zip(found.edges, found.parents, strict=True) if near == parent]

    def between(self, visits: Sequence[LineageVisit]) -> list[LineageVisit]:
        """Visits on the paths to these visits, in order; without these and the start."""
        seen = set(visits)
        more: list[LineageVisit] = []
        for visit in visits:
            parent = self.parent(visit)
            while parent.node != self.start and parent not in seen:
                seen.add(parent)
                more.append(parent)
                parent = self.parent(parent)
        return sorted(more, key=self.order)


def search(start: int, start_key: str, steps: Steps, *, depth: int | None) -> Reached:
    """Find everything within `depth` hops of `start`; the start isn't part of the result.

    Args:
        start: node where the search begins.
        start_key: key of this node.
        depth: maximum number of hops; None: all.
    """
    found: dict[LineageVisit, LastSteps] = {}
    # Nodes with a DIRECT visit need no other visit. The start counts as found: a cycle back to it adds nothing.
    done = {start}
    frontier, hops, truncated = [_direct(start)], 0, False
    loops: dict[int, list[int]] = {}
    met: list[Edges] = []
    while frontier:
        if hops == depth and (beyond := steps.beyond(_nodes(frontier), _nodes(found))) is not None:
            met.append(beyond.loops)
            for source, edge in zip(beyond.loops.sources, beyond.loops.edges, strict=True):
                loops.setdefault(source, []).append(edge)
            truncated = not {start, *(visit.node for visit in found)}.issuperset(beyond.targets)
            break
        leaving = steps.leaving(_nodes(frontier))
        met.append(leaving)
        for source, target, edge in zip(leaving.sources, leaving.targets, leaving.edges, strict=True):
            if source == target:
                loops.setdefault(source, []).append(edge)
        fresh = _fresh(leaving, frontier, done, found, hops + 1)
        if depth is not None and hops == depth:
            truncated = bool(fresh)
            break
        hops += 1
        found |= fresh
        done.update(visit.node for visit in fresh if not visit.indirect)
        of_members = steps.members(_nodes(fresh)) if fresh else Edges((), (), ())
        met.append(of_members)
        members = _fresh(of_members, list(fresh), done, found, hops)
        found |= members
        done.update(visit.node for visit in members if not visit.indirect)
        frontier = [*fresh, *members]
    facts = {start: SearchFacts(start_key, shown=False), **steps.facts(_nodes(found))}
    return Reached(start, found, facts, loops, met, truncated)


def _fresh(
    edges: Edges,
    frontier: Sequence[LineageVisit],
    done: Container[int],
    known: Mapping[LineageVisit, LastSteps],
    hops: int,
) -> dict[LineageVisit, LastSteps]:
    """New visits that these edges lead to."""
    visits: dict[int, list[LineageVisit]] = {}
    for visit in frontier:
        visits.setdefault(visit.node, []).append(visit)
    fresh: dict[LineageVisit, LastSteps] = {}
    direct = [True] * len(edges.edges) if edges.direct is None else edges.direct
    for source, target, edge, is_direct in zip(edges.sources, edges.targets, edges.edges, direct, strict=True):
        if target in done:
            continue
        for parent in visits[source]:
            visit = LineageVisit(target, parent.indirect or not is_direct)
            if (found := fresh.get(visit)) is not None:
                found.parents.append(parent)
                found.edges.append(edge)
            elif visit not in known:
                fresh[visit] = LastSteps(hops, [parent], [edge])
    return {visit: last for visit, last in fresh.items() if not (visit.indirect and _direct(visit.node) in fresh)}


def _direct(node: int) -> LineageVisit:
    return LineageVisit(node, indirect=False)


def _nodes(visits: Iterable[LineageVisit]) -> list[int]:
    return list(dict.fromkeys(visit.node for visit in visits))
