"""What streaming queries write, by the command at the root of their plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headwater_producers.spark.connectors import python_source
from headwater_producers.spark.connectors.command import JvmCommand, Written, topics_of, unnamed, write_mode
from headwater_producers.spark.connectors.files.listing import format_name
from headwater_producers.spark.connectors.kafka import options as kafka
from headwater_producers.spark.connectors.table_commands import table_output
from headwater_producers.spark.connectors.tables import iceberg_table, relation_table
from headwater_producers.spark.jvm.scala import class_name, items, option, private, setting
from headwater_producers.spark.plan.description import PlanOutput, SourceKind, StreamingLink, WriteMode
from headwater_schemas import naming
from headwater_schemas.events import Storage


def micro_batch(command: JvmCommand) -> Written:
    """A streaming query with a V2 sink."""
    plan = command.plan
    table, mode = plan.table(), write_mode(plan.outputMode())
    name = class_name(table)
    relation = option(plan.relation())
    entry = relation_table(command.context, relation) if relation is not None else None
    if entry is None and name == "SparkTable":
        entry = iceberg_table(command.context, table)
    if entry is not None:
        written = Written((table_output(entry, mode, table),))
    elif name == "KafkaTable":
        written = topics_of(command, plan.writeOptions(), mode)
    elif name == python_source.PYTHON_TABLE:
        written = Written((python_source.written(command.context, table, plan.writeOptions(), mode),))
    else:
        path = setting(plan.writeOptions(), "path")
        # A memory sink's table goes by the name of its query, and an application may have several.
        query = setting(plan.writeOptions(), "queryName") if name == "MemorySink" else None
        sink = unnamed(command, table, path, mode, part=query)
        written = Written((sink,)) if not name.startswith("Foreach") else Written()
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
            mode=write_mode(plan.outputMode()),
            format=file_format,
            partition_columns=tuple(str(name) for name in items(private(sink, "partitionColumnNames"))),
            storage=Storage("file", file_format),
            symlinks=named.symlinks if named else (),
        )
        return Written((output,), streaming=_link(plan, name, output.kind))
    if name == "DeltaSink":
        return Written((_delta(command, sink),), streaming=_link(plan, name, SourceKind.TABLE))
    problem = f"what {name} writes isn't known"
    return Written(problem=problem, streaming=_link(plan, name, SourceKind.UNKNOWN))


def continuous(command: JvmCommand) -> Written:
    """A streaming query with a continuous trigger: its plan has the write, and the table no more."""
    write = command.plan.write()
    name = class_name(write).removesuffix("Write").removesuffix("Streaming")
    if name != "Kafka":
        if name not in ("Console", "Memory", "Noop"):
            # foreach among them, which writes no dataset.
            return Written(streaming=StreamingLink(sink=name, sink_kind=SourceKind.CALLBACK))
        dataset = command.context.in_memory(name.lower())
        output = PlanOutput(dataset=dataset, kind=SourceKind.GENERATED, mode=WriteMode.APPEND, format=name.lower())
        return Written((output,), streaming=StreamingLink(sink=name, sink_kind=output.kind))
    params = private(write, "producerParams")
    servers = str(params.get("bootstrap.servers"))
    cluster_id = command.context.cluster_id(servers, lambda: kafka.connection_of(params, prefix=""))
    topic = option(private(write, "topic"))
    topics = [str(topic)] if topic is not None else sorted(command.topics or ())
    named = (command.context.topic(servers, each, cluster_id) for each in topics)
    outputs = tuple(
        PlanOutput(
            dataset=each.ref,
            kind=SourceKind.KAFKA,
            type="TOPIC",
            mode=WriteMode.APPEND,
            format="kafka",
            symlinks=each.symlinks,
        )
        for each in named
    )
    problem = None if topics else kafka.CHOSEN_BY_ROWS
    return Written(outputs, problem, streaming=StreamingLink(sink=name, sink_kind=SourceKind.KAFKA))


def _delta(command: JvmCommand, sink: Any) -> PlanOutput:
    # DeltaSink[file:/data/flights]
    path = str(sink.toString()).partition("[")[2].removesuffix("]")
    table = option(command.plan.catalogTable())
    named = command.context.catalog_table(table) if table is not None else None
    return PlanOutput(
        dataset=named.ref if named else naming.path(path),
        kind=SourceKind.TABLE,
        type="TABLE" if named else "FILE",
        mode=write_mode(command.plan.outputMode()),
        format="delta",
        storage=Storage("delta", "parquet"),
        symlinks=named.symlinks if named else (),
    )


def _link(plan: Any, sink: str, kind: SourceKind) -> StreamingLink:
    number = option(plan.batchId())
    return StreamingLink(
        query_id=str(plan.queryId()),
        batch_id=None if number is None else int(number),
        sink=sink,
        sink_kind=kind,
    )
