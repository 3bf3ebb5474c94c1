"""The relationships of a plan: where each starts and ends, and that each property of an edge makes it another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_graph import keys
from headwater_graph.derive import PlanRelationship, plan_edges
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import PlanFacts
from headwater_graph.facts.registers import Props
from headwater_schemas.events import ColumnEdge, ColumnLineage, DatasetRef, TransformationKind, TransformationType
from headwater_schemas.identity import graph_key

if TYPE_CHECKING:
    import pytest

FLIGHTS, DELAYS = keys.dataset_key("acme", "kafka://broker", "flights"), keys.dataset_key("acme", "file", "/delays")
PLAN: Props = {"tenant": "acme", "key": "plan-key", "_asset": "job-key", "_scope": "scope-key"}
CARRIER, MEAN = keys.column_key("acme", FLIGHTS, "carrier"), keys.column_key("acme", DELAYS, "mean")


def edges(*given: ColumnEdge) -> list[PlanRelationship]:
    datasets = (DatasetRef("kafka://broker", "flights"), DatasetRef("file", "/delays"))
    plan = PlanFacts(PLAN, job="job-key")
    plan.lineage = ColumnLineage(datasets=datasets, edges=given)
    plan.registers["lineage"] = ("stamp", {"expression_ids": ["e1"], "expressions": ["avg(delay)"]})
    return list(plan_edges(plan))


EDGE_ENDS: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    (
        {"input": 0, "input_field": "carrier", "output_field": "mean"},
        (RelType.DERIVES, CARRIER, MEAN, True, True),
    ),
    ({"input": 0, "output_field": "mean"}, (RelType.DERIVES, FLIGHTS, MEAN, False, True)),
    ({"input": 0, "input_field": "carrier"}, (RelType.INFLUENCES, CARRIER, DELAYS, True, False)),
    ({"input": 0}, (RelType.INFLUENCES, FLIGHTS, DELAYS, False, False)),
    ({"output_field": "mean"}, (RelType.GENERATES, "plan-key", MEAN, False, True)),
    ({}, (RelType.GENERATES, "plan-key", DELAYS, False, False)),
    # A path of no dataset: there is nothing that it could start from.
    ({"input_field": "carrier"}, (RelType.GENERATES, "plan-key", DELAYS, False, False)),
]


def test_where_an_edge_starts_and_ends(subtests: pytest.Subtests) -> None:
    for ends, expected in EDGE_ENDS:
        with subtests.test(ends=ends):
            (edge,) = edges(ColumnEdge(output=1, **ends))
            assert (edge.type, edge.start, edge.end, edge.start_is_column, edge.end_is_column) == expected


def test_the_properties_of_an_edge_and_what_its_key_is_made_of() -> None:
    described: dict[str, Any] = {"type": TransformationType.DIRECT, "kind": TransformationKind.AGGREGATE}
    plain = ColumnEdge(output=1, output_field="mean", input=0, input_field="carrier", **described)
    (edge,) = edges(plain)
    ends = ("acme", "DERIVES", "plan-key", CARRIER, MEAN)
    assert edge.properties == {
        "key": graph_key(*ends, "DIRECT", None, "AGGREGATE", 0, None),
        "plan": "plan-key",
        "job": "job-key",
        "_scope": "scope-key",
        "type": "DIRECT",
        "kind": "AGGREGATE",
        "masking": False,
    }
    described = {**described, "subtype": "AGGREGATION", "masking": True, "expression": "e1"}
    (edge,) = edges(ColumnEdge(output=1, output_field="mean", input=0, input_field="carrier", **described))
    assert edge.properties == {
        "key": graph_key(*ends, "DIRECT", "AGGREGATION", "AGGREGATE", 1, "e1"),
        "plan": "plan-key",
        "job": "job-key",
        "_scope": "scope-key",
        "type": "DIRECT",
        "kind": "AGGREGATE",
        "masking": True,
        "subtype": "AGGREGATION",
        "expression_id": "e1",
        "expression": "avg(delay)",
    }


def test_an_expression_without_its_text_is_cited_all_the_same() -> None:
    (edge,) = edges(ColumnEdge(output=1, expression="e2"))
    assert edge.properties["expression_id"] == "e2"
    assert "expression" not in edge.properties


def test_each_edge_is_there_once_and_a_plan_without_lineage_has_none() -> None:
    one = ColumnEdge(output=1)
    assert len(edges(one, one)) == 1
    assert list(plan_edges(PlanFacts(PLAN, job="job-key"))) == []
