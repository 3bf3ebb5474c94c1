"""Python data sources (`pyspark.sql.datasource`): rows that the user's code reads or writes.

A source is identified by its path option, if it has one, else by its own name within the application: only its code
knows the external data that it reads or writes. So every column read is EXTERNAL.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_questions import JvmCommand, JvmLeaf
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.jvm.scala import setting
from headwater_producers.spark.plan.column import DirectSource, FieldRef, ValueLineage
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

# Absolute, or with a scheme. Any other argument of `load` may be a name of the source's own making.
_PATH: Final = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]+:/")


class PythonSource(Connector):
    """Connector of Python data sources."""

    classes = frozenset({"PythonTable"})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        batch = leaf.batch()
        dataset, is_path = _dataset(leaf.context, leaf.subject, leaf.options)
        # The fields are the source's own, and not those of a file at its path.
        schema = None if is_path else batch.schema()
        pairs = []
        for attribute in batch.attributes():
            field = FieldRef(dataset, None if is_path else (attribute.name,))
            direct = frozenset({DirectSource(field, Kind.EXTERNAL, whole=not is_path)})
            pairs.append((attribute, ValueLineage(direct, text=attribute.name, type=attribute.type)))
        relation = replace(Relation().with_output(pairs), rows=frozenset({dataset}))
        read = PlanInput(dataset=dataset, kind=SourceKind.PYTHON, schema=schema, source_index=leaf.index)
        return Leaf(inputs=(read,), relation=relation)

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        table = command.subject
        dataset, _ = _dataset(command.context, table, command.options)
        output = PlanOutput(dataset=dataset, kind=SourceKind.PYTHON, mode=command.mode, format=str(table.name()))
        return WrittenOutputs((output,))


def _dataset(context: SessionContext, table: Any, options: Any) -> tuple[DatasetRef, bool]:
    path = setting(options, "path")
    if path is not None and _PATH.match(path):
        return naming.path(path), True
    return context.in_memory(str(table.name())), False
