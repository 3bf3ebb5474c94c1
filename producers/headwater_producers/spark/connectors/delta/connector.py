"""Delta Lake connector: reads, writes, changes and logs of Delta's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import BatchLog, RangeRead, Scanned, StreamLog
from headwater_producers.spark.connectors.connector_questions import (
    CommandRun,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
    StreamSink,
)
from headwater_producers.spark.connectors.delta import commits, reads, writes
from headwater_producers.spark.connectors.delta.commands import CHANGES, COMMANDS
from headwater_producers.spark.connectors.delta.rows import OPERATORS
from headwater_producers.spark.connectors.delta.tables import TABLES, DeltaTable, DeltaV1Table
from headwater_producers.spark.events.left_writes import mark_of
from headwater_producers.spark.events.writes import Write
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.plan.description import DdlChange
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import WrittenOutputs

SINK: Final = "DeltaSink"
_USER_METADATA: Final = "spark.databricks.delta.commitInfo.userMetadata"


class Delta(Connector):
    """Connector of Delta Lake's tables, by path or in a catalog."""

    classes = frozenset(
        {
            *TABLES,
            *reads.INDEXES,
            *COMMANDS,
            *CHANGES,
            writes.DYNAMIC,
            "DeltaCDFRelation",
            "DeltaDataSource",
            SINK,
            "DeltaSource",
            "PreparedDeltaFileIndex",
        }
    )
    providers = frozenset({"delta"})
    offset = reads.OFFSET
    operators = OPERATORS

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        name = class_name(leaf.subject)
        if name in TABLES:
            return None
        if name == "DeltaCDFRelation":
            return reads.read_changes(leaf)
        return reads.read_stream(leaf) if name == "DeltaSource" else reads.read_version(leaf)

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        if (rule := COMMANDS.get(command.name)) is not None:
            return rule(command)
        match command.name:
            case "AppendData" | "OverwriteByExpression" | "OverwritePartitionsDynamic" | writes.DYNAMIC:
                return writes.to_table(command)
            case "CreateTableAsSelect" | "ReplaceTableAsSelect":
                return writes.of_query(command)
            case "SaveIntoDataSourceCommand":
                return writes.to_path(command)
            case "WriteToMicroBatchDataSourceV1":
                return writes.to_stream(command)
        return None

    def change(self, command: JvmCommand) -> tuple[DdlChange, ...] | None:
        rule = CHANGES.get(command.name)
        return rule(command) if rule is not None else None

    def scanned(self, scan: JvmScan) -> Scanned | None:
        is_prepared = class_name(scan.subject) == "PreparedDeltaFileIndex"
        return reads.scanned_version(scan) if is_prepared else None

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        return reads.read_range(source)

    def batch_log(self, run: CommandRun) -> BatchLog | None:
        return commits.batch_log(run)

    def left_alone(self, write: Write, *, staged: bool) -> bool | None:
        return commits.left_alone(write)

    def stream_log(self, sink: StreamSink) -> StreamLog | None:
        return commits.StreamedCommits(sink) if sink.name == SINK else None

    def sink_at(self, path: str, files: TextFiles) -> str | None:
        return f"{SINK}[{path}]" if TextFolder(path, files).names("_delta_log") else None

    def v1_table(self, table: Any) -> DeltaV1Table:
        return DeltaV1Table(table, "delta")

    def v2_table(self, table: Any) -> DeltaTable | None:
        return DeltaTable(table) if class_name(table) in TABLES else None

    def transaction(self, command: JvmCommand) -> tuple[str, int] | None:
        return commits.transaction_of(command)

    def mark_commits(self, session: Any, run_id: str) -> None:
        if session.conf.get(_USER_METADATA, None) is None:
            session.conf.set(_USER_METADATA, mark_of(run_id))

    def unmark_commits(self, session: Any, run_id: str) -> None:
        if session.conf.get(_USER_METADATA, None) == mark_of(run_id):
            session.conf.unset(_USER_METADATA)

    def hidden_plans(self, command: Any) -> Sequence[Any]:
        # Delta's MERGE shows neither of its two inner plans.
        return (command.target(), command.source()) if class_name(command) == "MergeIntoCommand" else ()
