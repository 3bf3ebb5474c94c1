"""The search keeps DIRECT and INDIRECT apart as it is defined to, on any small graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.lineage.search import Beyond, Edges, Reached, SearchFacts, search

NODES = st.integers(0, 9)
# Source, target, whether DIRECT. Nodes from 7 on stand for others, their members: no hop.
Graph = tuple[list[tuple[int, int, bool]], list[tuple[int, int]]]
GRAPHS = st.tuples(
    st.lists(st.tuples(NODES, NODES, st.booleans()), max_size=30),
    st.lists(st.tuples(st.integers(7, 9), st.integers(0, 6)), max_size=8),
)
DEPTHS = st.one_of(st.none(), st.integers(1, 4))


class ListedSteps:
    """A graph as lists, its nodes' keys in the opposite order of their numbers."""

    def __init__(self, graph: Graph, hidden: frozenset[int] = frozenset()) -> None:
        self.hops, self.memberships = graph
        self.hidden = hidden
        self.asked: list[int] = []

    def leaving(self, nodes: Sequence[int], /) -> Edges:
        self.asked += nodes
        rows = [(a, b, number, direct) for number, (a, b, direct) in enumerate(self.hops) if a in nodes]
        return Edges(*zip(*rows, strict=True)) if rows else Edges((), (), (), ())

    def beyond(self, _nodes: Sequence[int], _found: Sequence[int], /) -> Beyond | None:
        return None

    def members(self, nodes: Sequence[int], /) -> Edges:
        rows = [(a, b, 100 + number) for number, (a, b) in enumerate(self.memberships) if a in nodes]
        return Edges(*zip(*rows, strict=True)) if rows else Edges((), (), ())

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, SearchFacts]:
        return {node: SearchFacts(str(9 - node), node not in self.hidden) for node in nodes}


def run(graph: Graph, depth: int | None, hidden: frozenset[int] = frozenset()) -> Reached:
    return search(0, "9", ListedSteps(graph, hidden), depth=depth)


def nearest(hops: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    found = {0: 0}
    for _ in range(12):
        for a, b, hop in hops:
            if a in found:
                found[b] = min(found.get(b, 99), found[a] + hop)
    return {node: least for node, least in found.items() if node != 0}


def expected(graph: Graph, depth: int | None) -> dict[int, tuple[bool, int]]:
    members = [(a, b, 0) for a, b in graph[1]]
    direct = nearest([*((a, b, 1) for a, b, is_direct in graph[0] if is_direct), *members])
    anyhow = nearest([*((a, b, 1) for a, b, _ in graph[0]), *members])
    out = {}
    for node, least in anyhow.items():
        if node in direct and (depth is None or direct[node] <= depth):
            out[node] = (True, direct[node])
        elif depth is None or least <= depth:
            out[node] = (False, least)
    return out


def listed(reached: Reached) -> dict[int, tuple[bool, int]]:
    return {visit.node: (not visit.indirect, reached.found[visit].hops) for visit in reached.listed()}


@given(GRAPHS, DEPTHS)
def test_everything_is_found_once_and_at_its_least_hops(graph: Graph, depth: int | None) -> None:
    reached = run(graph, depth)
    assert listed(reached) == expected(graph, depth)
    assert len(reached.listed()) == len(listed(reached))


@given(GRAPHS, DEPTHS)
def test_it_says_when_there_is_more(graph: Graph, depth: int | None) -> None:
    more = expected(graph, None) != expected(graph, depth)
    assert run(graph, depth).truncated == more


@given(GRAPHS, DEPTHS)
def test_parents_lead_to_the_start(graph: Graph, depth: int | None) -> None:
    reached = run(graph, depth)
    for visit in reached.listed():
        hops, here = reached.found[visit].hops, visit
        while here.node != 0:
            parent = reached.parent(here)
            assert reached.edges(here)
            before = 0 if parent.node == 0 else reached.found[parent].hops
            assert 0 <= reached.found[here].hops - before <= 1
            # Once INDIRECT, a path stays so.
            assert parent.indirect <= here.indirect
            here = parent
        assert hops <= 10


@given(GRAPHS)
def test_of_equally_near_parents_the_least_key_is_taken(graph: Graph) -> None:
    reached = run(graph, None)
    for visit, found in reached.found.items():
        keys = {reached.facts[parent.node].key for parent in found.parents}
        assert reached.facts[reached.parent(visit).node].key == min(keys)


@given(GRAPHS, st.frozensets(NODES))
def test_what_is_hidden_is_passed_through(graph: Graph, hidden: frozenset[int]) -> None:
    reached = run(graph, None, hidden)
    assert listed(reached) == {node: way for node, way in expected(graph, None).items() if node not in hidden}
    page = reached.listed()[:2]
    between = set(reached.between(page))
    assert not between & set(page)
    for visit in [*page, *between]:
        parent = reached.parent(visit)
        assert parent.node == 0 or parent in between or parent in page


@given(GRAPHS)
def test_no_node_is_asked_about_twice(graph: Graph) -> None:
    steps = ListedSteps(graph)
    search(0, "9", steps, depth=None)
    assert max(map(steps.asked.count, steps.asked)) <= 2


def test_the_order_is_direct_first_then_by_hops_then_by_key() -> None:
    reached = run(([(0, 1, False), (0, 2, True), (0, 3, True), (2, 4, True)], []), None)
    assert [visit.node for visit in reached.listed()] == [3, 2, 4, 1]


@given(GRAPHS, DEPTHS)
def test_loops_are_those_of_the_start_and_of_all_that_is_found(graph: Graph, depth: int | None) -> None:
    reached = run(graph, depth)
    there = {0, *(visit.node for visit in reached.found)}
    looped = {a: [n for n, (x, y, _) in enumerate(graph[0]) if x == y == a] for a in there}
    found = {node: sorted(set(edges)) for node, edges in reached.loops.items()}
    assert found == {node: edges for node, edges in looped.items() if edges}


class LeanSteps(ListedSteps):
    """Steps whose last hop has, as that of datasets, only loops and the edges' targets."""

    def beyond(self, nodes: Sequence[int], found: Sequence[int], /) -> Beyond | None:
        rows = [(a, b, number) for number, (a, b, _) in enumerate(self.hops) if a in nodes]
        loops = [row for row in rows if row[0] == row[1]]
        edges = Edges(*zip(*loops, strict=True)) if loops else Edges((), (), ())
        return Beyond(edges, {b for _, b, _ in rows})


@given(st.lists(st.tuples(NODES, NODES), max_size=30), st.integers(1, 4))
def test_the_last_hop_needs_no_edges(hops: list[tuple[int, int]], depth: int) -> None:
    graph: Graph = [(a, b, True) for a, b in hops], []
    whole, lean = (search(0, "9", steps(graph), depth=depth) for steps in (ListedSteps, LeanSteps))
    assert lean.found == whole.found
    assert lean.loops == whole.loops
    assert lean.truncated == whole.truncated
