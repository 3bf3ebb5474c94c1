"""Nodes are placed in the order in which data flows."""

from __future__ import annotations

import pytest
from flow_layout import flow_layout

pytestmark = pytest.mark.nightly


def columns(nodes: str, *arrows: str) -> dict[str, float]:
    return {node: x for node, (x, _) in flow_layout(list(nodes), [(arrow[0], arrow[1]) for arrow in arrows]).items()}


def test_every_arrow_points_right() -> None:
    arrows = ["ab", "bc", "ac", "dc"]
    x = columns("cbad", *arrows)
    assert all(x[arrow[0]] < x[arrow[1]] for arrow in arrows)


def test_a_late_input_stands_beside_what_needs_it() -> None:
    x = columns("abcw", "ab", "bc", "wc")
    assert x["w"] == x["b"]


def test_a_cycle_and_a_self_loop_are_drawn_too() -> None:
    x = columns("abc", "ab", "bc", "ca", "bb")
    assert x["a"] < x["b"] < x["c"]


def test_crossings_that_need_not_be_are_not() -> None:
    places = flow_layout(list("abxy"), [("a", "y"), ("b", "x")])
    assert (places["a"][1] < places["b"][1]) == (places["y"][1] < places["x"][1])


def test_places_are_apart_and_on_the_canvas() -> None:
    places = flow_layout(list("abcdef"), [("a", "b"), ("a", "c"), ("a", "d")])
    assert len(set(places.values())) == 6
    assert all(0 < x < 1 and 0 < y < 1 for x, y in places.values())


def test_nothing_is_placed_nowhere() -> None:
    assert flow_layout([], []) == {}
