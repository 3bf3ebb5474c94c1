"""Replace condition: the condition that selects the rows an overwrite replaces, `REPLACE WHERE`, `overwrite(…)`."""

from __future__ import annotations

from collections.abc import Collection

from headwater_producers.spark.plan.column import DirectSource, FieldRef, Indirect, ValueLineage, influences
from headwater_producers.spark.plan.expressions import ExpressionScope, read_expression
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.text import Literals
from headwater_producers.spark.plan.tree import Nodes, expression_id, simple_name
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind


def replaced_by(
    condition: Nodes, dataset: DatasetRef, partition_columns: Collection[str], literals: Literals
) -> frozenset[Indirect]:
    """Return the influences on the rows that an overwrite replaces; empty if it replaces whole partitions.

    Args:
        condition: JSON of the resolved condition.
        partition_columns: the table's partition columns. A condition on only these columns reads no row.
        literals: display of literals in texts.
    """
    columns: dict[int, ValueLineage] = {}
    names: set[str] = set()
    for node in condition:
        number = expression_id(node)
        if simple_name(str(node["class"])) == "AttributeReference" and number is not None:
            name = str(node["name"])
            names.add(name.lower())
            field = FieldRef(dataset, (name,))
            columns[number] = ValueLineage(
                frozenset({DirectSource(field, whole=True)}), text=name, type=node.get("dataType")
            )
    if names <= {name.lower() for name in partition_columns}:
        return frozenset()
    # No table format accepts a subquery in this condition.
    scope = ExpressionScope(
        columns=columns,
        rows=frozenset({dataset}),
        subquery=lambda _nodes, _scope: Relation(),
        report=lambda _problem: None,
        literals=literals,
    )
    column = read_expression(condition, scope)
    return influences([column], Kind.FILTER_DEPENDENCY, f"REPLACE WHERE {column.text}")
