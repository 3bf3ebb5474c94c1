"""Row-level lineage of Delta's MERGE, UPDATE, DELETE, OPTIMIZE and VACUUM: the columns set in each branch.

Delta runs these statements as commands of its own. Their lineage has the form of Spark's own MERGE: see
`plan.operators.row_level`.
"""

from __future__ import annotations

from typing import Final

from headwater_producers.spark.plan.column import influences
from headwater_producers.spark.plan.expressions import ExpressionScope, read_expression
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule
from headwater_producers.spark.plan.operators.row_level import Branch, changed, children
from headwater_producers.spark.plan.relation import Attribute, Relation, side_by_side
from headwater_producers.spark.plan.tree import Nodes, simple_name
from headwater_schemas.events import TransformationKind as Kind

_CLAUSES: Final = {
    "matchedClauses": "WHEN MATCHED",
    "notMatchedClauses": "WHEN NOT MATCHED",
    "notMatchedBySourceClauses": "WHEN NOT MATCHED BY SOURCE",
}


def merge(operator: Operator) -> Relation:
    """Read MERGE: each WHEN sets columns of the target from both sides."""
    source, target = _inner(operator, "source"), _inner(operator, "target")
    both = side_by_side([target, source])
    scope = operator.scope(both)
    branches = [
        _clause(clause, when, target, scope)
        for field, when in _CLAUSES.items()
        for clause in operator.node.trees(field)
    ]
    on = influences(operator.read("condition", both), Kind.JOIN_DEPENDENCY)
    return changed(both, target, branches, on)


def update(operator: Operator) -> Relation:
    """Read UPDATE, which sets every column, most of them to themselves."""
    target = _inner(operator, "target")
    values = operator.read("updateExpressions", target)
    condition = next(iter(operator.read("condition", target)), None)
    pairs = tuple(zip(target.output, values, strict=False))
    return changed(target, target, [Branch(None, "UPDATE", condition, pairs)])


def delete(operator: Operator) -> Relation:
    """Read DELETE."""
    target = _inner(operator, "target")
    condition = next(iter(operator.read("condition", target)), None)
    return changed(target, target, [Branch(None, "DELETE", condition)])


def rewritten(_operator: Operator) -> Relation:
    """Read OPTIMIZE and VACUUM, whose child is the table: rows and columns stay as they are."""
    return Relation()


def _inner(operator: Operator, field: str) -> Relation:
    tree = operator.node.tree(field)
    if tree is None:
        operator.report(f"the {field} of a {operator.node.name} couldn't be read")
        return Relation()
    return operator.reader.read(tree, operator.outer)


def _clause(clause: Nodes, when: str, target: Relation, scope: ExpressionScope) -> Branch:
    root = clause[0]
    name = simple_name(str(root["class"])).removesuffix("Clause")
    action = next(each for each in ("UPDATE", "INSERT", "DELETE") if name.lower().endswith(each.lower()))
    condition = root.get("condition")
    types = {attribute.name.lower(): attribute for attribute in target.output}
    values = []
    for child in children(clause):
        if simple_name(str(child[0]["class"])) == "DeltaMergeAction":
            # If only a field of a struct is set, Delta builds the whole struct: its actions have whole columns.
            name = str(child[0].get("targetColNameParts")).strip("[]")
            attribute = types.get(name.lower()) or Attribute(-1, name)
            values.append((attribute, read_expression(child[1:], scope)))
    by = read_expression(condition, scope) if isinstance(condition, list) and condition else None
    return Branch(when, action, by, tuple(values))


OPERATORS: Final[dict[str, OperatorRule]] = {
    "MergeIntoCommand": merge,
    "UpdateCommand": update,
    "DeleteCommand": delete,
    "OptimizeTableCommand": rewritten,
    "VacuumTableCommand": rewritten,
}
