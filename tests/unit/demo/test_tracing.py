from __future__ import annotations

import pytest

from headwater.demo.tracing import ColumnGraph

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


@pytest.mark.parametrize(
    ("derives", "untraceable"),
    [
        pytest.param([("d1", "e1"), ("e1", "r1"), ("e1", "r2"), ("e1", "r3")], [], id="column to column"),
        pytest.param([("d1", "e1"), ("e1", "r1"), ("w1", "r2")], ["r2", "r3"], id="from elsewhere, and from nowhere"),
        pytest.param([("departed", "e1"), ("e1", "r1")], ["r2", "r3"], id="from the whole origin"),
        pytest.param([("d1", "e1"), ("enriched", "r1")], ["r2", "r3"], id="rows of a dataset that was reached"),
        pytest.param([("e1", "r1"), ("r1", "d1")], ["r1", "r2", "r3"], id="the wrong way round"),
        pytest.param([("d1", "e1"), ("e1", "e2"), ("e2", "e1"), ("e2", "r3")], ["r1", "r2"], id="a circle"),
        pytest.param([], ["r1", "r2", "r3"], id="no edges"),
    ],
)
def test_columns_without_a_way_back_are_named(derives: list[tuple[str, str]], untraceable: list[str]) -> None:
    assert ColumnGraph(DATASETS, derives).untraceable(REPORT, "departed") == untraceable


JOIN = [("e1", "report")]  # one filter or join influences every column of its output


@pytest.mark.parametrize(
    ("derives", "untraceable"),
    [
        pytest.param([("d1", "e1"), ("e1", "r1"), ("e1", "r2"), ("w1", "r3")], [], id="made from another source"),
        pytest.param([("d1", "e1"), ("e1", "r1"), ("w1", "r3")], ["r2"], id="made from nothing"),
        pytest.param([("d1", "e1"), ("e2", "r1"), ("w1", "r2"), ("w1", "r3")], ["r1"], id="an edge on the way lost"),
        pytest.param([("d1", "e1"), ("f1", "d1"), ("f1", "r1"), ("w1", "r2"), ("w1", "r3")], ["r1"], id="round it"),
        pytest.param([("w1", "r1"), ("w1", "r2"), ("w1", "r3")], ["r1", "r2", "r3"], id="influenced by nothing of it"),
    ],
)
def test_influence_counts_only_for_what_is_made_from_another_source(
    derives: list[tuple[str, str]], untraceable: list[str]
) -> None:
    assert ColumnGraph(DATASETS, derives, JOIN).untraceable(REPORT, "departed") == untraceable


def test_an_origin_that_the_graph_does_not_have_leads_nowhere() -> None:
    assert ColumnGraph(DATASETS, [("d1", "r1")]).untraceable(["r1"], "elsewhere") == ["r1"]
