"""Commands that write a catalog's table or create one from a query, of any format; and views."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.connectors.catalog.made import view_was_made, was_made
from headwater_producers.spark.connectors.catalog.tables import (
    CatalogEntry,
    is_staged,
    named,
    relation_table,
    table_output,
    v1_name,
    v1_partition_columns,
)
from headwater_producers.spark.connectors.connector_questions import JvmCommand
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import class_name, option, setting
from headwater_producers.spark.jvm.versions import streamed_relation
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, StreamingLink, WriteMode
from headwater_producers.spark.plan.replaced import replaced_by
from headwater_producers.spark.plan.written import LIFECYCLES, WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import LifecycleChange

logger = logging.getLogger(__name__)

_OVERWRITE_MODE: Final = "partitionOverwriteMode"


def write_other(command: JvmCommand) -> WrittenOutputs | None:
    """Describe a command's write to a table, source or sink without a connector; None for any other command."""
    match command.name:
        case "AppendData" | "OverwriteByExpression" | "OverwritePartitionsDynamic":
            return write_table(command)
        case "CreateTableAsSelect" | "ReplaceTableAsSelect":
            return write_made(command)
        case "ReplaceData" | "WriteDelta":
            return row_level(command)
        case "SaveIntoDataSourceCommand":
            return _save(command)
        case "WriteToMicroBatchDataSource":
            return _micro_batch(command)
        case "WriteToMicroBatchDataSourceV1":
            name = class_name(command.subject)
            problem = f"what {name} writes isn't known"
            return WrittenOutputs(problem=problem, streaming=streaming_link(command, SourceKind.UNKNOWN))
        case "WriteToContinuousDataSource":
            # One of these sinks is foreach, which writes no dataset.
            return WrittenOutputs(streaming=StreamingLink(sink=continuous_sink(command), sink_kind=SourceKind.CALLBACK))
    return None


def write_table(command: JvmCommand, mode: WriteMode | None = None, *, is_checked: bool = False) -> WrittenOutputs:
    """Describe `writeTo(…)` and `save()` to a V2 table: append, overwrite by a condition, overwrite partitions.

    Args:
        mode: mode to report instead of the command's own; None: the command's own.
        is_checked: True if the format refuses rows for which an overwrite's condition isn't true.
    """
    relation = command.plan.table()
    table, mode = relation.table(), mode or command.mode
    entry = relation_table(command.context, relation)
    if entry is None:
        return WrittenOutputs((unnamed(command, table, mode),))
    staged = is_staged(table)
    output = table_output(entry, mode, table)
    if mode is WriteMode.OVERWRITE_PARTITIONS and not command.replaces_by_condition:
        output = replace(output, overwritten=())
    written = WrittenOutputs((output,), staged=staged)
    if command.replaces_by_condition and not staged:
        written = with_replaced(command, written, command.condition)
        if not is_checked:
            # Rows may also go to other partitions, which keep their earlier rows.
            written = replace(written, outputs=(replace(written.outputs[0], overwritten=None),))
    return written


def write_made(command: JvmCommand, mode: WriteMode | None = None) -> WrittenOutputs:
    """Describe CREATE TABLE … AS SELECT and similar commands of a V2 catalog, which has the table by now."""
    plan, table = command.plan, command.subject
    name = plan.name()
    entry = named(command.context, name.catalog(), name.identifier(), table)
    output = table_output(entry, mode or made_mode(command), table)
    if output.mode is WriteMode.CREATE and plan.ignoreIfExists():
        output = replace(output, mode=WriteMode.IGNORE)
    return WrittenOutputs((output,))


def made_mode(command: JvmCommand) -> WriteMode:
    """Return the mode of a command that makes a table from a query."""
    return WriteMode.CREATE if command.name == "CreateTableAsSelect" else WriteMode.REPLACE


def row_level(command: JvmCommand) -> WrittenOutputs:
    """Describe MERGE, UPDATE and DELETE of a V2 table, as Spark rewrites them."""
    relation = command.plan.originalTable()
    entry = relation_table(command.context, relation)
    if entry is None:
        return WrittenOutputs(problem="a table without a name is changed")
    schema = json.loads(str(relation.schema().json()))
    return WrittenOutputs((table_output(entry, WriteMode.UPDATE, relation.table()),), schema=schema)


def unnamed(command: JvmCommand, table: Any, mode: WriteMode, *, part: str | None = None) -> PlanOutput:
    """Build the output for a V2 table without a catalog's name: a path, or (a `part` of) a Spark test sink."""
    # NoopTable, ConsoleTable, MemorySink.
    name, path = class_name(table).removesuffix("Table").removesuffix("Sink").lower(), command.path()
    if path is not None:
        return PlanOutput(dataset=naming.path(path), kind=SourceKind.FILE, type="FILE", mode=mode, format=name)
    dataset = command.context.in_memory(f"{name}.{part}" if part else name)
    return PlanOutput(dataset=dataset, kind=SourceKind.GENERATED, mode=mode, format=name)


def streamed_table(command: JvmCommand) -> CatalogEntry | None:
    """Return the catalog table that a streaming query with a V2 sink writes; None if its plan doesn't name it."""
    relation = streamed_relation(command.plan)
    return relation_table(command.context, relation) if relation is not None else None


def streaming_link(command: JvmCommand, kind: SourceKind) -> StreamingLink:
    """Return the streaming query, micro-batch and sink of a write."""
    number = option(command.plan.batchId())
    return StreamingLink(
        query_id=str(command.plan.queryId()),
        batch_id=None if number is None else int(number),
        sink=class_name(command.subject),
        sink_kind=kind,
    )


def continuous_sink(command: JvmCommand) -> str:
    """Return the sink's short name in a query with a continuous trigger: its plan has the write, and no table."""
    return class_name(command.subject).removesuffix("Write").removesuffix("Streaming")


def _micro_batch(command: JvmCommand) -> WrittenOutputs:
    """Describe a micro-batch's write to a V2 sink."""
    table, entry = command.subject, streamed_table(command)
    if entry is not None:
        return WrittenOutputs((table_output(entry, command.mode, table),))
    return WrittenOutputs((unnamed(command, table, command.mode),))


def _save(command: JvmCommand) -> WrittenOutputs:
    """Describe `save()` to a V1 source."""
    source, path, mode = class_name(command.subject), command.path(), command.mode
    if path:
        output = PlanOutput(dataset=naming.path(path), kind=SourceKind.UNKNOWN, mode=mode, format=source)
        return WrittenOutputs((replace(output, lifecycle=LIFECYCLES.get(mode)),))
    return WrittenOutputs(problem=f"what {source} writes isn't known")


def is_dynamic_overwrite(options: Any, context: SessionContext | None = None) -> bool:
    """Return True if an overwrite is dynamic: it replaces the partitions that get rows.

    The write's options decide, then the settings of the session of `context`.
    """
    chosen = setting(options, _OVERWRITE_MODE)
    if chosen is None and context is not None:
        chosen = context.conf(f"spark.sql.sources.{_OVERWRITE_MODE}")
    return (chosen or "").lower() == "dynamic"


def with_replaced(
    command: JvmCommand, written: WrittenOutputs, condition: Any, columns: tuple[str, ...] | None = None
) -> WrittenOutputs:
    """Add the condition that selects the replaced rows of the table.

    If the condition reads rows, the table is also an input.

    Args:
        written: description of the write; must have one output.
        condition: the JVM's resolved expression that selects the rows to be replaced.
        columns: the table's partition columns; None: the output's partition columns.
    """
    output = written.outputs[0]
    if output.mode is not WriteMode.OVERWRITE_PARTITIONS:
        return written
    try:
        nodes = json.loads(str(condition.toJSON()))
        by = output.partition_columns if columns is None else columns
        replaced = replaced_by(nodes, output.dataset, by, command.context.settings.literal_texts)
    except Exception as error:
        return unread_condition(written, error)
    if replaced:
        return replace(written, replaced=replaced, read=(_read(output),))
    return replace(written, outputs=(replace(output, overwritten=()),))


def unread_condition(written: WrittenOutputs, error: Exception) -> WrittenOutputs:
    """Add the problem that an overwrite's condition couldn't be read."""
    logger.debug("lineage capture: the condition of an overwrite couldn't be read", exc_info=error)
    return replace(written, problem=f"the condition of an overwrite couldn't be read ({type(error).__name__})")


def _read(output: PlanOutput) -> PlanInput:
    return PlanInput(
        dataset=output.dataset,
        kind=output.kind,
        type=output.type,
        storage=output.storage,
        symlinks=output.symlinks,
    )


def v1_table_as_select(command: JvmCommand, table: Any) -> WrittenOutputs:
    """Describe CREATE TABLE … AS SELECT, and `saveAsTable`. A missing location means Spark's default."""
    mode = command.mode
    location = table.storage().locationUri()
    identifier = table.identifier()
    database = option(identifier.database()) or "default"
    catalog = command.context.catalog
    if mode is WriteMode.IGNORE and not was_made(catalog, table):
        return WrittenOutputs()
    uri = of_uri(location.get() if location.isDefined() else catalog.defaultTablePath(identifier))
    found = command.context.table(f"{database}.{identifier.table()}", uri)
    storage = REGISTRY.v1_table(table).storage()
    mode = WriteMode.CREATE if mode in (WriteMode.ERROR_IF_EXISTS, WriteMode.IGNORE) else mode
    output = PlanOutput(
        dataset=found.ref,
        kind=SourceKind.TABLE,
        type="TABLE",
        mode=mode,
        format=storage.format if storage is not None else None,
        partition_columns=v1_partition_columns(table),
        storage=storage,
        symlinks=found.symlinks,
        lifecycle=LIFECYCLES.get(mode),
    )
    return WrittenOutputs((output,))


def view(command: JvmCommand) -> WrittenOutputs:
    """Describe CREATE VIEW; a temporary view is no dataset."""
    plan = command.plan
    if class_name(plan.viewType()) != "PersistedView":
        return WrittenOutputs()
    if plan.allowExisting() and not view_was_made(command.context, plan):
        return WrittenOutputs()
    mode = WriteMode.REPLACE if plan.replace() else WriteMode.CREATE
    return WrittenOutputs((_view(command, mode, LifecycleChange.CREATE),))


def view_altered(command: JvmCommand) -> WrittenOutputs:
    """Describe ALTER VIEW … AS."""
    return WrittenOutputs((_view(command, WriteMode.REPLACE, LifecycleChange.ALTER),))


def _view(command: JvmCommand, mode: WriteMode, lifecycle: LifecycleChange) -> PlanOutput:
    dataset = v1_name(command.plan.name(), command.context).ref
    return PlanOutput(dataset=dataset, kind=SourceKind.TABLE, type="VIEW", mode=mode, lifecycle=lifecycle)


def insert_into_source(command: JvmCommand) -> WrittenOutputs:
    """Describe INSERT INTO a table that a V1 source writes itself."""
    plan = command.plan
    mode = WriteMode.OVERWRITE if plan.overwrite() else WriteMode.APPEND
    table = option(plan.logicalRelation().catalogTable())
    if table is None:
        return WrittenOutputs(problem="the target of an insert into a source without a table's name isn't known")
    found = command.context.catalog_table(table)
    output = PlanOutput(dataset=found.ref, kind=SourceKind.TABLE, type="TABLE", mode=mode, symlinks=found.symlinks)
    return WrittenOutputs((replace(output, lifecycle=LIFECYCLES.get(mode)),))
