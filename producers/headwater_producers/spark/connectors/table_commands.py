"""Commands that write a table of a catalog: appends and overwrites, CREATE TABLE AS, MERGE, UPDATE, DELETE."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

from headwater_producers.spark.connectors import overwrites, python_source
from headwater_producers.spark.connectors.command import LIFECYCLES, JvmCommand, Written, topics_of, unnamed
from headwater_producers.spark.connectors.delta.generated_columns import generated_columns
from headwater_producers.spark.connectors.replaced_rows import with_replaced
from headwater_producers.spark.connectors.tables import (
    CatalogEntry,
    branch_of,
    is_staged,
    loaded,
    named,
    relation_table,
    unwrapped,
)
from headwater_producers.spark.jvm.scala import class_name, items, option, setting
from headwater_producers.spark.plan.description import PlanOutput, SourceKind, WriteMode
from headwater_schemas import naming
from headwater_schemas.events import Storage

logger = logging.getLogger(__name__)

_MODES = {
    "AppendData": WriteMode.APPEND,
    "OverwritePartitionsDynamic": WriteMode.OVERWRITE_PARTITIONS,
    "DeltaDynamicPartitionOverwriteCommand": WriteMode.OVERWRITE_PARTITIONS,
}

_REWRITES = "default_cache_iceberg"
"""The catalog that Iceberg's own maintenance takes tables from, whose rows it writes anew: it commits them later, if it
does."""


def table_v2(command: JvmCommand) -> Written:
    """`writeTo(…)` and `save()` to a V2 table: append, overwrite by a condition, overwrite partitions."""
    plan = command.plan
    name = class_name(plan)
    mode = overwrites.by_condition(plan) if name == "OverwriteByExpression" else _MODES[name]
    relation = plan.table()
    if class_name(relation.table()) == "KafkaTable":
        return topics_of(command, plan.writeOptions(), mode)
    if class_name(relation.table()) == python_source.PYTHON_TABLE:
        return Written((python_source.written(command.context, relation.table(), plan.writeOptions(), mode),))
    entry = relation_table(command.context, relation)
    if entry is None:
        return Written((unnamed(command, relation.table(), setting(plan.writeOptions(), "path"), mode),))
    if entry.catalog == _REWRITES:
        return Written()
    staged = is_staged(relation.table())
    if entry.provider == "delta":
        mode = overwrites.of_delta(mode, plan.writeOptions())
    written = Written((table_output(entry, mode, relation.table()),), staged=staged)
    if name == "OverwriteByExpression" and not staged:
        written = with_replaced(command, written)
    return written if staged or entry.provider != "delta" else _with_generated(command, relation.table(), written)


def _with_generated(command: JvmCommand, table: Any, written: Written) -> Written:
    try:
        return replace(written, generated=generated_columns(command.context, table, command.columns))
    except Exception as error:
        logger.debug("lineage capture: generated columns couldn't be read", exc_info=True)
        return replace(written, problem=f"which columns the table generates couldn't be read ({type(error).__name__})")


def table_as_select(command: JvmCommand) -> Written:
    """CREATE TABLE … AS SELECT and its like to a V2 catalog, which has the table by the time this is told."""
    plan = command.plan
    name = plan.name()
    table = loaded(name.catalog(), name.identifier())
    entry = named(command.context, name.catalog(), name.identifier(), table)
    mode = WriteMode.CREATE if class_name(plan) == "CreateTableAsSelect" else WriteMode.REPLACE
    if entry.provider == "delta":
        mode = overwrites.of_delta(mode, plan.writeOptions())
    output = table_output(entry, mode, table)
    if mode is WriteMode.CREATE and plan.ignoreIfExists():
        output = replace(output, mode=WriteMode.IGNORE)
    written = Written((output,))
    if entry.provider != "delta" or table is None:
        return written
    return with_replaced(command, written, plan.writeOptions(), str(table.path().toString()))


def row_level(command: JvmCommand) -> Written:
    """MERGE, UPDATE and DELETE of a V2 table, as Spark rewrites them."""
    relation = command.plan.originalTable()
    entry = relation_table(command.context, relation)
    if entry is None:
        return Written(problem="a table without a name is changed")
    schema = json.loads(str(relation.schema().json()))
    return Written((table_output(entry, WriteMode.UPDATE, relation.table()),), schema=schema)


def delta_rows(command: JvmCommand) -> Written:
    """MERGE, UPDATE and DELETE of a Delta table, which runs them itself."""
    plan = command.plan
    target = plan.target()
    relation = next((leaf for leaf in items(target.collectLeaves()) if class_name(leaf) == "LogicalRelation"), None)
    if relation is None:
        return Written(problem=f"which table a {class_name(plan)} changes isn't known")
    table = option(relation.catalogTable())
    named_table = command.context.catalog_table(table) if table is not None else None
    roots = relation.relation().location().rootPaths()
    output = PlanOutput(
        dataset=named_table.ref if named_table else naming.path(str(roots.head().toString())),
        kind=SourceKind.TABLE if named_table else SourceKind.FILE,
        type="TABLE" if named_table else "FILE",
        mode=WriteMode.UPDATE,
        format="delta",
        storage=Storage("delta", "parquet"),
        symlinks=named_table.symlinks if named_table else (),
    )
    # With autoMerge it may add columns.
    grown = option(plan.migratedSchema()) if class_name(plan) == "MergeIntoCommand" else None
    schema = grown if grown is not None else target.schema()
    return Written((output,), schema=json.loads(str(schema.json())))


def table_output(entry: CatalogEntry, mode: WriteMode, table: Any | None) -> PlanOutput:
    """A catalog's table as what is written; `table` None: it couldn't be loaded."""
    output = PlanOutput(
        dataset=entry.dataset,
        kind=SourceKind.TABLE,
        type=entry.type,
        mode=mode,
        format=entry.provider,
        storage=entry.storage,
        symlinks=entry.symlinks,
        lifecycle=LIFECYCLES.get(mode),
    )
    if table is None:
        return output
    return replace(output, partition_columns=_partitions(table), branch=branch_of(unwrapped(table)))


def _partitions(table: Any) -> tuple[str, ...]:
    """The columns that a table is partitioned by, by value or by what a transform makes of them."""
    names = (".".join(reference.fieldNames()) for each in table.partitioning() for reference in each.references())
    return tuple(dict.fromkeys(names))
