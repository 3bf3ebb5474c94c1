"""Catalyst's flat trees: read in order, of any depth, and refused where they aren't whole."""

from __future__ import annotations

import pytest

from headwater_producers.spark.plan.tree import PlanNode, fold, simple_name


def node(name: str, children: int = 0, **fields: object) -> dict[str, object]:
    return {"class": f"org.apache.spark.{name}", "num-children": children, **fields}


def shown(one: PlanNode, children: tuple[str, ...]) -> str:
    return f"{one.name}({', '.join(children)})" if children else one.name


def test_children_come_before_their_parent_and_left_before_right() -> None:
    nodes = [node("Join", 2), node("Filter", 1), node("A"), node("B")]
    assert fold(nodes, shown) == "Join(Filter(A), B)"


def test_depth_is_no_limit() -> None:
    nodes = [node("Not", 1)] * 50_000 + [node("Leaf")]
    assert fold(nodes, lambda _node, depths: 1 + max(depths, default=0)) == 50_001


NO_TREES: list[tuple[list[dict[str, object]], str]] = [
    ([node("Join", 2), node("A")], "ends within Join"),
    ([node("A"), node("B")], "ends at node 0 of 2"),
    ([], "nothing"),
]


def test_what_isnt_one_whole_tree_is_refused(subtests: pytest.Subtests) -> None:
    for nodes, message in NO_TREES:
        with subtests.test(nodes=nodes), pytest.raises(ValueError, match=message):
            fold(nodes, shown)


def test_trees_in_fields() -> None:
    one = PlanNode("Project", {"list": [[node("A")], [node("B")]], "single": [node("C")], "none": None, "text": "x"})
    assert [tree[0]["class"] for tree in one.trees("list")] == ["org.apache.spark.A", "org.apache.spark.B"]
    assert [tree[0]["class"] for tree in one.trees("single")] == ["org.apache.spark.C"]
    assert one.trees("none") == one.trees("text") == one.trees("missing") == []


NAMES: list[tuple[str, str]] = [
    ("org.apache.spark.sql.catalyst.plans.logical.Project", "Project"),
    ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable", "KafkaTable"),
    ("org.apache.spark.sql.catalyst.expressions.CurrentRow$", "CurrentRow$"),
]


def test_simple_names(subtests: pytest.Subtests) -> None:
    for class_name, simple in NAMES:
        with subtests.test(class_name):
            assert simple_name(class_name) == simple
