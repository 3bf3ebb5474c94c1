"""What each class of command writes: one table, a function for each.

A function is given the command and the lineage of the query's columns by name (the constants of a column `topic` say
which topics are written), and tells the outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from headwater_producers.spark.plan.column import Column, DataType
from headwater_producers.spark.plan.description import PlanOutput, SourceKind, StreamingLink, WriteMode
from headwater_producers.spark.plan.jvm import kafka
from headwater_producers.spark.plan.jvm.context import Context
from headwater_producers.spark.plan.jvm.files import format_name
from headwater_producers.spark.plan.jvm.scala import class_name, items, option, private, setting
from headwater_schemas import naming
from headwater_schemas.events import LifecycleChange, Storage

_MODES = {
    "Append": WriteMode.APPEND,
    "Overwrite": WriteMode.OVERWRITE,
    "ErrorIfExists": WriteMode.ERROR_IF_EXISTS,
    "Ignore": WriteMode.IGNORE,
    "Update": WriteMode.UPDATE,
    "Complete": WriteMode.COMPLETE,
}
_LIFECYCLES = {
    WriteMode.OVERWRITE: LifecycleChange.OVERWRITE,
    WriteMode.CREATE: LifecycleChange.CREATE,
    WriteMode.REPLACE: LifecycleChange.OVERWRITE,
}


@dataclass(frozen=True, slots=True)
class JvmCommand:
    """A command at the root of a JVM plan.

    Attributes:
        plan: the command.
        context: see there.
        columns: lineage of the query's columns by name; empty where it couldn't be read.
    """

    plan: Any
    context: Context
    columns: Mapping[str, Column]

    @property
    def topics(self) -> frozenset[str] | None:
        """What a column `topic` can hold, where that is known."""
        column = self.columns.get("topic")
        return column.constants if column else None


@dataclass(frozen=True, slots=True)
class Written:
    """What a command writes.

    Attributes:
        outputs: the datasets, without schema.
        problem: what isn't known of them, as a sentence.
        streaming: where the command is a streaming query's.
    """

    outputs: tuple[PlanOutput, ...] = ()
    problem: str | None = None
    streaming: StreamingLink | None = None


def query_schema(plan: Any) -> DataType:
    """The schema of what the command writes, or of the query itself."""
    for accessor in ("query", "plan") if plan.schema().isEmpty() else ():
        try:
            return json.loads(getattr(plan, accessor)().schema().json())
        except Exception:  # noqa: S112 - py4j tells a missing method only when it is called
            continue
    return json.loads(plan.schema().json())


def files(command: JvmCommand) -> Written:
    """Files of a folder, which may be a table's."""
    plan = command.plan
    mode, table = _mode(plan.mode()), option(plan.catalogTable())
    if mode is WriteMode.OVERWRITE and (setting(plan.options(), "partitionOverwriteMode") or "").lower() == "dynamic":
        mode = WriteMode.OVERWRITE_PARTITIONS
    file_format = format_name(plan.fileFormat())
    partitions = tuple(str(attribute.name()) for attribute in items(plan.partitionColumns()))
    named = command.context.catalog_table(table) if table is not None else None
    output = PlanOutput(
        dataset=named.ref if named else naming.path(str(plan.outputPath().toString())),
        kind=SourceKind.TABLE if named else SourceKind.FILE,
        type="TABLE" if named else "FILE",
        mode=mode,
        format=file_format,
        partition_columns=partitions,
        storage=Storage("file", file_format),
        symlinks=named.symlinks if named else (),
        lifecycle=_LIFECYCLES.get(mode),
    )
    return Written((output,))


def table_as_select(command: JvmCommand) -> Written:
    """CREATE TABLE … AS SELECT, and `saveAsTable`. Without a location of its own it is where Spark will put it."""
    plan = command.plan
    table = plan.table()
    mode = _mode(plan.mode())
    location = table.storage().locationUri()
    identifier = table.identifier()
    database = option(identifier.database()) or "default"
    if location.isDefined():
        uri = str(location.get().toString())
    else:
        catalog = command.context.session._jsparkSession.sessionState().catalog()
        uri = str(catalog.defaultTablePath(identifier).toString())
    named = command.context.table(f"{database}.{identifier.table()}", uri)
    provider = option(table.provider())
    mode = WriteMode.CREATE if mode in (WriteMode.ERROR_IF_EXISTS, WriteMode.IGNORE) else mode
    return Written(
        (
            PlanOutput(
                dataset=named.ref,
                kind=SourceKind.TABLE,
                type="TABLE",
                mode=mode,
                format=provider and str(provider),
                partition_columns=tuple(str(name) for name in items(table.partitionColumnNames())),
                storage=Storage("file", provider and str(provider)),
                symlinks=named.symlinks,
                lifecycle=_LIFECYCLES.get(mode),
            ),
        )
    )


def view(command: JvmCommand) -> Written:
    """CREATE VIEW; a temporary one is no dataset."""
    plan = command.plan
    if class_name(plan.viewType()) != "PersistedView":
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
    source, options, mode = class_name(plan.dataSource()), plan.options(), _mode(plan.mode())
    if source == "KafkaSourceProvider":
        return _topics(command, options, mode)
    if source == "JdbcRelationProvider":
        url, table = setting(options, "url"), setting(options, "dbtable")
        if url and table:
            dataset = naming.jdbc(url, table)
            output = PlanOutput(dataset=dataset, kind=SourceKind.JDBC, type="TABLE", mode=mode, format="jdbc")
            return Written((replace(output, lifecycle=_LIFECYCLES.get(mode)),))
    path = setting(options, "path")
    if path:
        output = PlanOutput(dataset=naming.path(path), kind=SourceKind.UNKNOWN, mode=mode, format=source)
        return Written((replace(output, lifecycle=_LIFECYCLES.get(mode)),))
    return Written(problem=f"what {source} writes isn't known")


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
    return Written((replace(output, lifecycle=_LIFECYCLES.get(mode)),))


def table_v2(command: JvmCommand) -> Written:
    """`writeTo(…)` and `save()` to a V2 table: append, overwrite by a condition, overwrite partitions."""
    plan = command.plan
    mode = {
        "AppendData": WriteMode.APPEND,
        "OverwriteByExpression": WriteMode.OVERWRITE,
        "OverwritePartitionsDynamic": WriteMode.OVERWRITE_PARTITIONS,
    }[class_name(plan)]
    relation = plan.table()
    table = relation.table()
    if class_name(table) == "KafkaTable":
        return _topics(command, plan.writeOptions(), mode)
    identifier, catalog = option(relation.identifier()), option(relation.catalog())
    if identifier is None:
        return Written((_unnamed(command, table, setting(plan.writeOptions(), "path"), mode),))
    location, provider = table.properties().get("location"), table.properties().get("provider")
    named = command.context.table(
        str(identifier.toString()),
        str(location) if location else None,
        catalog=str(catalog.name()) if catalog else None,
    )
    output = PlanOutput(
        dataset=named.ref,
        kind=SourceKind.TABLE,
        type="TABLE",
        mode=mode,
        format=str(provider) if provider else None,
        storage=Storage(str(provider)) if provider else None,
        symlinks=named.symlinks,
        lifecycle=_LIFECYCLES.get(mode),
    )
    return Written((output,))


def micro_batch(command: JvmCommand) -> Written:
    """A streaming query with a V2 sink."""
    plan = command.plan
    table, mode = plan.table(), _mode(plan.outputMode())
    name = class_name(table)
    if name == "KafkaTable":
        written = _topics(command, plan.writeOptions(), mode)
    else:
        path = setting(plan.writeOptions(), "path")
        written = Written((_unnamed(command, table, path, mode),)) if not name.startswith("Foreach") else Written()
    kind = written.outputs[0].kind if written.outputs else SourceKind.CALLBACK
    return replace(written, streaming=_link(plan, name, kind))


def micro_batch_v1(command: JvmCommand) -> Written:
    """A streaming query with a V1 sink: files, foreachBatch."""
    plan = command.plan
    sink = plan.sink()
    name = class_name(sink)
    if name == "ForeachBatchSink":
        return Written(streaming=_link(plan, name, SourceKind.CALLBACK))
    if name == "FileStreamSink":
        # FileSink[file:/data/flights]
        path = str(sink.toString()).partition("[")[2].removesuffix("]")
        table = option(plan.catalogTable())
        named = command.context.catalog_table(table) if table is not None else None
        file_format = format_name(private(sink, "fileFormat"))
        output = PlanOutput(
            dataset=named.ref if named else naming.path(path),
            kind=SourceKind.TABLE if named else SourceKind.FILE,
            type="TABLE" if named else "FILE",
            mode=_mode(plan.outputMode()),
            format=file_format,
            partition_columns=tuple(str(name) for name in items(private(sink, "partitionColumnNames"))),
            storage=Storage("file", file_format),
            symlinks=named.symlinks if named else (),
        )
        return Written((output,), streaming=_link(plan, name, output.kind))
    problem = f"what {name} writes isn't known"
    return Written(problem=problem, streaming=_link(plan, name, SourceKind.UNKNOWN))


def _topics(command: JvmCommand, options: Any, mode: WriteMode) -> Written:
    outputs, problem = kafka.sinks(options, command.context, mode=mode, topics=command.topics)
    return Written(tuple(outputs), problem)


def _unnamed(command: JvmCommand, table: Any, path: str | None, mode: WriteMode) -> PlanOutput:
    # Spark's own sinks for tests are NoopTable, ConsoleTable, MemorySink.
    name = class_name(table).removesuffix("Table").removesuffix("Sink").lower()
    if path is not None:
        return PlanOutput(dataset=naming.path(path), kind=SourceKind.FILE, type="FILE", mode=mode, format=name)
    return PlanOutput(dataset=command.context.in_memory(name), kind=SourceKind.GENERATED, mode=mode, format=name)


def _link(plan: Any, sink: str, kind: SourceKind) -> StreamingLink:
    number = option(plan.batchId())
    return StreamingLink(
        query_id=str(plan.queryId()),
        batch_id=None if number is None else int(number),
        sink=sink,
        sink_kind=kind,
    )


def _mode(mode: Any) -> WriteMode:
    return _MODES.get(str(mode.toString()), WriteMode.UNKNOWN)


SINKS: dict[str, Callable[[JvmCommand], Written]] = {
    "InsertIntoHadoopFsRelationCommand": files,
    "CreateDataSourceTableAsSelectCommand": table_as_select,
    "CreateViewCommand": view,
    "SaveIntoDataSourceCommand": data_source_v1,
    "InsertIntoDataSourceCommand": insert_into_source,
    "AppendData": table_v2,
    "OverwriteByExpression": table_v2,
    "OverwritePartitionsDynamic": table_v2,
    "WriteToMicroBatchDataSource": micro_batch,
    "WriteToMicroBatchDataSourceV1": micro_batch_v1,
}
