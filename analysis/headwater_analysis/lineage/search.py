"""Breadth-first search that keeps DIRECT and INDIRECT apart.

A node has two places: DIRECT, reached by a path that is DIRECT all along, and INDIRECT, reached by a path with an
INDIRECT step. It is found at most once in each, at its least hops, and in the second only if that is nearer than the
first: nodes that are reached from there are reached from the first as well, no later.

Nodes and edges are integers, so that 30,000 steps take some hundredths of a second; a place is an integer too, twice
the node, and one more for INDIRECT. Nothing here asks a database: `Steps` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Edges(NamedTuple):
    """Edges in parallel lists, sources and targets in the direction of the search.

    Attributes:
        direct: flag of each edge; None where all are DIRECT.
    """

    sources: Sequence[int]
    targets: Sequence[int]
    edges: Sequence[int]
    direct: Sequence[bool] | None = None


class Mark(NamedTuple):
    """Properties of a node that the search needs.

    Attributes:
        key: decides between parents, so that equal graphs give equal answers.
        shown: whether it is listed, or only passed through.
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
        """Edges that leave the nodes of the last hop, in short; None where all edges are needed.

        Args:
            nodes: nodes of the last hop.
            found: all nodes that were found: their marks will be asked for.
        """

    def members(self, nodes: Sequence[int], /) -> Edges:
        """Edges from those of these nodes that stand for others, as a dataset for its columns: no hop."""

    def marks(self, nodes: Sequence[int], /) -> Mapping[int, Mark]:
        """Marks of these nodes."""


@dataclass(slots=True)
class ReachedPlace:
    """A place that was reached.

    Attributes:
        hops: least hops from the start.
        parents: places that it was reached from, one for each edge; all that are equally near.
        edges: edges from these places.
    """

    hops: int
    parents: list[int]
    edges: list[int]


@dataclass(frozen=True, slots=True)
class Reached:
    """Result of a search.

    Attributes:
        start: node that it began at.
        found: places by distance, the nearest first.
        marks: marks of every node in `found`.
        loops: edges from a node to itself, for the start and every node in `found` that has some.
        leaving: every edge that was met, in order: all that leave the start and the found nodes, also beyond the depth;
            for the last hop's nodes only loops, where the steps need no more.
        truncated: whether there is more beyond the depth.
    """

    start: int
    found: dict[int, ReachedPlace]
    marks: Mapping[int, Mark]
    loops: Mapping[int, list[int]]
    leaving: Sequence[Edges]
    truncated: bool

    def listed(self) -> list[int]:
        """Places of shown nodes, each node once: DIRECT before INDIRECT, then by hops, then by key."""
        found, marks = self.found, self.marks
        places = [place for place in found if marks[place >> 1].shown and not (place & 1 and place - 1 in found)]
        places.sort(key=self.order)
        return places

    def order(self, place: int) -> tuple[int, int, str]:
        """Sort key of a place."""
        return place & 1, self.found[place].hops, self.marks[place >> 1].key

    def parent(self, place: int) -> int:
        """Parent of a place: of those that it was reached from, the one whose node has the least key."""
        parents = self.found[place].parents
        # Mostly there is one, and a page asks for a thousand.
        if len(parents) == 1:
            return parents[0]
        return min(parents, key=lambda parent: (self.marks[parent >> 1].key, parent))

    def edges(self, place: int) -> list[int]:
        """All edges from a place's parent."""
        found, parent = self.found[place], self.parent(place)
        if len(found.parents) == 1:
            return found.edges
        return [edge for edge, near in zip(found.edges, found.parents, strict=True) if near == parent]

    def between(self, places: Sequence[int]) -> list[int]:
        """Places on the paths to these, except themselves and the start, in order."""
        seen = set(places)
        more: list[int] = []
        for place in places:
            parent = self.parent(place)
            while parent >> 1 != self.start and parent not in seen:
                seen.add(parent)
                more.append(parent)
                parent = self.parent(parent)
        return sorted(more, key=self.order)


def search(start: int, start_key: str, steps: Steps, *, depth: int | None) -> Reached:
    """Find everything within `depth` hops of `start`, which itself is never found.

    Args:
        start: node to begin at.
        start_key: key of this node.
        steps: the graph.
        depth: most hops; None: all.
    """
    found: dict[int, ReachedPlace] = {}
    # The start is known in both its places: a cycle back to it adds nothing.
    begin = {start << 1, start << 1 | 1}
    frontier, hops, truncated = [start << 1], 0, False
    loops: dict[int, list[int]] = {}
    met: list[Edges] = []
    while frontier:
        if hops == depth and (beyond := steps.beyond(_nodes(frontier), _nodes(found))) is not None:
            met.append(beyond.loops)
            for source, edge in zip(beyond.loops.sources, beyond.loops.edges, strict=True):
                loops.setdefault(source, []).append(edge)
            truncated = not {start, *(place >> 1 for place in found)}.issuperset(beyond.targets)
            break
        leaving = steps.leaving(_nodes(frontier))
        met.append(leaving)
        for source, target, edge in zip(leaving.sources, leaving.targets, leaving.edges, strict=True):
            if source == target:
                loops.setdefault(source, []).append(edge)
        fresh = _fresh(leaving, frontier, begin, found, hops + 1)
        if depth is not None and hops == depth:
            truncated = bool(fresh)
            break
        hops += 1
        found |= fresh
        of_members = steps.members(_nodes(fresh)) if fresh else Edges((), (), ())
        met.append(of_members)
        members = _fresh(of_members, list(fresh), begin, found, hops)
        found |= members
        frontier = [*fresh, *members]
    marks = {start: Mark(start_key, shown=False), **steps.marks(_nodes(found))}
    return Reached(start, found, marks, loops, met, truncated)


def _fresh(
    edges: Edges, frontier: Sequence[int], begin: set[int], known: Mapping[int, ReachedPlace], hops: int
) -> dict[int, ReachedPlace]:
    """Places that these edges lead to and that weren't reached before."""
    if edges.direct is None and not any(place & 1 for place in frontier):
        return _fresh_direct(edges, begin, known, hops)
    places: dict[int, list[int]] = {}
    for place in frontier:
        places.setdefault(place >> 1, []).append(place)
    fresh: dict[int, ReachedPlace] = {}
    direct = [True] * len(edges.edges) if edges.direct is None else edges.direct
    for source, target, edge, is_direct in zip(edges.sources, edges.targets, edges.edges, direct, strict=True):
        for parent in places[source]:
            place = target << 1 | (parent & 1 if is_direct else 1)
            if (found := fresh.get(place)) is not None:
                found.parents.append(parent)
                found.edges.append(edge)
            elif not (place in known or place in begin or (place & 1 and place - 1 in known)):
                fresh[place] = ReachedPlace(hops, [parent], [edge])
    return {place: reached for place, reached in fresh.items() if not (place & 1 and place - 1 in fresh)}


def _fresh_direct(
    edges: Edges, begin: set[int], known: Mapping[int, ReachedPlace], hops: int
) -> dict[int, ReachedPlace]:
    """`_fresh` where all edges are DIRECT, as among datasets."""
    fresh: dict[int, ReachedPlace] = {}
    for source, target, edge in zip(edges.sources, edges.targets, edges.edges, strict=True):
        place = target << 1
        if (found := fresh.get(place)) is not None:
            found.parents.append(source << 1)
            found.edges.append(edge)
        elif place not in known and place not in begin:
            fresh[place] = ReachedPlace(hops, [source << 1], [edge])
    return fresh


def _nodes(places: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(place >> 1 for place in places))
