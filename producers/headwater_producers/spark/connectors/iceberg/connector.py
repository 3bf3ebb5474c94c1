"""Iceberg connector: answers to each question about Iceberg's tables.

A streaming offset is

    {"version": 1, "snapshot_id": 8271…, "position": 3, "scan_all_files": false}

A bound of a range is the snapshot and the number of its files that have been read, `8271…:3`; the offset doesn't have
the total number. Snapshot -1, and the first snapshot with 0 files read, are the table's beginning: None. For a query's
first snapshot (`scan_all_files`), the files are those of the whole table at that time. A source's first offset is in a
checkpoint's `sources/<i>/offsets/0`, as JSON without a version line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from py4j.java_gateway import is_instance_of

from headwater_producers.spark.connectors.catalog.ddl import of_v2, resolved
from headwater_producers.spark.connectors.catalog.tables import (
    CatalogEntry,
    read_table,
    relation_table,
    table_output,
)
from headwater_producers.spark.connectors.catalog.writes import streamed_table
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import BatchLog, RangeRead, Scanned, StreamLog, V2Table
from headwater_producers.spark.connectors.connector_questions import (
    CommandRun,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
    StreamSink,
    unwrapped,
)
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.iceberg.catalogs import iceberg_catalog
from headwater_producers.spark.connectors.iceberg.snapshots import MARK, IcebergCommits, IcebergSnapshots
from headwater_producers.spark.jvm.scala import class_name, kept, private, statics
from headwater_producers.spark.plan.description import DdlChange
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    LifecycleChange,
    Position,
    Storage,
    TableRange,
    TableSnapshot,
)
from headwater_schemas.naming.tables import Catalog

TABLE: Final = "SparkTable"
_ENVIRONMENT: Final = "org.apache.iceberg.EnvironmentContext"
_STAGED: Final = "StagedSparkTable"
_SCANS: Final = frozenset({"SparkBatchQueryScan", "SparkCopyOnWriteScan"})
_ALTERS: Final = frozenset(
    {
        "AddPartitionField",
        "CreateOrReplaceBranch",
        "CreateOrReplaceTag",
        "DropBranch",
        "DropIdentifierFields",
        "DropPartitionField",
        "DropTag",
        "ReplacePartitionField",
        "SetIdentifierFields",
        "SetWriteDistributionAndOrdering",
    }
)
"""Iceberg's own DDL commands; their plans have the table's name as the statement spells it."""
_REWRITES: Final = "default_cache_iceberg"
"""Iceberg's internal catalog, in which its maintenance procedures rewrite tables; they commit later, or never."""
_OFFSET: Final = frozenset({"version", "snapshot_id", "position", "scan_all_files"})
# Suffix in Iceberg's SparkCatalog that selects a branch, a tag, a snapshot or a time.
_SELECTOR: Final = re.compile(r"(?P<table>.+)\.(branch|tag|snapshot_id|at_timestamp)_[^.]+")


class IcebergTable(V2Table):
    """Iceberg table: a JVM `SparkTable`."""

    def own_name(self, name: str) -> str:
        """Return the name without branch or snapshot: `db.flights` for `db.flights.branch_audit`."""
        found = _SELECTOR.fullmatch(name)
        if found is None:
            return name
        # A real table may also have such a name.
        is_selected = self.table.branch() is not None or self.table.snapshotId() is not None
        return found["table"] if is_selected else name

    def branch(self) -> str | None:
        """Branch that is written: `audit` in `db.flights.branch_audit`."""
        branch = self.table.branch()
        return None if branch is None else str(branch)

    def was_made(self, is_since_start: Callable[[int], bool]) -> bool:
        # A newly created table has metadata without predecessors.
        metadata = self.table.table().operations().current()
        is_first = metadata.previousFiles().isEmpty()
        return bool(is_first) and is_since_start(int(metadata.lastUpdatedMillis()))

    def is_first_version(self) -> bool:
        return bool(self.table.table().operations().current().previousFiles().isEmpty())


class Iceberg(Connector):
    """Connector of Apache Iceberg's tables."""

    classes = frozenset({TABLE, _STAGED, *_SCANS, *_ALTERS})
    offset = _OFFSET

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        table = leaf.subject
        if class_name(table) != TABLE:
            return None
        if leaf.is_streamed:
            streamed = iceberg_table(leaf.context, table)
            return leaf.table(streamed.dataset, streamed.storage, streamed.symlinks, leaf.schema())
        entry = relation_table(leaf.context, leaf.relation)
        if entry is None:
            return None
        if _is_metadata(leaf.context, table):
            # db.flights.snapshots: its rows describe the table's files, and aren't rows of the table.
            metadata_name = str(kept(leaf.relation, "table").name()).rsplit(".", 1)[-1]
            dataset = DatasetRef(entry.dataset.namespace, f"{entry.dataset.name}.{metadata_name}")
            batch = leaf.batch()
            return batch.table(dataset, entry.storage, entry.symlinks, batch.schema())
        return read_table(leaf, entry, is_whole=table.snapshotId() is None)

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        if command.name == "WriteToMicroBatchDataSource":
            table = command.subject
            entry = streamed_table(command) or iceberg_table(command.context, table)
            return WrittenOutputs((table_output(entry, command.mode, table),))
        if command.name in ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic"):
            written = relation_table(command.context, command.plan.table())
            return WrittenOutputs() if written is not None and written.catalog == _REWRITES else None
        return None

    def change(self, command: JvmCommand) -> tuple[DdlChange, ...] | None:
        if command.name not in _ALTERS:
            return None
        catalog, identifier = resolved(command.plan.table(), command.context)
        return (of_v2(catalog, identifier, command.context, LifecycleChange.ALTER),)

    def scanned(self, scan: JvmScan) -> Scanned | None:
        if class_name(scan.subject) not in _SCANS:
            return None
        return Scanned(positions=_scanned(unwrapped(scan.node.table()).table(), scan.subject))

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        if not is_offset(source.end):
            return None
        start, to = _start(source), _bound(source.end)
        if to is None:
            return (RangeRead.opaque(start, source.end),)
        changes = TableRange(format="iceberg", from_=_bound(start) if is_offset(start) else None, to=to)
        known = start is not None or source.from_beginning
        certainty = Certainty.EXACT if known else Certainty.UPPER_BOUND
        return (RangeRead(position=Position(table_range=changes), certainty=certainty),)

    def batch_log(self, run: CommandRun) -> BatchLog | None:
        table = run.command.subject
        return IcebergCommits(table, run) if class_name(table) in (TABLE, _STAGED) else None

    def stream_log(self, sink: StreamSink) -> StreamLog | None:
        return IcebergSnapshots(sink.sink) if sink.sink is not None else None

    def mark_commits(self, session: Any, run_id: str) -> None:
        statics(session, _ENVIRONMENT).put(MARK, run_id)

    def unmark_commits(self, session: Any, run_id: str) -> None:
        if (environment := statics(session, _ENVIRONMENT)).get().get(MARK) == run_id:
            environment.remove(MARK)

    def catalog(self, context: SessionContext, name: str) -> Catalog | None:
        return iceberg_catalog(context, name)

    def v2_table(self, table: Any) -> V2Table | None:
        return IcebergTable(table) if class_name(table) == TABLE else None


def iceberg_table(context: SessionContext, table: Any) -> CatalogEntry:
    """Name a streamed Iceberg table by its own metadata, because a stream's plan has no table name."""
    catalog, _, name = str(table.name()).partition(".")
    names = iceberg_catalog(context, catalog)
    found = context.table(name, str(table.table().location()), catalog=catalog, names=names)
    return CatalogEntry(found.ref, found.symlinks, "iceberg", Storage("iceberg"))


def is_offset(offset: Any) -> bool:
    """Return True if this is an offset of Iceberg's source."""
    return isinstance(offset, dict) and offset.keys() >= _OFFSET


def _start(source: SourceOffsets) -> Any:
    """Return the start offset of a micro-batch; for a query's first one, from the source's log in the checkpoint."""
    if source.start is not None or (folder := source.folder) is None:
        return source.start
    text = folder.read("offsets/0")
    return json.loads(text) if text is not None else None


def _bound(offset: dict[str, Any]) -> str | None:
    snapshot, position = int(offset["snapshot_id"]), int(offset["position"])
    if snapshot < 0 or (position == 0 and offset["scan_all_files"]):
        return None
    return f"{snapshot}:{position}"


def _is_metadata(context: SessionContext, table: Any) -> bool:
    """Return True if a V2 table is one of Iceberg's metadata tables: `db.flights.snapshots`."""
    gateway = context.session.sparkContext._gateway
    return bool(is_instance_of(gateway, table.table(), "org.apache.iceberg.BaseMetadataTable"))


def _scanned(table: Any, scan: Any) -> dict[str, Position]:
    # The table may have a newer snapshot by now; the scan's planning report has the one that was read.
    report = private(scan, "scanReportSupplier").get()
    if report is None or int(report.snapshotId()) < 0:
        return {}
    snapshot = table.snapshot(report.snapshotId())
    parent = snapshot.parentId() if snapshot is not None else None
    position = Position(
        table_snapshot=TableSnapshot(
            format="iceberg",
            snapshot_id=str(report.snapshotId()),
            parent_id=None if parent is None else str(parent),
            operation=str(snapshot.operation()) if snapshot is not None else None,
        )
    )
    return {naming.path(str(table.location())).name: position}
