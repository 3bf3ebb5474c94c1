"""Operators with several children: joins, set operations, common table expressions."""

from __future__ import annotations

from headwater_producers.spark.plan.column import Indirect, influences
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule
from headwater_producers.spark.plan.relation import Relation, row_dependencies, side_by_side
from headwater_producers.spark.plan.structure import merge
from headwater_producers.spark.plan.tree import PlanNode
from headwater_schemas.events import TransformationKind as Kind

_LEFT_ONLY = frozenset({"LeftSemi", "LeftAnti"})


def join(operator: Operator) -> Relation:
    """Read a join: the condition's columns influence every row; if one side has none of them, the side's rows do."""
    left, right = operator.children
    both = side_by_side([left, right])
    by = influences(operator.read("condition"), Kind.JOIN_DEPENDENCY)
    by |= _unconditional(left, by) | _unconditional(right, by)
    kept = left if operator.node.object_name("joinType") in _LEFT_ONLY else both
    return Relation(kept.output, kept.columns, both.influences | by, kept.rows)


def as_of_join(operator: Operator) -> Relation:
    """Read `merge_asof` of pandas on Spark: the nearest row by order."""
    both = side_by_side(operator.children)
    fields = ("asOfCondition", "condition", "orderExpression")
    columns = [column for field in fields for column in operator.read(field)]
    return both.influenced(influences(columns, Kind.JOIN_DEPENDENCY))


def lateral_join(operator: Operator) -> Relation:
    """Read a join with a subquery that sees the left side's columns."""
    left = operator.children[0]
    subqueries = operator.node.trees("right")
    plan = PlanNode("LateralSubquery", dict(subqueries[0][0])).tree("plan") if subqueries else None
    if plan is None:
        operator.report("the subquery of a lateral join couldn't be read")
        return left
    right = operator.reader.read(plan, operator.scope(left))
    both = side_by_side([left, right])
    by = influences(operator.read("condition", both), Kind.JOIN_DEPENDENCY)
    return both.influenced(by | _unconditional(right, by | right.influences))


def union(operator: Operator) -> Relation:
    """Read UNION ALL: each column is one of the branches' columns, by position (Spark has already aligned names)."""
    rows = [child.ordered() for child in operator.children]
    output = operator.children[0].output
    merged = []
    for index, attribute in enumerate(output):
        columns = [row[index] for row in rows if index < len(row)]
        texts = list(dict.fromkeys(column.text for column in columns))
        merged.append((attribute, merge(columns, texts[0] if len(texts) == 1 else f"union({', '.join(texts)})")))
    return side_by_side(operator.children).with_output(merged)


def compared(operator: Operator) -> Relation:
    """Read INTERSECT and EXCEPT: rows of the left side, chosen by their presence in the right side."""
    left, right = operator.children
    by = right.influences | influences([*left.ordered(), *right.ordered()], Kind.JOIN_DEPENDENCY)
    return left.influenced(by | row_dependencies(right.rows, by, Kind.JOIN_DEPENDENCY, "rows"))


def cte_definition(operator: Operator) -> Relation:
    """Read `WITH name AS (…)`, and keep its relation for references."""
    number = operator.node.get("id")
    if isinstance(number, int):
        operator.reader.ctes[number] = operator.child
    return operator.child


def cte_reference(operator: Operator) -> Relation:
    """Read a reference to a common table expression; its attributes have new ids."""
    number = operator.node.get("cteId")
    definition = operator.reader.ctes.get(number) if isinstance(number, int) else None
    if definition is None:
        operator.report("the definition of a common table expression wasn't found")
        return operator.from_nowhere()
    return definition.with_output(zip(operator.attributes(), definition.ordered(), strict=False))


def _unconditional(side: Relation, by: frozenset[Indirect]) -> frozenset[Indirect]:
    """Return the influences of a side's rows if `by` has no field of that side: a cross join."""
    missing = row_dependencies(side.rows, by, Kind.JOIN_DEPENDENCY, "cross join")
    return missing if len(missing) == len(side.rows) else frozenset()


COMBINING: dict[str, OperatorRule] = {
    "Join": join,
    "AsOfJoin": as_of_join,
    "LateralJoin": lateral_join,
    "Union": union,
    "Intersect": compared,
    "Except": compared,
    "CTERelationDef": cte_definition,
    "CTERelationRef": cte_reference,
}
