"""Snapshots of Iceberg tables, by batch commands and by streaming queries.

A snapshot's summary has the id of the application that made the snapshot. So a batch command's snapshot is the only one
that this application made while the command ran, by this driver's clock. Snapshots of a streaming query have the
query's id and the micro-batch's number, with which Iceberg avoids writing a micro-batch twice.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import CommittedVersion, SinkCommit
from headwater_producers.spark.connectors.connector_questions import CommandRun
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.scala import statics
from headwater_producers.spark.plan.column import DataType
from headwater_producers.spark.plan.partition import MAX_PARTITIONS
from headwater_producers.spark.plan.settings import MAX_PATHS
from headwater_schemas.events import Certainty, Position, TableSnapshot
from headwater_schemas.facets import AddedFiles

# Maximum number of snapshots read for a batch command, including other applications'; one to three round trips each.
_MAX_COMMITS: Final = 50
# Maximum number of snapshots read for one micro-batch, including other applications'. One to four round trips each.
_MAX_SNAPSHOTS: Final = 200
# Maximum number of remembered micro-batches.
_REMEMBERED: Final = 1_000
_ADDED: Final = ("added-records", "added-files-size", "added-data-files")
MARK: Final = "headwater.run"
"""Key of the application's run in a snapshot's summary, if snapshots are marked."""
_QUERY: Final = "spark.sql.streaming.queryId"
_EPOCH: Final = "spark.sql.streaming.epochId"


class IcebergCommits:
    """Snapshots of a table after a batch command; see `BatchLog`.

    Args:
        table: the JVM's `SparkTable`.
    """

    is_counted = True
    nothing: Counts | None = None

    def __init__(self, table: Any, run: CommandRun) -> None:
        self._table = table
        self._run = run

    def schema(self) -> DataType:
        """Return the table's newest schema, as Spark's JSON."""
        convert = statics(self._run.session, "org.apache.iceberg.spark.SparkSchemaUtil").convert
        return json.loads(str(convert(self._table.table().schema()).json()))

    def committed(self, columns: Collection[str]) -> CommittedVersion | None:
        """Return the snapshot that the command has committed; None if there are no or several candidates."""
        iceberg, (begin, end) = self._table.table(), self._run.window
        application = str(self._run.session.sparkContext.applicationId)
        found = []
        for snapshot in _newest_first(iceberg, self._table.branch(), _MAX_COMMITS):
            at = int(snapshot.timestampMillis())
            if at < begin:
                break
            if at <= end and snapshot.summary().get("spark.app.id") == application:
                found.append(snapshot)
        if len(found) != 1:
            return None
        return CommittedVersion(
            iceberg_snapshot(iceberg, found[0]),
            Certainty.EXACT,
            iceberg_counts(found[0]),
            added=iceberg_added(iceberg, found[0]),
        )


class IcebergSnapshots:
    """Snapshots of streaming queries, each read once, from the newest back; see `StreamLog`.

    Args:
        table: the JVM's `SparkTable` that is the query's sink. The query's own commits keep the metadata current, so
            nothing is loaded.
    """

    def __init__(self, table: Any) -> None:
        self._iceberg = table.table()
        self._branch = table.branch()
        self._found: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._seen: str | None = None

    def written(self, query_id: str, batch_id: int) -> SinkCommit | None:
        """Return the snapshot that a micro-batch has committed; None if it has expired, or is too far back."""
        if (query_id, batch_id) not in self._found:
            self._look(query_id)
        found = self._found.get((query_id, batch_id))
        snapshot = self._iceberg.snapshot(int(found)) if found is not None else None
        if snapshot is None:
            return None
        added = iceberg_added(self._iceberg, snapshot)
        return SinkCommit(iceberg_snapshot(self._iceberg, snapshot), iceberg_counts(snapshot), added=added)

    def _look(self, query_id: str) -> None:
        newest: str | None = None
        for snapshot in _newest_first(self._iceberg, self._branch, _MAX_SNAPSHOTS):
            number = str(snapshot.snapshotId())
            newest = newest or number
            if number == self._seen:
                break
            summary = snapshot.summary()
            if summary.get(_QUERY) == query_id:
                self._found.setdefault((query_id, int(summary.get(_EPOCH))), number)
        self._seen = newest
        while len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)


def _newest_first(iceberg: Any, branch: Any, limit: int) -> Iterator[Any]:
    snapshot = iceberg.currentSnapshot() if branch is None else iceberg.snapshot(branch)
    for _ in range(limit):
        if snapshot is None:
            return
        yield snapshot
        parent = snapshot.parentId()
        snapshot = iceberg.snapshot(parent) if parent is not None else None


def iceberg_snapshot(iceberg: Any, snapshot: Any) -> Position:
    """Return the position of a written Iceberg snapshot: id, parent, operation, and the partitions that got files."""
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
    """Return the rows, bytes and files that an Iceberg snapshot's summary counts as added."""
    summary = snapshot.summary()
    number = {key: int(value) if (value := summary.get(key)) is not None else None for key in _ADDED}
    rows, size, files = (number[key] for key in _ADDED)
    return Counts(rows=rows, bytes=size, files=files)


def iceberg_added(iceberg: Any, snapshot: Any) -> AddedFiles | None:
    """Return the data files that a snapshot added; None if its summary doesn't count any."""
    count = iceberg_counts(snapshot).files
    if not count:
        return None
    files = snapshot.addedDataFiles(iceberg.io()).iterator()
    paths: list[str] = []
    while len(paths) < MAX_PATHS and files.hasNext():
        # Since Iceberg 1.7 this method is named `location()`.
        paths.append(str(files.next().path()))
    return AddedFiles(count, tuple(sorted(paths)))


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
