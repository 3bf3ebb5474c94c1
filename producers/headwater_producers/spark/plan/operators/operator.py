"""Operator and reader: the arguments of rules for operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from headwater_producers.spark.plan.column import DirectSource, ValueLineage
from headwater_producers.spark.plan.expressions import ExpressionScope, read_expression
from headwater_producers.spark.plan.leaves import Leaves
from headwater_producers.spark.plan.names import shown_name
from headwater_producers.spark.plan.relation import Attribute, Relation, side_by_side
from headwater_producers.spark.plan.tree import Nodes, PlanNode, expression_id
from headwater_schemas.events import TransformationKind as Kind


class RuleReader(Protocol):
    """Reader of the whole plan, as far as rules need it.

    Attributes:
        ctes: common table expressions read so far, by Spark's number.
        loops: attributes of the references to a recursion that isn't read yet, by the recursion's number.
    """

    leaves: Leaves
    ctes: dict[int, Relation]
    loops: dict[int, list[tuple[int, ...]]]

    def read(self, nodes: Nodes, outer: ExpressionScope | None = None) -> Relation:
        """Return the relation of a separate plan, such as a subquery's."""

    def scope(self, relation: Relation, outer: ExpressionScope | None) -> ExpressionScope:
        """Return the scope of expressions over `relation`."""

    def report(self, problem: str) -> None:
        """Report a part that wasn't understood, which makes the lineage incomplete."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Operator of a plan over its children.

    Attributes:
        children: relations of its children, left to right.
        outer: scope around this operator's subquery.
    """

    node: PlanNode
    children: tuple[Relation, ...]
    reader: RuleReader
    outer: ExpressionScope | None = None

    @property
    def child(self) -> Relation:
        """Only child, or all children side by side."""
        return self.children[0] if len(self.children) == 1 else side_by_side(self.children)

    def scope(self, relation: Relation | None = None) -> ExpressionScope:
        """Return the scope of this operator's expressions: over its children, or over `relation`."""
        below = self.child if relation is None else relation
        return self.reader.scope(below, self.outer)

    def read(self, field: str, relation: Relation | None = None) -> list[ValueLineage]:
        """Return the columns of the expressions in a field, in order."""
        scope = self.scope(relation)
        return [read_expression(nodes, scope) for nodes in self.node.trees(field)]

    def read_all(self, trees: Iterable[Nodes]) -> list[ValueLineage]:
        """Return the columns of expressions over the children."""
        scope = self.scope()
        return [read_expression(nodes, scope) for nodes in trees]

    def named(self, field: str) -> list[tuple[Attribute, ValueLineage]]:
        """Return the named expressions in a field: aliases and attributes."""
        scope = self.scope()
        return [(_attribute(nodes), read_expression(nodes, scope)) for nodes in self.node.trees(field)]

    def attributes(self, field: str = "output") -> list[Attribute]:
        """Return the attributes that a field lists."""
        trees = self.node.output() if field == "output" else self.node.trees(field)
        return [_attribute(nodes) for nodes in trees]

    def from_nowhere(self) -> Relation:
        """Return the node's attributes without known sources."""
        column = ValueLineage(frozenset({DirectSource(None, Kind.UNKNOWN)}))
        return Relation().with_output(
            [(a, replace(column, text=shown_name(a.name), type=a.type)) for a in self.attributes()]
        )

    def report(self, problem: str) -> None:
        """Report a part that wasn't understood, which makes the lineage incomplete."""
        self.reader.report(problem)


def _attribute(nodes: Nodes) -> Attribute:
    root = nodes[0]
    number = expression_id(root)
    # Every named expression has an id; -1 matches none.
    return Attribute(-1 if number is None else number, str(root.get("name")), root.get("dataType"))


OperatorRule = Callable[[Operator], Relation]


def operator_rules(rule: OperatorRule, names: str) -> dict[str, OperatorRule]:
    """Make a table with a rule for each of the classes in `names`, separated by blanks."""
    return dict.fromkeys(names.split(), rule)


def same_for_all(attributes: Iterable[Attribute], column: ValueLineage) -> list[tuple[Attribute, ValueLineage]]:
    """Pair every attribute with the same lineage."""
    return [(attribute, column) for attribute in attributes]
