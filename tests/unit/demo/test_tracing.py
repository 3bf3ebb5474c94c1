from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.demo.facts import ColumnGraph

if TYPE_CHECKING:
    import pytest

# departed(d1, d2) → enriched(e1, e2) → report(r1, r2, r3), with flights(f1) before and weather(w1) beside.
DATASETS = {
    "f1": "flights",
    "d1": "departed",
    "d2": "departed",
    "e1": "enriched",
    "e2": "enriched",
    "w1": "weather",
    "r1": "report",
    "r2": "report",
    "r3": "report",
}
REPORT = ("r1", "r2", "r3")


def test_columns_without_a_way_back_are_named(subtests: pytest.Subtests) -> None:
    cases = {
        "column to column": ([("d1", "e1"), ("e1", "r1"), ("e1", "r2"), ("e1", "r3")], []),
        "from elsewhere, and from nowhere": ([("d1", "e1"), ("e1", "r1"), ("w1", "r2")], ["r2", "r3"]),
        "from the whole origin": ([("departed", "e1"), ("e1", "r1")], ["r2", "r3"]),
        "rows of a dataset that was reached": ([("d1", "e1"), ("enriched", "r1")], ["r2", "r3"]),
        "the wrong way round": ([("e1", "r1"), ("r1", "d1")], ["r1", "r2", "r3"]),
        "a circle": ([("d1", "e1"), ("e1", "e2"), ("e2", "e1"), ("e2", "r3")], ["r1", "r2"]),
        "no edges": ([], ["r1", "r2", "r3"]),
    }
    for case, (derives, untraceable) in cases.items():
        with subtests.test(case):
            assert ColumnGraph(DATASETS, derives).untraceable(REPORT, "departed") == untraceable


JOIN = [("e1", "report")]  # one filter or join influences every column of its output


def test_influence_counts_only_for_what_is_made_from_another_source(subtests: pytest.Subtests) -> None:
    cases = {
        "made from another source": ([("d1", "e1"), ("e1", "r1"), ("e1", "r2"), ("w1", "r3")], []),
        "made from nothing": ([("d1", "e1"), ("e1", "r1"), ("w1", "r3")], ["r2"]),
        "an edge on the way lost": ([("d1", "e1"), ("e2", "r1"), ("w1", "r2"), ("w1", "r3")], ["r1"]),
        "round it": ([("d1", "e1"), ("f1", "d1"), ("f1", "r1"), ("w1", "r2"), ("w1", "r3")], ["r1"]),
        "influenced by nothing of it": ([("w1", "r1"), ("w1", "r2"), ("w1", "r3")], ["r1", "r2", "r3"]),
    }
    for case, (derives, untraceable) in cases.items():
        with subtests.test(case):
            assert ColumnGraph(DATASETS, derives, JOIN).untraceable(REPORT, "departed") == untraceable


def test_an_origin_that_the_graph_does_not_have_leads_nowhere() -> None:
    assert ColumnGraph(DATASETS, [("d1", "r1")]).untraceable(["r1"], "elsewhere") == ["r1"]
