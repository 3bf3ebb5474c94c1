"""Row-level changes (MERGE, UPDATE, DELETE): the columns of the table and their new values, branch by branch.

Spark rewrites these statements into a query for the new rows (`ReplaceData`, `WriteDelta` over `MergeRows`). A
connector with commands of its own for them (Delta) uses the functions of this module, so that both give the same
lineage: for each WHEN, and each column that it changes, an attribute that names its branch. Unchanged columns have no
edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from headwater_producers.spark.plan.column import FieldRef, Indirect, ValueLineage, combine, influences
from headwater_producers.spark.plan.expressions import ExpressionScope, read_expression
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.tree import Nodes, simple_name
from headwater_schemas.events import TransformationKind as Kind

_INSTRUCTIONS = {
    "matchedInstructions": ("WHEN MATCHED", "UPDATE"),
    "notMatchedInstructions": ("WHEN NOT MATCHED", "INSERT"),
    "notMatchedBySourceInstructions": ("WHEN NOT MATCHED BY SOURCE", "UPDATE"),
}


@dataclass(frozen=True, slots=True)
class Branch:
    """Branch: one WHEN of a MERGE, or the whole of an UPDATE.

    Attributes:
        when: clause such as `WHEN MATCHED`; None for an UPDATE.
        action: `UPDATE`, `INSERT` or `DELETE`.
        condition: the condition after AND, or after WHERE.
        values: the columns that it sets, with their new values.
    """

    when: str | None
    action: str
    condition: ValueLineage | None
    values: tuple[tuple[Attribute, ValueLineage], ...] = ()

    @property
    def text(self) -> str | None:
        """Text of the branch: `WHEN MATCHED AND (n > 5) THEN UPDATE`."""
        if self.when is None:
            return None
        more = f" AND {self.condition.text}" if self.condition is not None else ""
        return f"{self.when}{more} THEN {self.action}"

    def by(self) -> frozenset[Indirect]:
        """Return the influences on the choice of this branch for a row."""
        if self.condition is None:
            return frozenset()
        return influences([self.condition], Kind.FILTER_DEPENDENCY, self.text)


def merged_rows(operator: Operator) -> Relation:
    """Read Spark's own MERGE: over the join of both sides, each instruction makes a row or drops it."""
    child = operator.child
    scope = operator.scope()
    output = operator.attributes()
    branches: list[Branch] = []
    for field, (when, action) in _INSTRUCTIONS.items():
        for tree in operator.node.trees(field):
            branches += _instruction(tree, when, action, output, scope)
    values: dict[int, list[ValueLineage]] = {attribute.id: [] for attribute in output}
    for branch in branches:
        for attribute, column in branch.values:
            values[attribute.id].append(column)
    merged = {attribute.id: combine(values[attribute.id], Kind.COPY, attribute.name) for attribute in output}
    branch_columns = _numbered(branches)
    relation = child.with_output([*((a, merged[a.id]) for a in output), *branch_columns])
    gone = [indirect for b in branches if not b.values for indirect in b.by()]
    return relation.influenced(gone)


def rows_replaced(operator: Operator) -> Relation:
    """Read the columns that a rewritten MERGE, UPDATE or DELETE changes; unchanged columns are left out."""
    child = operator.child
    tree = operator.node.tree("originalTable") or operator.node.tree("table")
    target = operator.reader.read(tree, operator.outer) if tree else Relation()
    columns = {attribute.name: attribute for attribute in target.output}
    branched = any(attribute.branch for attribute in child.output)
    pairs = [
        (replace(attribute, type=columns[attribute.name].type), child.columns[attribute.id])
        for attribute in child.output
        if attribute.name in columns and bool(attribute.branch) is branched
    ]
    return child.with_output([(a, c) for a, c in pairs if not _stays(a.name, c, target)])


def _instruction(
    tree: Nodes, when: str, action: str, output: list[Attribute], scope: ExpressionScope
) -> Iterator[Branch]:
    first, *rest = children(tree)
    by = read_expression(first, scope)
    condition = None if by.text == "true" else by
    match simple_name(str(tree[0]["class"])):
        case "Keep" if _deletes(rest, output):
            yield Branch(when, "DELETE", condition)
        case "Keep":
            yield Branch(when, action, condition, tuple(_row(rest, output, scope)))
        case "Split":
            # An update is represented as a deleted and an inserted row: the inserted row has the new values.
            values = rest[len(rest) // 2 :]
            yield Branch(when, action, condition, tuple(_row(values, output, scope)))
        case _:
            yield Branch(when, "DELETE", condition)


def _deletes(row: list[Nodes], output: list[Attribute]) -> bool:
    # A row of a delta begins with the operation on the table's row, here RowDeltaUtils.DELETE_OPERATION.
    return output[0].name == "__row_operation" and row[0][0].get("value") == "1"


def _row(
    trees: Iterable[Nodes], output: list[Attribute], scope: ExpressionScope
) -> Iterator[tuple[Attribute, ValueLineage]]:
    for attribute, tree in zip(output, trees, strict=False):
        yield attribute, read_expression(tree, scope)


def children(nodes: Nodes) -> list[Nodes]:
    """Return the subtrees directly below the root."""
    found: list[Nodes] = []
    start, missing = 1, 0
    for position in range(1, len(nodes)):
        missing += int(nodes[position]["num-children"]) - (0 if position == start else 1)
        if missing == 0:
            found.append(nodes[start : position + 1])
            start = position + 1
    return found


def changed(rows: Relation, target: Relation, branches: list[Branch], on: Iterable[Indirect] = ()) -> Relation:
    """Return the columns of a target that branches change, each with its new value.

    Args:
        branches: the branches, including branches that delete rows.
        on: further influences on the set of rows, such as the ON condition.
    """
    kept = [
        replace(b, values=tuple((a, column) for a, column in b.values if not _stays(a.name, column, target)))
        for b in branches
    ]
    gone = [indirect for b in branches if not b.values for indirect in b.by()]
    return replace(rows, output=()).with_output(_numbered(kept), [*on, *gone])


def _numbered(branches: Iterable[Branch]) -> Iterator[tuple[Attribute, ValueLineage]]:
    # Several branches may set the same column, so each gets a new id. Spark's ids are positive, these are negative.
    number = -2
    for branch in branches:
        for attribute, column in branch.values:
            yield (
                replace(attribute, id=number, branch=branch.text),
                replace(column, indirect=column.indirect | branch.by()),
            )
            number -= 1


def _stays(name: str, column: ValueLineage, target: Relation) -> bool:
    """Return True if a column keeps its value: it is set to itself, or to an IF with itself in both branches."""
    own = {FieldRef(dataset, (name,)) for dataset in target.rows}
    if not own or {direct.field for direct in column.direct} - own:
        return False
    plain = re.escape(name)
    return bool(column.direct) and re.fullmatch(rf"{plain}|if\(.*, {plain}, {plain}\)", column.text) is not None


ROW_LEVEL: dict[str, OperatorRule] = {
    "MergeRows": merged_rows,
    "ReplaceData": rows_replaced,
    "WriteDelta": rows_replaced,
}
