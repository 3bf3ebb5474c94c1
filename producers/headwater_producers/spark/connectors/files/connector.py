"""Connector of files that Spark reads and writes itself, as folders or as tables of its own catalog."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote

from headwater_producers.spark.common.errors import UnknownOriginError
from headwater_producers.spark.connectors.catalog.partitions import specification, written_partition
from headwater_producers.spark.connectors.catalog.tables import v1_output
from headwater_producers.spark.connectors.catalog.writes import is_dynamic_overwrite
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import CommittedVersion, RangeRead, Scanned, StreamLog
from headwater_producers.spark.connectors.connector_questions import (
    CheckpointSource,
    CommandRun,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
    StreamSink,
    is_ignoring,
    write_mode,
)
from headwater_producers.spark.connectors.files.log import SOURCE, SinkLog, a_file, log_offset, source_files
from headwater_producers.spark.connectors.files.manifest import Manifests
from headwater_producers.spark.connectors.files.reads import (
    chosen_files,
    format_name,
    listed_files,
    read_files,
    whole_schema,
)
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.jvm.paths import qualified
from headwater_producers.spark.jvm.scala import class_name, items, option, private, setting
from headwater_producers.spark.plan.description import PlanInput, SourceKind, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.partition import path_partition
from headwater_producers.spark.plan.written import LIFECYCLES, WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import Certainty, DatasetRef, Position, Storage

logger = logging.getLogger(__name__)

SINK: Final = "FileSink"
_RELATION: Final = "HadoopFsRelation"
_UNSTARTED: Final = "DataSource"
_STREAM: Final = "FileStreamSink"
_INSERT: Final = "InsertIntoHadoopFsRelationCommand"
_LISTINGS: Final = frozenset({"InMemoryFileIndex", "CatalogFileIndex", "MetadataLogFileIndex"})


class FileFolders(Connector):
    """Connector of folders of files, and of tables of Spark's own catalog in such folders."""

    classes = frozenset({SINK, _RELATION, SOURCE, _UNSTARTED, _STREAM, _INSERT, *_LISTINGS})
    offset = frozenset({"logOffset"})
    needs_start = True
    opens = {_RELATION: "location"}  # noqa: RUF012 - shared by all instances

    def __init__(self) -> None:
        self._manifests = Manifests()

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        name = class_name(leaf.subject)
        if name == _RELATION:
            file_format = format_name(leaf.subject.fileFormat())
            storage, schema = Storage("file", file_format), whole_schema(leaf, file_format)
            return read_files(leaf, listed_files(leaf), storage=storage, schema=schema)
        if name == SOURCE:
            # FileStreamSource[file:/data/flights]
            return _streamed(leaf, str(leaf.subject.toString()).partition("[")[2].removesuffix("]"))
        # A V1 source of a streaming query that hasn't been started.
        path = setting(leaf.subject.options(), "path")
        if path is None:
            return Leaf(problem=f"what a stream of {leaf.plan.sourceName()} reads isn't known")
        return _streamed(leaf, qualified(leaf.context.session.sparkContext, path))

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        return _insert(command) if command.name == _INSERT else _sink(command)

    def scanned(self, scan: JvmScan) -> Scanned | None:
        return Scanned(chosen=chosen_files(scan))

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        # A user-defined source may also use `logOffset`.
        is_own = not source.description or source.description.startswith(SOURCE)
        if not is_own or (up_to := log_offset(source.end)) is None or (folder := source.folder) is None:
            return None
        files = source_files(folder, log_offset(source.start), up_to)
        return (RangeRead(position=Position(files=files), certainty=Certainty.EXACT),) if files is not None else None

    def origin(self, source: CheckpointSource) -> tuple[PlanInput, ...] | None:
        if source.given is not None or (up_to := log_offset(source.end)) is None:
            return None
        dataset = _folder(source, a_file(source.folder, up_to))
        return (PlanInput(dataset=dataset, kind=SourceKind.FILE, source_index=source.index),)

    def manifest(self, run: CommandRun, counts: Counts) -> CommittedVersion | None:
        return self._manifests.of_run(run, counts) if run.command.name == _INSERT else None

    def left_alone(self, write: Write, *, staged: bool) -> bool | None:
        if write.description.command != _INSERT or not is_ignoring(write.description):
            return None
        # Even a write without rows writes a file.
        return write.written.files == 0

    def stream_log(self, sink: StreamSink) -> StreamLog | None:
        return SinkLog(sink.folder) if sink.name == SINK else None

    def sink_at(self, path: str, files: TextFiles) -> str | None:
        # Any format without a log of its own.
        return f"{SINK}[{path}]"


def _folder(source: CheckpointSource, path: str | None) -> DatasetRef:
    """Return the source's deepest candidate folder that holds the file at `path`."""
    if path is None:
        raise UnknownOriginError(source.index, "files, none of them taken yet", source.known)
    # Spark logs the files of a file source percent-encoded (`SparkPath.urlEncoded`).
    file = naming.path(unquote(path))
    above = [
        each
        for each in source.known
        if each.namespace == file.namespace and f"{file.name}/".startswith(f"{each.name.rstrip('/')}/")
    ]
    if not above:
        raise UnknownOriginError(source.index, f"files such as {path}", source.known)
    return max(above, key=lambda each: len(each.name))


def _streamed(leaf: JvmLeaf, path: str) -> Leaf:
    read = PlanInput(
        dataset=naming.path_pattern(path),
        kind=SourceKind.FILE,
        type="FILE",
        schema=leaf.schema(),
        source_index=leaf.index,
    )
    return Leaf(inputs=(read,))


def _insert(command: JvmCommand) -> WrittenOutputs:
    """Describe a batch write of files to a folder, which may be a table's."""
    plan = command.plan
    table = option(plan.catalogTable())
    file_format = format_name(plan.fileFormat())
    partitions = tuple(str(attribute.name()) for attribute in items(plan.partitionColumns()))
    path = str(plan.outputPath().toString())
    static = plan.staticPartitions()
    spec = specification(static) if not static.isEmpty() else ()
    folder = path_partition(path) if table is None else ()
    mode, is_dynamic = _mode(command, naming.path(path), static=bool(spec), partitioned=bool(partitions))
    output = replace(
        v1_output(command.context, table, path, mode, file_format, Storage("file", file_format)),
        partition_columns=partitions,
        partition=(*folder, *written_partition(spec, partitions, command)),
        overwritten=() if is_dynamic else (*folder, *spec) or None,
        lifecycle=LIFECYCLES.get(mode),
    )
    return WrittenOutputs((output,))


def _sink(command: JvmCommand) -> WrittenOutputs:
    """Describe a streaming query's write to files."""
    sink = command.subject
    # FileSink[file:/data/flights]
    path = str(sink.toString()).partition("[")[2].removesuffix("]")
    table = option(command.plan.catalogTable())
    file_format = format_name(private(sink, "fileFormat"))
    output = v1_output(command.context, table, path, command.mode, file_format, Storage("file", file_format))
    columns = tuple(str(name) for name in items(private(sink, "partitionColumnNames")))
    return WrittenOutputs((replace(output, partition_columns=columns),))


def _mode(command: JvmCommand, dataset: DatasetRef, *, static: bool, partitioned: bool) -> tuple[WriteMode, bool]:
    """Return the write mode, and True if an overwrite is dynamic (partitions that get rows).

    Args:
        dataset: the dataset at the write's path, or above it.
        static: True if the write names a partition.
        partitioned: True if the write has partition columns.
    """
    plan, context = command.plan, command.context
    mode = write_mode(plan.mode())
    if mode is not WriteMode.OVERWRITE:
        return mode, False
    if static and plan.ifPartitionNotExists():
        return WriteMode.IGNORE, False
    ran = _as_run(context.execution)
    is_dynamic = (
        bool(ran.dynamicPartitionOverwrite()) if ran is not None else is_dynamic_overwrite(plan.options(), context)
    )
    # A partition's folder belongs to the dataset of a folder above.
    is_whole = str(plan.outputPath().toUri().getPath()).endswith(f"/{dataset.name.strip('/')}")
    is_dynamic = is_dynamic and partitioned
    return WriteMode.OVERWRITE_PARTITIONS if static or is_dynamic or not is_whole else mode, is_dynamic


def _as_run(execution: Any) -> Any | None:
    """Return an execution's command, which keeps the settings that the session had when the command began.

    A running command isn't passed: it would keep the settings of capture's thread, if that thread reads them first.
    """
    if execution is None:
        return None
    try:
        node = execution.executedPlan()
        node = node.executedPlan() if class_name(node) == "AdaptiveSparkPlanExec" else node
        return node.cmd() if class_name(node) == "DataWritingCommandExec" else None
    except Exception:
        logger.debug("lineage capture: a command has no executed plan", exc_info=True)
        return None
