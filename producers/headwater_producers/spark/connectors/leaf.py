"""A leaf of a JVM plan, as the tables of sources are given it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.context import Context
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Attribute
from headwater_producers.spark.plan.schema import schema_definition
from headwater_producers.spark.plan.tree import Node, expression_id

if TYPE_CHECKING:
    from headwater_schemas.events import DatasetRef, SchemaDefinition, Storage, Symlink


@dataclass(frozen=True, slots=True)
class JvmLeaf:
    """A leaf of a JVM plan.

    Attributes:
        plan: the leaf.
        context: see there.
        index: of its streaming source in `StreamingQueryProgress.sources`.
        view: the temporary view that is this leaf.
    """

    plan: Any
    context: Context
    index: int | None = None
    view: str | None = None

    def schema(self) -> SchemaDefinition:
        """Its columns."""
        return schema_definition(json.loads(self.plan.schema().json()))

    def table(
        self,
        dataset: DatasetRef,
        storage: Storage | None,
        symlinks: tuple[Symlink, ...],
        schema: SchemaDefinition | None,
    ) -> Leaf:
        """The leaf as a batch read of one catalog's table."""
        read = PlanInput(
            dataset=dataset,
            kind=SourceKind.TABLE,
            type="TABLE",
            schema=schema,
            storage=storage,
            symlinks=symlinks,
        )
        return Leaf(inputs=(read,))

    def attributes(self) -> list[Attribute]:
        """Its columns with their ids, in one round trip."""
        leaf = Node("", json.loads(str(self.plan.toJSON()))[0])
        found = []
        for nodes in leaf.output():
            number = expression_id(nodes[0])
            if number is not None:
                found.append(Attribute(number, str(nodes[0].get("name")), nodes[0].get("dataType")))
        return found
