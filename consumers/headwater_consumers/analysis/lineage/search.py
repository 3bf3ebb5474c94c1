"""Breadth-first search that keeps DIRECT and INDIRECT apart.

A node has two places: where a path that is DIRECT all along leads, and where one leads that is INDIRECT somewhere. It
is found at most once in each, at its least hops, and in the second only if that is nearer than the first: whatever is
reached from there is reached from the first as well, no later.

Nodes and edges are integers, so that 30,000 steps take some hundredths of a second; a place is an integer too, twice
the node, and one more for INDIRECT. Nothing here asks a database: `Steps` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Edges(NamedTuple):
    """Edges in parallel lists, sources and targets in the direction of the search.

    Attributes:
        direct: of each edge; None where all are.
    """

    sources: Sequence[int]
    targets: Sequence[int]
    edges: Sequence[int]
    direct: Sequence[bool] | None = None


class Mark(NamedTuple):
    """What the search needs to know of a node.

    Attributes:
        key: decides between parents, so that equal graphs give equal answers.
        shown: whether it is listed, or only passed through.
    """

    key: str
    shown: bool


class Steps(Protocol):
    """A graph to search."""

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        """Edges that leave these nodes: one hop."""

    def members(self, nodes: Sequence[int], /) -> Edges:
        """Edges from those of these nodes that stand for others, as a dataset for its columns: no hop."""

    def marks(self, nodes: Sequence[int], /) -> Mapping[int, Mark]:
        """The marks of these nodes."""


@dataclass(slots=True)
class Found:
    """A place that was reached.

    Attributes:
        hops: least ones from the start.
        parent: the place that it was reached from.
        edges: all edges from there.
    """

    hops: int
    parent: int
    edges: list[int]


@dataclass(frozen=True, slots=True)
class Reached:
    """What was reached.

    Attributes:
        start: the node that it began at.
        found: by place, nearest first.
        marks: of every node in it.
        truncated: whether there is more beyond the depth.
    """

    start: int
    found: dict[int, Found] = field(default_factory=dict)
    marks: dict[int, Mark] = field(default_factory=dict)
    truncated: bool = False

    def listed(self) -> list[int]:
        """Places of what is shown, each node once: DIRECT before INDIRECT, then by hops, then by key."""
        found, marks = self.found, self.marks
        places = [place for place in found if marks[place >> 1].shown and not (place & 1 and (place ^ 1) in found)]
        places.sort(key=lambda place: (place & 1, found[place].hops, marks[place >> 1].key))
        return places

    def between(self, places: Sequence[int]) -> list[int]:
        """Places on the paths to these, themselves and the start left out, nearest first."""
        seen = set(places)
        more: list[int] = []
        for place in places:
            parent = self.found[place].parent
            while parent >> 1 != self.start and parent not in seen:
                seen.add(parent)
                more.append(parent)
                parent = self.found[parent].parent
        return sorted(more, key=lambda place: (place & 1, self.found[place].hops, self.marks[place >> 1].key))


def search(start: int, start_key: str, steps: Steps, *, depth: int | None) -> Reached:
    """Everything within `depth` hops of `start`, which itself is never found.

    Args:
        start: the node to begin at.
        start_key: its key.
        steps: the graph.
        depth: most hops; None: all.
    """
    found: dict[int, Found] = {}
    marks = {start: Mark(start_key, shown=False)}
    # The start is there in both places: a cycle back to it says nothing.
    seen = {start << 1, start << 1 | 1}
    frontier, hops, truncated = [start << 1], 0, False
    while frontier:
        fresh = _fresh(steps.leaving(_nodes(frontier)), frontier, seen, marks, hops + 1)
        if depth is not None and hops == depth:
            truncated = bool(fresh)
            break
        hops += 1
        _mark(steps, fresh, marks)
        seen |= fresh.keys()
        if members := _fresh(steps.members(_nodes(fresh)), list(fresh), seen, marks, hops):
            _mark(steps, members, marks)
            seen |= members.keys()
            fresh |= members
        found |= fresh
        frontier = list(fresh)
    return Reached(start, found, marks, truncated)


def _fresh(
    edges: Edges, frontier: Sequence[int], seen: set[int], marks: Mapping[int, Mark], hops: int
) -> dict[int, Found]:
    """Places that these edges lead to and that weren't reached before; from the parent with the least key."""
    places: dict[int, list[int]] = {}
    for place in frontier:
        places.setdefault(place >> 1, []).append(place)
    fresh: dict[int, Found] = {}
    direct = [True] * len(edges.edges) if edges.direct is None else edges.direct
    for source, target, edge, is_direct in zip(edges.sources, edges.targets, edges.edges, direct, strict=True):
        for parent in places[source]:
            place = target << 1 | (parent & 1 if is_direct else 1)
            if place in seen or (place & 1 and place - 1 in seen):
                continue
            known = fresh.get(place)
            if known is None:
                fresh[place] = Found(hops, parent, [edge])
            elif known.parent == parent:
                known.edges.append(edge)
            elif (marks[source].key, parent) < (marks[known.parent >> 1].key, known.parent):
                fresh[place] = Found(hops, parent, [edge])
    return {place: reached for place, reached in fresh.items() if not (place & 1 and place - 1 in fresh)}


def _nodes(places: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(place >> 1 for place in places))


def _mark(steps: Steps, places: Iterable[int], marks: dict[int, Mark]) -> None:
    if new := [node for node in _nodes(places) if node not in marks]:
        marks.update(steps.marks(new))
