"""What each class of command writes: one table, a function for each.

A function is given the command and the lineage of the query's columns by name (the constants of a column `topic` say
which topics are written), and tells the outputs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors import existing, hive, overwrites
from headwater_producers.spark.connectors.command import LIFECYCLES, JvmCommand, Written, topics_of, write_mode
from headwater_producers.spark.connectors.delta import commands as delta_commands
from headwater_producers.spark.connectors.files.listing import format_name
from headwater_producers.spark.connectors.partitions import specification, written_partition
from headwater_producers.spark.connectors.replaced_rows import with_replaced
from headwater_producers.spark.connectors.stream_sinks import continuous, micro_batch, micro_batch_v1
from headwater_producers.spark.connectors.table_commands import delta_rows, row_level, table_v2
from headwater_producers.spark.connectors.table_commands import table_as_select as v2_table_as_select
from headwater_producers.spark.connectors.tables import stored
from headwater_producers.spark.jvm.paths import of_uri, qualified
from headwater_producers.spark.jvm.scala import class_name, items, option, setting
from headwater_producers.spark.plan.description import PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.partition import path_partition
from headwater_schemas import naming
from headwater_schemas.events import LifecycleChange, Storage

if TYPE_CHECKING:
    from collections.abc import Callable


def files(command: JvmCommand) -> Written:
    """Files of a folder, which may be a table's."""
    plan = command.plan
    table = option(plan.catalogTable())
    file_format = format_name(plan.fileFormat())
    partitions = tuple(str(attribute.name()) for attribute in items(plan.partitionColumns()))
    named = command.context.catalog_table(table) if table is not None else None
    path = str(plan.outputPath().toString())
    dataset = naming.path(path)
    static = plan.staticPartitions()
    spec = specification(static) if not static.isEmpty() else ()
    mode = overwrites.of_files(
        plan, write_mode(plan.mode()), dataset, command.context, static=bool(spec), partitioned=bool(partitions)
    )
    output = PlanOutput(
        dataset=named.ref if named else dataset,
        kind=SourceKind.TABLE if named else SourceKind.FILE,
        type="TABLE" if named else "FILE",
        mode=mode,
        format=file_format,
        partition_columns=partitions,
        partition=(*(() if named else path_partition(path)), *written_partition(spec, partitions, command)),
        storage=Storage("file", file_format),
        symlinks=named.symlinks if named else (),
        lifecycle=LIFECYCLES.get(mode),
    )
    return Written((output,))


def table_as_select(command: JvmCommand) -> Written:
    """CREATE TABLE … AS SELECT, and `saveAsTable`. Without a location of its own it is where Spark will put it."""
    plan = command.plan
    of_hive = class_name(plan) == "CreateHiveTableAsSelectCommand"
    table = plan.tableDesc() if of_hive else plan.table()
    mode = write_mode(plan.mode())
    location = table.storage().locationUri()
    identifier = table.identifier()
    database = option(identifier.database()) or "default"
    catalog = command.context.session._jsparkSession.sessionState().catalog()
    if mode is WriteMode.IGNORE and not existing.was_made(catalog, table):
        return Written()
    uri = of_uri(location.get() if location.isDefined() else catalog.defaultTablePath(identifier))
    named = command.context.table(f"{database}.{identifier.table()}", uri)
    storage = stored(table)
    mode = WriteMode.CREATE if mode in (WriteMode.ERROR_IF_EXISTS, WriteMode.IGNORE) else mode
    return Written(
        (
            PlanOutput(
                dataset=named.ref,
                kind=SourceKind.TABLE,
                type="TABLE",
                mode=mode,
                format=storage.format if storage is not None else None,
                partition_columns=tuple(str(name) for name in items(table.partitionColumnNames())),
                storage=storage,
                symlinks=named.symlinks,
                lifecycle=LIFECYCLES.get(mode),
            ),
        )
    )


def view(command: JvmCommand) -> Written:
    """CREATE VIEW; a temporary one is no dataset."""
    plan = command.plan
    if class_name(plan.viewType()) != "PersistedView":
        return Written()
    if plan.allowExisting() and not existing.view_was_made(command.context, plan):
        return Written()
    identifier = plan.name()
    named = command.context.table(f"{option(identifier.database()) or 'default'}.{identifier.table()}", None)
    mode = WriteMode.REPLACE if plan.replace() else WriteMode.CREATE
    output = PlanOutput(
        dataset=named.ref, kind=SourceKind.TABLE, type="VIEW", mode=mode, lifecycle=LifecycleChange.CREATE
    )
    return Written((output,))


def data_source_v1(command: JvmCommand) -> Written:
    """`save()` to a V1 source: Kafka, JDBC, others."""
    plan = command.plan
    source, options, mode = class_name(plan.dataSource()), plan.options(), write_mode(plan.mode())
    if source == "KafkaSourceProvider":
        return topics_of(command, options, mode)
    if source == "JdbcRelationProvider":
        url, table = setting(options, "url"), setting(options, "dbtable")
        if url and table:
            dataset = naming.jdbc(url, table)
            output = PlanOutput(dataset=dataset, kind=SourceKind.JDBC, type="TABLE", mode=mode, format="jdbc")
            return Written((replace(output, lifecycle=LIFECYCLES.get(mode)),))
    path = setting(options, "path")
    if path and source == "DeltaDataSource":
        mode = overwrites.of_delta(mode, options, command.context)
        dataset = naming.path(qualified(command.context.session.sparkContext, path))
        output = PlanOutput(dataset=dataset, kind=SourceKind.FILE, type="FILE", mode=mode, format="delta")
        stored = replace(output, storage=Storage("delta", "parquet"), lifecycle=LIFECYCLES.get(mode))
        written = Written((replace(stored, partition_columns=_partitioned(options)),))
        return with_replaced(command, written, options, path)
    if path:
        output = PlanOutput(dataset=naming.path(path), kind=SourceKind.UNKNOWN, mode=mode, format=source)
        return Written((replace(output, lifecycle=LIFECYCLES.get(mode)),))
    return Written(problem=f"what {source} writes isn't known")


def _partitioned(options: Any) -> tuple[str, ...]:
    # As `partitionBy` hands it to a V1 source.
    columns = setting(options, "__partition_columns")
    return tuple(json.loads(columns)) if columns else ()


def insert_into_source(command: JvmCommand) -> Written:
    """INSERT INTO a table that a V1 source writes itself."""
    plan = command.plan
    mode = WriteMode.OVERWRITE if plan.overwrite() else WriteMode.APPEND
    relation = plan.logicalRelation()
    table = option(relation.catalogTable())
    if table is None:
        return Written(problem="an insert into a source without a table's name isn't known")
    named = command.context.catalog_table(table)
    output = PlanOutput(dataset=named.ref, kind=SourceKind.TABLE, type="TABLE", mode=mode, symlinks=named.symlinks)
    return Written((replace(output, lifecycle=LIFECYCLES.get(mode)),))


def view_altered(command: JvmCommand) -> Written:
    """ALTER VIEW … AS."""
    identifier = command.plan.name()
    named = command.context.table(f"{option(identifier.database()) or 'default'}.{identifier.table()}", None)
    output = PlanOutput(
        dataset=named.ref,
        kind=SourceKind.TABLE,
        type="VIEW",
        mode=WriteMode.REPLACE,
        lifecycle=LifecycleChange.ALTER,
    )
    return Written((output,))


SINKS: dict[str, Callable[[JvmCommand], Written]] = {
    "InsertIntoHadoopFsRelationCommand": files,
    **dict.fromkeys(("CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand"), table_as_select),
    "InsertIntoHiveTable": hive.insert,
    "InsertIntoHiveDirCommand": hive.directory,
    "LoadDataCommand": hive.load,
    "CreateViewCommand": view,
    "SaveIntoDataSourceCommand": data_source_v1,
    "InsertIntoDataSourceCommand": insert_into_source,
    "AppendData": table_v2,
    "OverwriteByExpression": table_v2,
    "OverwritePartitionsDynamic": table_v2,
    "DeltaDynamicPartitionOverwriteCommand": table_v2,
    "CreateTableAsSelect": v2_table_as_select,
    "ReplaceTableAsSelect": v2_table_as_select,
    **dict.fromkeys(("ReplaceData", "WriteDelta"), row_level),
    **dict.fromkeys(("MergeIntoCommand", "UpdateCommand", "DeleteCommand"), delta_rows),
    "OptimizeTableCommand": delta_commands.optimize,
    "DeltaReorgTableCommand": delta_commands.reorg,
    "RestoreTableCommand": delta_commands.restore,
    "ConvertToDeltaCommand": delta_commands.convert,
    "VacuumTableCommand": delta_commands.vacuum,
    "CreateDeltaTableCommand": delta_commands.clone,
    "AlterViewAsCommand": view_altered,
    "WriteToMicroBatchDataSource": micro_batch,
    "WriteToMicroBatchDataSourceV1": micro_batch_v1,
    "WriteToContinuousDataSource": continuous,
}
