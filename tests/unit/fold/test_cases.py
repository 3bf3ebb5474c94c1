"""What each rule means, by hand-written goldens; and that it means the same in every order and however often."""

from __future__ import annotations

from itertools import permutations

import pytest

from headwater_consumers.graph.oracle import oracle
from headwater_consumers.materializer.fold import fold, reject
from support.graph.cases import Case, HandDerived, load_cases, load_hand_derived, write_graph
from support.graph.picture import picture, shown
from support.run_rules import updating

CASES = load_cases()


@pytest.fixture(params=CASES, ids=lambda case: case.path.stem)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


def test_the_graph_is_as_written(case: Case) -> None:
    graph = picture(oracle(fold(case.events)))
    if updating():
        write_graph(case, graph)
    else:
        assert graph == list(case.graph), case.says


def test_order_and_repeats_change_nothing(case: Case) -> None:
    once = fold(case.events)
    for order in permutations(case.events):
        assert fold(order) == once
        assert fold((*order, *order[:2])) == once


def test_any_split_joins_to_the_same(case: Case) -> None:
    once = fold(case.events)
    for cut in range(len(case.events) + 1):
        left, right = fold(case.events[:cut]), fold(case.events[cut:])
        assert left.join(right) == once
        assert right.join(left) == once
        assert once.join(left) == once


def test_no_case_is_rejected(case: Case) -> None:
    assert [reject(event) for event in case.events] == [None] * len(case.events)


@pytest.mark.parametrize("derived", load_hand_derived(), ids=lambda derived: derived.path.stem)
def test_what_was_derived_by_hand_holds(derived: HandDerived) -> None:
    for order in permutations(derived.events):
        graph = dict(shown(oracle(fold(order))))
        for title, facts in derived.facts.items():
            assert title in graph, derived.says
            assert {name: graph[title].get(name) for name in facts} == facts, derived.says
