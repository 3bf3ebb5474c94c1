"""Snapshots made by Iceberg's procedures (`CALL …`). Spark reports these procedures to no listener.

Each snapshot that Spark makes has the application's id, `app-id`. Snapshots of writes also have the id as
`spark.app.id`; snapshots of procedures don't. So the snapshots of the tables that this application uses show its
procedures. Tried with Iceberg 1.10: `rewrite_data_files`, `rewrite_manifests`, `add_files`, `publish_changes`.
`rollback_to_snapshot` and similar procedures make no snapshot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from headwater_producers.spark.connectors.connector_questions import unwrapped, written_table
from headwater_producers.spark.connectors.iceberg.connector import TABLE
from headwater_producers.spark.connectors.iceberg.snapshots import iceberg_added, iceberg_counts, iceberg_snapshot
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.scala import class_name, instant
from headwater_schemas.events import Position, TableSnapshot
from headwater_schemas.facets import AddedFiles

# Maximum number of remembered tables, and of snapshots read in one search, which takes one to three round trips.
_MAX_TABLES: Final = 100
_MAX_SNAPSHOTS: Final = 200


@dataclass(frozen=True, slots=True)
class ProcedureSnapshot:
    """Snapshot that a procedure has made.

    Attributes:
        table: the JVM's `SparkTable`.
        read: position of the input: for rewritten rows the previous snapshot, for a published snapshot the picked
            snapshot; None for files that the snapshot doesn't name.
        counts: rows, bytes and files added.
    """

    table: Any
    made: Position
    read: Position | None
    counts: Counts
    added: AddedFiles | None
    at: datetime


class ProcedureSnapshots:
    """Finder of procedures' snapshots, each found once.

    Args:
        application: Spark's id of the application.
        since: time before which snapshots are ignored.
    """

    def __init__(self, application: str, since: datetime) -> None:
        self._application = application
        self._since = int(since.timestamp() * 1000)
        self._tables: OrderedDict[str, Any] = OrderedDict()
        self._newest: dict[str, int] = {}
        self._found: set[int] = set()

    def of_plan(self, plan: Any) -> Iterator[ProcedureSnapshot]:
        """Yield new snapshots of the Iceberg tables that a JVM plan reads or writes.

        Takes some five round trips for each leaf.
        """
        tables = [written_table(plan)]
        tables += [leaf.table() for leaf in REGISTRY.leaves(plan) if class_name(leaf).startswith("DataSourceV2")]
        for table in (unwrapped(each) for each in tables if each is not None):
            if class_name(table) == TABLE:
                name = str(table.name())
                self._tables[name] = table
                self._tables.move_to_end(name)
                yield from self._of(name)
        while len(self._tables) > _MAX_TABLES:
            self._newest.pop(self._tables.popitem(last=False)[0], None)

    def of_tables(self) -> Iterator[ProcedureSnapshot]:
        """Yield new snapshots of all tables seen so far, from Iceberg's metadata in memory: nothing is loaded."""
        for name in list(self._tables):
            yield from self._of(name)

    def _of(self, name: str) -> Iterator[ProcedureSnapshot]:
        table = self._tables[name]
        iceberg = table.table()
        snapshot = iceberg.currentSnapshot()
        newest = int(snapshot.snapshotId()) if snapshot is not None else -1
        if self._newest.get(name) == newest:
            return
        new_snapshots = []
        for _ in range(_MAX_SNAPSHOTS):
            if snapshot is None or int(snapshot.timestampMillis()) < self._since:
                break
            number, summary = int(snapshot.snapshotId()), snapshot.summary()
            if number == self._newest.get(name):
                break
            is_ours = summary.get("app-id") == self._application and summary.get("spark.app.id") is None
            if is_ours and number not in self._found:
                self._found.add(number)
                new_snapshots.append(_described(table, iceberg, snapshot))
            parent = snapshot.parentId()
            snapshot = iceberg.snapshot(parent) if parent is not None else None
        self._newest[name] = newest
        yield from reversed(new_snapshots)


def _described(table: Any, iceberg: Any, snapshot: Any) -> ProcedureSnapshot:
    made = iceberg_snapshot(iceberg, snapshot)
    read = snapshot.summary().get("source-snapshot-id")
    if read is None and str(snapshot.operation()) == "replace":
        read = snapshot.parentId()
    source = (
        Position(table_snapshot=TableSnapshot(format="iceberg", snapshot_id=str(read))) if read is not None else None
    )
    at = instant(int(snapshot.timestampMillis()))
    return ProcedureSnapshot(table, made, source, iceberg_counts(snapshot), iceberg_added(iceberg, snapshot), at)
