"""Python data sources (`pyspark.sql.datasource`): rows that code of the user's makes, or takes.

One is known by the path that it is given, if that is one, and else by its own name, within the application: what it
reads or writes outside, only its code knows. So every column read is EXTERNAL.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.scala import setting
from headwater_producers.spark.plan.column import Column, Direct, Field
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Relation
from headwater_schemas import naming
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context
    from headwater_producers.spark.connectors.leaf import JvmLeaf
    from headwater_schemas.events import DatasetRef

PYTHON_TABLE: Final = "PythonTable"
# Absolute, or with a scheme. Anything else given to `load` may be the name of whatever the source has names for.
_PATH: Final = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]+:/")


def read(leaf: JvmLeaf, table: Any) -> Leaf:
    """What a JVM `PythonTable` reads."""
    dataset, is_path = _dataset(leaf.context, table, leaf.plan.options())
    # The fields are the source's own. Those of a file, or whatever is at its path, are not.
    schema = None if is_path else leaf.schema()
    pairs = []
    for attribute in leaf.attributes():
        field = Field(dataset, None if is_path else (attribute.name,))
        direct = frozenset({Direct(field, Kind.EXTERNAL, whole=not is_path)})
        pairs.append((attribute, Column(direct, text=attribute.name, type=attribute.type)))
    relation = replace(Relation().with_output(pairs), rows=frozenset({dataset}))
    return Leaf(inputs=(PlanInput(dataset=dataset, kind=SourceKind.PYTHON, schema=schema),), relation=relation)


def written(context: Context, table: Any, options: Any, mode: WriteMode) -> PlanOutput:
    """What a write to a JVM `PythonTable` writes."""
    dataset, _ = _dataset(context, table, options)
    return PlanOutput(dataset=dataset, kind=SourceKind.PYTHON, mode=mode, format=str(table.name()))


def _dataset(context: Context, table: Any, options: Any) -> tuple[DatasetRef, bool]:
    path = setting(options, "path")
    if path is not None and _PATH.match(path):
        return naming.path(path), True
    return context.in_memory(str(table.name())), False
