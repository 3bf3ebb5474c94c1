"""Delta's own commands that have no query: OPTIMIZE, REORG, RESTORE, CONVERT TO DELTA, VACUUM, CLONE.

OPTIMIZE and REORG write the same rows anew, RESTORE brings back those of an earlier version, CONVERT makes a table of
the files that are there: they are writes of a table from itself, without columns. VACUUM reads and writes no row, but
leaves a version that says so. CLONE takes over another table's version as it is.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.command import LIFECYCLES, JvmCommand, Written, write_mode
from headwater_producers.spark.connectors.delta.snapshots import latest_snapshot
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import class_name, option, private
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.schema import schema_definition
from headwater_schemas import naming
from headwater_schemas.events import Certainty, LifecycleChange, Position, Storage, TableSnapshot
from headwater_schemas.naming.tables import NamedTable

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context
    from headwater_producers.spark.plan.column import DataType


def cloned_by(plan: Any) -> Any | None:
    """The JVM's `CloneTableCommand` within a `CreateDeltaTableCommand`; None where that makes an empty table."""
    query = option(plan.query())
    return query if query is not None and class_name(query) == "CloneTableCommand" else None


def table_path(plan: Any, name: str, session: Any) -> str | None:
    """Where the table lies that such a command, of the class `name`, writes; None of another command."""
    match name:
        case "OptimizeTableCommand" | "VacuumTableCommand":
            return str(plan.child().table().path().toString())
        case "DeltaReorgTableCommand":
            return str(plan.target().table().path().toString())
        case "ConvertToDeltaCommand":
            return _converted(plan, session)[0]
        case "RestoreTableCommand":
            return str(plan.sourceTable().path().toString())
        case "CreateDeltaTableCommand":
            clone = cloned_by(plan)
            return str(clone.targetPath().toString()) if clone is not None else None
    return None


def batches(execution: Any) -> int | None:
    """In how many commits an OPTIMIZE or REORG that has run says that it was; None where it doesn't say.

    Delta makes several of it under `spark.databricks.delta.optimize.batchSize`.
    """
    node = execution.executedPlan()
    # The accessor would run the command again, if it hadn't run: the field is null then.
    rows = private(node, "sideEffectResult")
    if rows is None or rows.isEmpty():
        return None
    names = node.schema()
    place = int(names.fieldIndex("metrics"))
    metrics = names.apply(place).dataType()
    return int(rows.head().getStruct(place, metrics.size()).getLong(metrics.fieldIndex("numBatches")))


def optimize(command: JvmCommand) -> Written:
    """OPTIMIZE, with ZORDER BY or without. Which version it began with, the commit says that it made."""
    return _rewritten(command.context, command.plan.child().table(), None)


def reorg(command: JvmCommand) -> Written:
    """REORG TABLE … APPLY (PURGE), which writes files with deleted rows or columns anew."""
    return _rewritten(command.context, command.plan.target().table(), None)


def vacuum(command: JvmCommand) -> Written:
    """VACUUM. A DRY RUN, and one where Delta is told to log none, leave no version, and are no run."""
    table = command.plan.child().table()
    named = _named(command.context, table.catalogTable(), str(table.path().toString()))
    return Written((_output(named, WriteMode.UPDATE),), schema=json.loads(str(table.schema().json())))


def convert(command: JvmCommand) -> Written:
    """CONVERT TO DELTA, of a folder or a table. Which files it took over, the commit says that it made."""
    session = command.context.session
    path, table = _converted(command.plan, session)
    named = command.context.catalog_table(table) if table is not None else NamedTable(naming.path(path))
    schema = json.loads(str(latest_snapshot(session, path).schema().json()))
    read = replace(_input(named, None, schema), kind=SourceKind.TABLE if table is not None else SourceKind.FILE)
    output = replace(_output(named, WriteMode.UPDATE), lifecycle=LifecycleChange.ALTER)
    return Written((output,), schema=schema, read=(read,))


def _converted(plan: Any, session: Any) -> tuple[str, Any | None]:
    """What a CONVERT makes a Delta table of: its path, and its entry in the catalog."""
    identifier = plan.tableIdentifier()
    catalog = session._jsparkSession.sessionState().catalog()
    # Of parquet.`/data/flights` the folder is the table's name.
    table = catalog.getTableMetadata(identifier) if catalog.tableExists(identifier) else None
    elsewhere = option(plan.deltaPath())
    if elsewhere is not None:
        return str(elsewhere), table
    return of_uri(table.location()) if table is not None else str(identifier.table()), table


def restore(command: JvmCommand) -> Written:
    """RESTORE TABLE … TO VERSION or TIMESTAMP AS OF."""
    table = command.plan.sourceTable()
    # The table as it was then.
    return _rewritten(command.context, table, _version(table.initialSnapshot()))


def clone(command: JvmCommand) -> Written:
    """CREATE [OR REPLACE] TABLE … SHALLOW CLONE: of a Delta table, or of one that Delta can make one of."""
    plan, made = command.plan, cloned_by(command.plan)
    if made is None:
        # CREATE TABLE, which is told as a change.
        return Written()
    source, context = made.sourceTable(), command.context
    schema = json.loads(str(source.schema().json()))
    snapshot = option(source.snapshot()) if class_name(source) == "CloneDeltaSource" else None
    path = str(source.dataPath().toString())
    read = _input(_named(context, source.catalogTable(), path), snapshot and _version(snapshot), schema)
    table = plan.table()
    named = context.table(str(table.identifier().unquotedString()), str(made.targetPath().toString()))
    if plan.tableByPath():
        named = NamedTable(naming.path(str(made.targetPath().toString())))
    mode = WriteMode.CREATE if class_name(plan.operation()) == "Create" else WriteMode.REPLACE
    if write_mode(plan.mode()) is WriteMode.IGNORE:
        mode = WriteMode.IGNORE
    return Written((_output(named, mode),), schema=schema, read=(read,), copied=True)


def _rewritten(context: Context, table: Any, position: Position | None) -> Written:
    """A JVM `DeltaTableV2` that is written from itself."""
    named = _named(context, table.catalogTable(), str(table.path().toString()))
    schema = json.loads(str(table.schema().json()))
    read = _input(named, position, schema)
    return Written((_output(named, WriteMode.UPDATE),), schema=schema, read=(read,))


def _named(context: Context, table: Any, path: str) -> NamedTable:
    """A table by its catalog's entry (an `Option`), else by its path."""
    entry = option(table)
    return context.catalog_table(entry) if entry is not None else NamedTable(naming.path(path))


def _version(snapshot: Any) -> Position:
    return Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=str(snapshot.version())))


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
        storage=Storage("delta", "parquet"),
        symlinks=named.symlinks,
        lifecycle=LIFECYCLES.get(mode),
    )
