from __future__ import annotations

import pytest

from headwater.demo.tracing import ColumnGraph

# departed(d1, d2) → enriched(e1, e2) → report(r1, r2, r3), and weather(w1) beside.
DATASETS = {
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
    ("edges", "untraceable"),
    [
        pytest.param([("d1", "e1"), ("e1", "r1"), ("e1", "r2"), ("e1", "r3")], [], id="column to column"),
        pytest.param([("d1", "e1"), ("e1", "r1"), ("w1", "r2")], ["r2", "r3"], id="from elsewhere, and from nowhere"),
        pytest.param([("d1", "e1"), ("e1", "report"), ("w1", "r2")], [], id="influence on the whole dataset"),
        pytest.param([("d1", "enriched"), ("e2", "r1")], ["r2", "r3"], id="on through a column of an influenced one"),
        pytest.param([("departed", "e1"), ("e1", "report")], [], id="from the whole origin"),
        pytest.param([("d1", "e1"), ("enriched", "r1")], ["r2", "r3"], id="rows of a dataset that was reached"),
        pytest.param([("e1", "r1"), ("r1", "d1")], ["r1", "r2", "r3"], id="the wrong way round"),
        pytest.param([("d1", "e1"), ("e1", "e2"), ("e2", "e1"), ("e2", "r3")], ["r1", "r2"], id="a circle"),
        pytest.param([], ["r1", "r2", "r3"], id="no edges"),
    ],
)
def test_columns_without_a_way_back_are_named(edges: list[tuple[str, str]], untraceable: list[str]) -> None:
    assert ColumnGraph(DATASETS, edges).untraceable(REPORT, "departed") == untraceable


def test_an_origin_that_the_graph_does_not_have_leads_nowhere() -> None:
    assert ColumnGraph(DATASETS, [("d1", "r1")]).untraceable(["r1"], "elsewhere") == ["r1"]
