"""Two dumps side by side."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from headwater_graph.dump import SAMPLES, Difference, compare

Graph = dict[str, int]
GRAPHS = st.dictionaries(st.text("abcdefghij", min_size=1, max_size=2), st.integers(0, 3), max_size=12)


def lines(graph: Graph) -> list[str]:
    return [json.dumps({"key": key, "properties": {"x": graph[key]}}) for key in sorted(graph)]


@given(GRAPHS, GRAPHS)
def test_every_line_is_counted_once(expected: Graph, found: Graph) -> None:
    result = compare(iter(lines(expected)), iter(lines(found)))
    both = expected.keys() & found.keys()
    assert result.missing == len(expected.keys() - found.keys())
    assert result.extra == len(found.keys() - expected.keys())
    assert result.changed == sum(expected[key] != found[key] for key in both)
    assert result.equal == sum(expected[key] == found[key] for key in both)
    assert result.same is (expected == found)
    assert len(result.samples) == min(SAMPLES, result.missing + result.extra + result.changed)


def test_a_difference_shows_both_sides() -> None:
    (ours,), (theirs,) = lines({"a": 1}), lines({"a": 2})
    assert compare(iter([ours]), iter([theirs])).samples == [Difference("a", ours, theirs)]
    assert compare(iter([ours]), iter([])).samples == [Difference("a", ours, None)]
    assert compare(iter([]), iter([theirs])).samples == [Difference("a", None, theirs)]
