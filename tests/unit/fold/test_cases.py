"""Rules of the fold by hand-written goldens, each in every order, with repeats and in parts."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from headwater_graph.fold import fold, reject
from headwater_graph.oracle import oracle
from support.graph.cases import EACH_KIND, Case, load_cases, load_hand_derived, write_graph
from support.graph.picture import picture, shown
from support.run_rules import updating

CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_the_graph_is_as_written(case: Case) -> None:
    assert [reject(event) for event in case.events] == [None] * len(case.events)
    graph = picture(oracle(fold(case.events)))
    if updating():
        write_graph(case, graph)
    else:
        assert graph == list(case.graph), case.says


def test_those_of_each_kind_have_every_kind() -> None:
    """The gate writes and races only these in a real Neo4j."""

    def kinds(cases: list[Case]) -> set[str]:
        lines = [json.loads(line) for case in cases for line in oracle(fold(case.events), internal=True)]
        of_graph = {kind for line in lines for kind in line.get("labels") or [line["type"]]}
        return of_graph | {event.kind for case in cases for event in case.events}

    assert kinds([case for case in CASES if case.path.stem in EACH_KIND]) == kinds(CASES)


def test_order_and_repeats_change_nothing(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(case.path.stem):
            once = fold(case.events)
            for order in permutations(case.events):
                assert fold(order) == once
                assert fold((*order, *order[:2])) == once


def test_any_split_joins_to_the_same(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(case.path.stem):
            once = fold(case.events)
            for cut in range(len(case.events) + 1):
                left, right = fold(case.events[:cut]), fold(case.events[cut:])
                assert left.join(right) == once
                assert right.join(left) == once
                assert once.join(left) == once


def test_what_was_derived_by_hand_holds(subtests: pytest.Subtests) -> None:
    for derived in load_hand_derived():
        with subtests.test(derived.path.stem):
            for order in permutations(derived.events):
                graph = dict(shown(oracle(fold(order))))
                for title, facts in derived.facts.items():
                    assert title in graph, derived.says
                    assert {name: graph[title].get(name) for name in facts} == facts, derived.says
