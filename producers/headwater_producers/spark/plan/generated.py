"""Generated columns, which a table computes from written columns: `GENERATED ALWAYS AS (year(at))`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from headwater_producers.spark.plan.column import CONSTANT, DataType, ValueLineage
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators import PlanReader
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.text import Literals
from headwater_producers.spark.plan.tree import Nodes, PlanNode, expression_id


@dataclass(frozen=True, slots=True)
class GeneratedColumns:
    """Generated columns that a table adds to written rows.

    Attributes:
        names, types: names and types of these columns, in order.
        plan: JSON of an analyzed plan that computes just these columns from a leaf with the written columns.
    """

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    plan: str


class _Written:
    """Leaves of a generated column's plan: the written columns, by name."""

    def __init__(self, relation: Relation) -> None:
        self._columns = {a.name.lower(): c for a, c in zip(relation.output, relation.ordered(), strict=True)}

    def find(self, node: PlanNode, _view: str | None) -> Leaf:
        found: list[tuple[Attribute, ValueLineage]] = []
        for (root, *_), number in ((nodes, expression_id(nodes[0])) for nodes in node.output()):
            name = str(root.get("name"))
            # An unwritten column is null or generated; generated columns don't depend on each other.
            column = self._columns.get(name.lower(), ValueLineage(CONSTANT, text=name))
            found += [(Attribute(number, name, root.get("dataType")), column)] if number is not None else []
        return Leaf(relation=Relation().with_output(found))

    def view(self, _node: PlanNode) -> None:
        return None

    def projections(self, _node: PlanNode) -> list[list[Nodes]] | None:
        return None


def with_generated(
    relation: Relation, schema: DataType, generated: GeneratedColumns, literals: Literals
) -> tuple[Relation, DataType]:
    """Add the table's generated columns to the written rows and their schema."""
    nodes: Any = msgspec.json.decode(generated.plan.encode())
    computed = PlanReader(_Written(relation), literals).read(nodes)
    added = [
        (Attribute(attribute.id, name, data_type), column)
        for name, data_type, attribute, column in zip(
            generated.names, generated.types, computed.output, computed.ordered(), strict=True
        )
    ]
    fields = [{"name": attribute.name, "type": attribute.type} for attribute, _ in added]
    whole = relation.with_output([*zip(relation.output, relation.ordered(), strict=True), *added])
    return whole, {**schema, "fields": [*schema["fields"], *fields]}
