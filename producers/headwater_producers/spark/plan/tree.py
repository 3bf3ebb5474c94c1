"""Trees of Catalyst as `toJSON` writes them: a flat list of nodes in pre-order, each with its number of children.

    [{"class": "…logical.Filter", "num-children": 1, "condition": [[…]], "child": 0},
     {"class": "…logical.Range", "num-children": 0, …}]

A field that holds a child is the child's index; a tree that is no child (an expression of an operator, the plan of a
subquery, the `query` of some commands) is such a list of its own. A value that Spark can't write as JSON is null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

T = TypeVar("T")

Nodes = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class PlanNode:
    """Operator or expression, without its children.

    Attributes:
        name: simple class name: `Project`, `CurrentRow$`.
    """

    name: str
    fields: dict[str, Any]

    def get(self, field: str) -> Any:
        """Return the field's value; None if it is missing or couldn't be serialized."""
        return self.fields.get(field)

    def tree(self, field: str) -> Nodes | None:
        """Return the tree in this field; None if there is none."""
        value = self.fields.get(field)
        return value if is_tree(value) else None

    def trees(self, field: str) -> list[Nodes]:
        """Return the sequence of trees in this field; may be empty."""
        value = self.fields.get(field)
        if is_tree(value):
            return [value]
        return [item for item in value if is_tree(item)] if isinstance(value, list) else []

    def output(self) -> list[Nodes]:
        """Return the attributes that a leaf lists; a Hive table lists its partition columns separately."""
        return self.trees("output") or [*self.trees("dataCols"), *self.trees("partitionCols")]

    def object_name(self, field: str) -> str:
        """Return a Scala `object`'s simple name: `{"object": "…plans.LeftSemi$"}` is `LeftSemi`; else an empty text."""
        value = self.fields.get(field)
        if not isinstance(value, dict):
            return ""
        return simple_name(str(value.get("object") or value.get("product-class") or "")).rstrip("$")


def is_tree(value: Any) -> TypeGuard[Nodes]:
    """Return True if `value` is a tree's node list."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "class" in value[0]


def simple_name(class_name: str) -> str:
    """Return a class's simple name: `org.apache….AvroTable$Reader` is `Reader`, `….CurrentRow$` stays `CurrentRow$`."""
    name = class_name.rsplit(".", 1)[-1]
    head, dollar, tail = name.rpartition("$")
    return tail if dollar and tail else (head + dollar if dollar else name)


def expression_id(fields: dict[str, Any], field: str = "exprId") -> int | None:
    """Return Spark's number of an expression, unique within one driver."""
    value = fields.get(field)
    number = value.get("id") if isinstance(value, dict) else None
    return number if isinstance(number, int) else None


def fold(nodes: Nodes, visit: Callable[[PlanNode, tuple[T, ...]], T]) -> T:
    """Call `visit(node, results of its children)` for each node, children first; return the root's result.

    Keeps its own stack, so a plan of thousands of operators or a chain of thousands of `+` is no problem.

    Raises:
        ValueError: the list isn't one whole tree.
    """
    open_nodes: list[tuple[PlanNode, int, list[T]]] = []
    for position, raw in enumerate(nodes):
        node = PlanNode(simple_name(raw["class"]), raw)
        missing = int(raw["num-children"])
        results: list[T] = []
        while not missing:
            result = visit(node, tuple(results))
            if not open_nodes:
                if position != len(nodes) - 1:
                    raise ValueError(f"the tree of {node.name} ends at node {position} of {len(nodes)}")
                return result
            node, missing, results = open_nodes.pop()
            results.append(result)
            missing -= 1
        open_nodes.append((node, missing, results))
    raise ValueError(f"the tree ends within {open_nodes[-1][0].name if open_nodes else 'nothing'}")
