"""Delta's own commands: MERGE, UPDATE, DELETE; OPTIMIZE, REORG, RESTORE, CONVERT TO DELTA, VACUUM, CLONE; its DDL.

OPTIMIZE and REORG rewrite the same rows, RESTORE brings back an earlier version's rows, CONVERT turns existing files
into a table: each is a write of the table from itself, without column lineage. VACUUM reads and writes no row, but
commits a version that reports it. CLONE copies another table's version unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.connectors.catalog.ddl import altered_v2, of_v1
from headwater_producers.spark.connectors.catalog.made import was_there
from headwater_producers.spark.connectors.catalog.tables import v1_output
from headwater_producers.spark.connectors.connector_questions import JvmCommand, write_mode
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.delta.reads import version
from headwater_producers.spark.connectors.delta.tables import STORAGE, is_made, latest_snapshot, table_path
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import class_name, items, option, private
from headwater_producers.spark.plan.column import DataType
from headwater_producers.spark.plan.description import DdlChange, PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.schema import schema_definition
from headwater_producers.spark.plan.written import LIFECYCLES, WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import Certainty, LifecycleChange, Position
from headwater_schemas.naming.tables import NamedTable


def cloned_by(plan: Any) -> Any | None:
    """Return the JVM's `CloneTableCommand` within a `CreateDeltaTableCommand`; None if the command makes no clone."""
    query = option(plan.query())
    return query if query is not None and class_name(query) == "CloneTableCommand" else None


def path_written(command: JvmCommand) -> str | None:
    """Return the path of the table that a command writes; None if it writes none."""
    plan = command.plan
    match command.name:
        case "OptimizeTableCommand" | "VacuumTableCommand":
            return table_path(plan.child().table())
        case "DeltaReorgTableCommand":
            return table_path(plan.target().table())
        case "ConvertToDeltaCommand":
            return _converted(plan, command.context)[0]
        case "RestoreTableCommand":
            return table_path(plan.sourceTable())
        case "CreateDeltaTableCommand":
            clone = cloned_by(plan)
            return str(clone.targetPath().toString()) if clone is not None else None
        case "MergeIntoCommand" | "UpdateCommand" | "DeleteCommand":
            relation = _target(plan)
            return None if relation is None else _root(relation)
        case "DeltaDynamicPartitionOverwriteCommand":
            table = plan.table().table()
            return table_path(table) if is_made(table) else None
        case "SaveIntoDataSourceCommand":
            return command.path()
    return table_path(command.subject) if is_made(command.subject) else None


def batches(execution: Any) -> int | None:
    """Return the number of commits that an executed OPTIMIZE or REORG reports; None if it reports none.

    Delta makes several commits under `spark.databricks.delta.optimize.batchSize`.
    """
    node = execution.executedPlan()
    # The field is null if the command hasn't run; its accessor would run the command.
    rows = private(node, "sideEffectResult")
    if rows is None or rows.isEmpty():
        return None
    names = node.schema()
    index = int(names.fieldIndex("metrics"))
    metrics = names.apply(index).dataType()
    return int(rows.head().getStruct(index, metrics.size()).getLong(metrics.fieldIndex("numBatches")))


def changed_rows(command: JvmCommand) -> WrittenOutputs:
    """Describe MERGE, UPDATE and DELETE, which Delta runs itself."""
    plan = command.plan
    target, relation = plan.target(), _target(plan)
    if relation is None:
        return WrittenOutputs(problem=f"which table a {command.name} changes isn't known")
    table = option(relation.catalogTable())
    output = v1_output(command.context, table, _root(relation), WriteMode.UPDATE, "delta", STORAGE)
    # With autoMerge, MERGE may add columns.
    grown = option(plan.migratedSchema()) if command.name == "MergeIntoCommand" else None
    schema = grown if grown is not None else target.schema()
    return WrittenOutputs((output,), schema=json.loads(str(schema.json())))


def _target(plan: Any) -> Any | None:
    """Return the relation of the table whose rows are changed."""
    return next((leaf for leaf in items(plan.target().collectLeaves()) if class_name(leaf) == "LogicalRelation"), None)


def _root(relation: Any) -> str:
    return str(relation.relation().location().rootPaths().head().toString())


def optimize(command: JvmCommand) -> WrittenOutputs:
    """Describe OPTIMIZE, also with ZORDER BY. The commit contains the version that the operation read."""
    return _rewritten(command.context, command.plan.child().table(), None)


def reorg(command: JvmCommand) -> WrittenOutputs:
    """Describe REORG TABLE … APPLY (PURGE), which rewrites files with deleted rows or columns."""
    return _rewritten(command.context, command.plan.target().table(), None)


def vacuum(command: JvmCommand) -> WrittenOutputs:
    """Describe VACUUM. Without a logged version (a DRY RUN, or by Delta's settings) it is no run."""
    table = command.plan.child().table()
    named = _named(command.context, table.catalogTable(), table_path(table))
    return WrittenOutputs((_output(named, WriteMode.UPDATE),), schema=json.loads(str(table.schema().json())))


def convert(command: JvmCommand) -> WrittenOutputs:
    """Describe CONVERT TO DELTA, of a folder or a table. The commit lists the files that were taken over."""
    session = command.context.session
    path, table = _converted(command.plan, command.context)
    named = command.context.catalog_table(table) if table is not None else NamedTable(naming.path(path))
    schema = json.loads(str(latest_snapshot(session, path).schema().json()))
    read = replace(_input(named, None, schema), kind=SourceKind.TABLE if table is not None else SourceKind.FILE)
    output = replace(_output(named, WriteMode.UPDATE), lifecycle=LifecycleChange.ALTER)
    return WrittenOutputs((output,), schema=schema, read=(read,))


def _converted(plan: Any, context: SessionContext) -> tuple[str, Any | None]:
    """Return the path that CONVERT TO DELTA converts, and its entry in the catalog."""
    identifier = plan.tableIdentifier()
    catalog = context.catalog
    # In parquet.`/data/flights` the table's name is the folder.
    table = catalog.getTableMetadata(identifier) if catalog.tableExists(identifier) else None
    elsewhere = option(plan.deltaPath())
    if elsewhere is not None:
        return str(elsewhere), table
    return of_uri(table.location()) if table is not None else str(identifier.table()), table


def restore(command: JvmCommand) -> WrittenOutputs:
    """Describe RESTORE TABLE … TO VERSION or TIMESTAMP AS OF."""
    table = command.plan.sourceTable()
    # The input is the table at the restored version.
    return _rewritten(command.context, table, version(table.initialSnapshot().version()))


def clone(command: JvmCommand) -> WrittenOutputs:
    """Describe CREATE [OR REPLACE] TABLE … SHALLOW CLONE: of a Delta table, or of a table that Delta can convert."""
    plan, made = command.plan, cloned_by(command.plan)
    if made is None:
        # CREATE TABLE: a DDL change.
        return WrittenOutputs()
    source, context = made.sourceTable(), command.context
    schema = json.loads(str(source.schema().json()))
    snapshot = option(source.snapshot()) if class_name(source) == "CloneDeltaSource" else None
    path = str(source.dataPath().toString())
    read = _input(_named(context, source.catalogTable(), path), snapshot and version(snapshot.version()), schema)
    table = plan.table()
    named = context.table(str(table.identifier().unquotedString()), str(made.targetPath().toString()))
    if plan.tableByPath():
        named = NamedTable(naming.path(str(made.targetPath().toString())))
    mode = WriteMode.CREATE if class_name(plan.operation()) == "Create" else WriteMode.REPLACE
    if write_mode(plan.mode()) is WriteMode.IGNORE:
        mode = WriteMode.IGNORE
    return WrittenOutputs((_output(named, mode),), schema=schema, read=(read,), copied=True)


def _rewritten(context: SessionContext, table: Any, position: Position | None) -> WrittenOutputs:
    """Describe a JVM `DeltaTableV2` that is rewritten from itself."""
    named = _named(context, table.catalogTable(), table_path(table))
    schema = json.loads(str(table.schema().json()))
    read = _input(named, position, schema)
    return WrittenOutputs((_output(named, WriteMode.UPDATE),), schema=schema, read=(read,))


def _named(context: SessionContext, table: Any, path: str) -> NamedTable:
    """Name a table by its catalog's entry (an `Option`), else by its path."""
    entry = option(table)
    return context.catalog_table(entry) if entry is not None else NamedTable(naming.path(path))


def _input(named: NamedTable, position: Position | None, schema: DataType) -> PlanInput:
    return PlanInput(
        dataset=named.ref,
        kind=SourceKind.TABLE,
        type="TABLE" if named.symlinks else "FILE",
        schema=schema_definition(schema),
        symlinks=named.symlinks,
        position=position,
        certainty=Certainty.EXACT if position is not None else None,
    )


def _output(named: NamedTable, mode: WriteMode) -> PlanOutput:
    return PlanOutput(
        dataset=named.ref,
        kind=SourceKind.TABLE,
        type="TABLE" if named.symlinks else "FILE",
        mode=mode,
        format="delta",
        storage=STORAGE,
        symlinks=named.symlinks,
        lifecycle=LIFECYCLES.get(mode),
    )


COMMANDS: Final[dict[str, Callable[[JvmCommand], WrittenOutputs]]] = {
    **dict.fromkeys(("MergeIntoCommand", "UpdateCommand", "DeleteCommand"), changed_rows),
    "OptimizeTableCommand": optimize,
    "DeltaReorgTableCommand": reorg,
    "RestoreTableCommand": restore,
    "ConvertToDeltaCommand": convert,
    "VacuumTableCommand": vacuum,
    "CreateDeltaTableCommand": clone,
}
"""Descriptions of the writes of Delta's own commands."""


def created(command: JvmCommand) -> tuple[DdlChange, ...]:
    """Describe `CreateDeltaTableCommand` as DDL; a clone is a write."""
    plan, context = command.plan, command.context
    if cloned_by(plan) is not None:
        return ()
    name = plan.table().identifier()
    if str(plan.mode().toString()) == "Ignore" and was_there(context, name):
        return ()
    return (of_v1(name, context, LifecycleChange.CREATE),)


CHANGES: Final[dict[str, Callable[[JvmCommand], tuple[DdlChange, ...]]]] = {
    "CreateDeltaTableCommand": created,
    **dict.fromkeys(
        (
            "AlterColumnSyncIdentity",
            "AlterTableAddConstraint",
            "AlterTableDropConstraint",
            "AlterTableDropFeature",
        ),
        altered_v2,
    ),
}
"""Descriptions of the DDL changes of Delta's own commands."""
