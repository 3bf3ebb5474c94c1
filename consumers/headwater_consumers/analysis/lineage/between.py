"""Every hop between the assets of a page, for whoever draws it; and hops from an asset to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.lineage.answer import LineageEdge
from headwater_consumers.analysis.lineage.details import latest_first
from headwater_consumers.analysis.lineage.question import Direction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from headwater_consumers.analysis.lineage.details import Details
    from headwater_consumers.analysis.lineage.search import Reached


def edges_between(
    reached: Reached, places: Iterable[int], details: Details, direction: Direction, as_of: datetime | None
) -> tuple[LineageEdge, ...]:
    """The hops between these places and the start, each pair once.

    The search has met them all; to look up who makes them takes the one round trip.
    """
    nodes = list(dict.fromkeys([reached.start, *(place >> 1 for place in places)]))
    there = set(nodes)
    # As a set: a node that is found in both its places is met twice.
    hops: dict[tuple[int, int], dict[int, None]] = {}
    for met in reached.leaving:
        for source, target, edge in zip(met.sources, met.targets, met.edges, strict=True):
            if target in there and source in there:
                ends = (source, target) if direction is Direction.DOWNSTREAM else (target, source)
                hops.setdefault(ends, {})[edge] = None
    vias = details.vias([list(edges) for edges in hops.values()]) if hops else []
    edges = (
        LineageEdge(reached.marks[source].key, reached.marks[target].key, latest_first(via, as_of), len(via))
        for (source, target), via in zip(hops, vias, strict=True)
    )
    return tuple(sorted(edges, key=lambda edge: (edge.source, edge.target)))


def loops_of(
    reached: Reached, places: Iterable[int], details: Details, as_of: datetime | None
) -> tuple[LineageEdge, ...]:
    """The hops from the start to itself, and from each of these places to itself, in that order."""
    nodes = dict.fromkeys([reached.start, *(place >> 1 for place in places)])
    # In both places of a node the same edges leave it.
    loops = {node: list(dict.fromkeys(reached.loops[node])) for node in nodes if node in reached.loops}
    if not loops:
        return ()
    keys = [reached.marks[node].key for node in loops]
    vias = details.vias(list(loops.values()))
    return tuple(LineageEdge(key, key, latest_first(via, as_of), len(via)) for key, via in zip(keys, vias, strict=True))
