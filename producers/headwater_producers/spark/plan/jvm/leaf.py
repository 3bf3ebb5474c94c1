"""A leaf of a JVM plan, as the tables of sources are given it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.plan.jvm.context import Context
from headwater_producers.spark.plan.schema import schema_definition

if TYPE_CHECKING:
    from headwater_schemas.events import SchemaDefinition


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
