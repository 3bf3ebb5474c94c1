"""Subqueries: expressions that contain a plan."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import CONSTANT, DirectSource, Indirect, ValueLineage
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.relation import Relation, row_dependencies
from headwater_producers.spark.plan.structure import influenced
from headwater_schemas.events import TransformationKind as Kind


def scalar(call: Call) -> ValueLineage:
    """Read `(SELECT max(x) FROM …)`: the value of its column, influenced by the choice of its row."""
    relation = _plan(call)
    if relation is None:
        return call.step(Kind.UNKNOWN)
    column = relation.ordered()[0] if relation.output else ValueLineage(CONSTANT)
    return replace(influenced(column, relation.influences), text=f"({column.text})")


def exists(call: Call) -> ValueLineage:
    """Read `EXISTS (SELECT …)`: it depends on the presence of rows, and so on their filters."""
    relation = _plan(call)
    if relation is None:
        return call.step(Kind.UNKNOWN)
    by = relation.influences | row_dependencies(relation.rows, relation.influences, Kind.FILTER_DEPENDENCY, "exists")
    return ValueLineage(CONSTANT, by, text="exists(subquery)")


def rows_of(call: Call) -> ValueLineage:
    """Read the list of `x IN (SELECT y …)`."""
    relation = _plan(call)
    if relation is None:
        return call.step(Kind.UNKNOWN)
    columns = relation.ordered()
    direct: frozenset[DirectSource] = frozenset().union(*(c.direct for c in columns))
    indirect = relation.influences.union(*(c.indirect for c in columns))
    fields = {Indirect(d.field, Kind.FILTER_DEPENDENCY) for d in direct if d.field is not None}
    indirect |= row_dependencies(relation.rows, indirect | fields, Kind.FILTER_DEPENDENCY, "in")
    return ValueLineage(direct, indirect, text=f"select {', '.join(c.text for c in columns)}")


def _plan(call: Call) -> Relation | None:
    nodes = call.node.tree("plan")
    if nodes is None:
        call.scope.report(f"the plan of a {call.node.name} couldn't be read")
        return None
    return call.scope.subquery(nodes, call.scope)


SUBQUERIES: dict[str, Rule] = {
    "Exists": exists,
    **rules(scalar, "ScalarSubquery LateralSubquery"),
    **rules(rows_of, "ListQuery FunctionTableSubqueryArgumentExpression"),
}
