"""The walk agrees with shortest paths computed naively, on any small graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.walk import WalkStep, walk

Edge = tuple[int, int, int]
EDGES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 1)), max_size=30)


def steps(edges: Sequence[Edge], frontier: Sequence[int]) -> Iterable[WalkStep[int]]:
    return [WalkStep(a, b, number, hops) for number, (a, b, hops) in enumerate(edges) if a in frontier]


def naive(edges: Sequence[Edge], start: int) -> dict[int, int]:
    nearest = {start: 0}
    for _ in range(20):
        for a, b, hops in edges:
            if a in nearest:
                nearest[b] = min(nearest.get(b, 99), nearest[a] + hops)
    return {node: hops for node, hops in nearest.items() if node != start}


@given(EDGES)
def test_every_node_is_found_once_at_its_least_hops(edges: list[Edge]) -> None:
    result = walk([0], lambda frontier: steps(edges, frontier), depth=None)
    assert {node: found.hops for node, found in result.found.items()} == naive(edges, 0)
    assert [found.hops for found in result.found.values()] == sorted(found.hops for found in result.found.values())
    assert not result.truncated


@given(EDGES, st.integers(0, 4))
def test_depth_counts_hops_and_says_when_there_is_more(edges: list[Edge], depth: int) -> None:
    result = walk([0], lambda frontier: steps(edges, frontier), depth=depth)
    everything = naive(edges, 0)
    assert {node: found.hops for node, found in result.found.items()} == {
        node: hops for node, hops in everything.items() if hops <= depth
    }
    assert result.truncated == any(hops > depth for hops in everything.values())


@given(EDGES)
def test_a_path_leads_from_the_start_and_adds_up(edges: list[Edge]) -> None:
    result = walk([0], lambda frontier: steps(edges, frontier), depth=None)
    for node, found in result.found.items():
        path = result.path(node)
        assert path[0].source == 0
        assert path[-1].target == node
        assert sum(step.hops for step in path) == found.hops
        assert all(a.target == b.source for a, b in itertools.pairwise(path))
