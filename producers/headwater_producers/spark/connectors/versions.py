"""Which version of a table a batch write has made, by what the table's own log says.

Spark's plan doesn't hold it. So the commits are looked at that were made while the write ran, by this driver's clock.
Of Iceberg those that bear this application's id: one such commit is the one. Of Delta those of the write's kind: one
such commit is INFERRED to be the one, since a write that changes nothing commits nothing, and another application may
have written at that moment. Of several, nothing is claimed, but of an OPTIMIZE that says itself that it made so many. A
write that gave Delta a transaction, as idempotent ones in foreachBatch do, is known by that, also where Delta skipped
it because an earlier attempt had written it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.committed import Committed
from headwater_producers.spark.connectors.delta import commands as delta_commands
from headwater_producers.spark.connectors.delta.commits import MAX_COMMITS, committed_delta, delta_commits
from headwater_producers.spark.connectors.tables import loaded, unwrapped
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.paths import qualified
from headwater_producers.spark.jvm.scala import class_name, items, setting
from headwater_producers.spark.plan.partition import MAX_PARTITIONS
from headwater_schemas.events import Certainty, Position, TableSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

_OPERATIONS: Final = {
    "MergeIntoCommand": ("MERGE",),
    "UpdateCommand": ("UPDATE",),
    "DeleteCommand": ("DELETE",),
    "CreateTableAsSelect": ("CREATE TABLE AS SELECT",),
    "ReplaceTableAsSelect": ("REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT"),
    "OptimizeTableCommand": ("OPTIMIZE",),
    "DeltaReorgTableCommand": ("REORG",),
    "RestoreTableCommand": ("RESTORE",),
    "ConvertToDeltaCommand": ("CONVERT",),
    "VacuumTableCommand": ("VACUUM END",),
    "CreateDeltaTableCommand": ("CLONE",),
}
_WRITES: Final = ("WRITE", "CREATE TABLE AS SELECT", "REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT")


_BATCHED: Final = ("OptimizeTableCommand", "DeltaReorgTableCommand")
"""Commands that may make several commits."""


@dataclass(frozen=True, slots=True)
class Place:
    """What of a table with versions a plan writes: Iceberg's V2 table, or the folder of a Delta table, or neither."""

    iceberg: Any = None
    delta: str | None = None

    @property
    def has_versions(self) -> bool:
        """Whether it is one of the two."""
        return self.iceberg is not None or self.delta is not None


def committed(
    query_execution: Any,
    place: Place,
    session: Any,
    started_at: datetime,
    ended_at: datetime,
    columns: Collection[str],
) -> Committed | None:
    """The version that a successful write has made; None for what has no versions, and where it can't be told.

    Reads Delta's newest commits, and of Iceberg the snapshots in memory and one manifest or more.

    Args:
        query_execution: the write's.
        place: what it writes.
        session: that ran it.
        started_at: by this driver's clock.
        ended_at: by the same.
        columns: names of the table's columns; partitions by others aren't told.
    """
    plan = query_execution.analyzed()
    window = (int(started_at.timestamp() * 1000), int(ended_at.timestamp() * 1000) + 1)
    name = class_name(plan)
    if place.iceberg is not None:
        return _iceberg(place.iceberg, session, window)
    if place.delta is None:
        return None
    found = delta_commits(place.delta, _OPERATIONS.get(name, _WRITES), session, window, _transaction(plan, name))
    if not found:
        return None
    if len(found) > 1 and (name not in _BATCHED or delta_commands.batches(query_execution) != len(found)):
        return Committed(None, Certainty.UNKNOWN, Counts())
    return committed_delta(place.delta, found, session, columns)


def written_place(plan: Any, session: Any) -> Place:
    """What a plan writes, as far as it has versions. May ask a catalog."""
    name = class_name(plan)
    table = written_table(plan, name)
    if table is not None and class_name(table) in ("SparkTable", "StagedSparkTable"):
        return Place(iceberg=table)
    path = delta_commands.table_path(plan, name, session) or _delta_path(plan, name, table)
    return Place(delta=qualified(session.sparkContext, path) if path is not None else None)


def written_table(plan: Any, name: str) -> Any | None:
    """The V2 table that a plan, of the class `name`, writes; None of another plan."""
    match name:
        case (
            "AppendData"
            | "OverwriteByExpression"
            | "OverwritePartitionsDynamic"
            | "DeltaDynamicPartitionOverwriteCommand"
        ):
            return plan.table().table()
        case "ReplaceData" | "WriteDelta":
            return unwrapped(plan.originalTable().table())
        case "CreateTableAsSelect" | "ReplaceTableAsSelect":
            return loaded(plan.name().catalog(), plan.name().identifier())
    return None


def _delta_path(plan: Any, name: str, table: Any | None) -> str | None:
    if table is not None:
        return str(table.path().toString()) if class_name(table) == "DeltaTableV2" else None
    if name == "SaveIntoDataSourceCommand" and class_name(plan.dataSource()) == "DeltaDataSource":
        return setting(plan.options(), "path")
    if name in ("MergeIntoCommand", "UpdateCommand", "DeleteCommand"):
        for leaf in items(plan.target().collectLeaves()):
            if class_name(leaf) == "LogicalRelation":
                return str(leaf.relation().location().rootPaths().head().toString())
    return None


def _transaction(plan: Any, name: str) -> tuple[str, int] | None:
    """The application and version that an idempotent write to Delta bears."""
    match name:
        case "SaveIntoDataSourceCommand":
            options = plan.options()
        case "AppendData" | "OverwriteByExpression" | "OverwritePartitionsDynamic":
            options = plan.writeOptions()
        case _:
            return None
    application, version = setting(options, "txnAppId"), setting(options, "txnVersion")
    return (application, int(version)) if application is not None and version is not None else None


def _iceberg(table: Any, session: Any, window: tuple[int, int]) -> Committed | None:
    iceberg, branch = table.table(), table.branch()
    application = str(session.sparkContext.applicationId)
    snapshot = iceberg.currentSnapshot() if branch is None else iceberg.snapshot(branch)
    found = []
    for _ in range(MAX_COMMITS):
        if snapshot is None or int(snapshot.timestampMillis()) < window[0]:
            break
        if int(snapshot.timestampMillis()) <= window[1] and snapshot.summary().get("spark.app.id") == application:
            found.append(snapshot)
        parent = snapshot.parentId()
        snapshot = iceberg.snapshot(parent) if parent is not None else None
    if len(found) != 1:
        return None
    return Committed(iceberg_snapshot(iceberg, found[0]), Certainty.EXACT, iceberg_counts(found[0]))


def iceberg_snapshot(iceberg: Any, snapshot: Any) -> Position:
    """An Iceberg snapshot that was written: id, parent, operation and the partitions that got files."""
    parent = snapshot.parentId()
    return Position(
        table_snapshot=TableSnapshot(
            format="iceberg",
            snapshot_id=str(snapshot.snapshotId()),
            parent_id=None if parent is None else str(parent),
            operation=str(snapshot.operation()),
            partitions=_partitions(iceberg, snapshot),
        )
    )


def iceberg_counts(snapshot: Any) -> Counts:
    """What an Iceberg snapshot says that it added."""
    summary = snapshot.summary()
    number = {key: int(value) if (value := summary.get(key)) is not None else None for key in _ADDED}
    rows, size, files = (number[key] for key in _ADDED)
    return Counts(rows=rows, bytes=size, files=files)


_ADDED: Final = ("added-records", "added-files-size", "added-data-files")


def _partitions(iceberg: Any, snapshot: Any) -> tuple[str, ...]:
    changed = snapshot.summary().get("changed-partition-count")
    if not iceberg.spec().isPartitioned() or changed is None or int(changed) > MAX_PARTITIONS:
        return ()
    paths: set[str] = set()
    files = snapshot.addedDataFiles(iceberg.io()).iterator()
    for _ in range(10 * MAX_PARTITIONS):
        if not files.hasNext():
            return tuple(sorted(paths))
        file = files.next()
        paths.add(str(iceberg.specs().get(file.specId()).partitionToPath(file.partition())))
    return ()
