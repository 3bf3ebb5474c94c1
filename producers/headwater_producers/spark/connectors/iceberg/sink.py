"""The snapshots of an Iceberg table that a streaming query writes, through py4j."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from headwater_producers.spark.connectors.stream_commits import SinkCommit
from headwater_producers.spark.connectors.versions import iceberg_counts, iceberg_snapshot

# Snapshots that one question looks at, others' included. A round trip or four each.
_MAX_SNAPSHOTS: Final = 200
# Micro-batches remembered.
_REMEMBERED: Final = 1_000
# What Iceberg's streaming write puts into the summary of each snapshot, and reads itself to write none twice.
_QUERY: Final = "spark.sql.streaming.queryId"
_EPOCH: Final = "spark.sql.streaming.epochId"


class IcebergSnapshots:
    """A table's snapshots, looked at once each, from the newest back.

    Args:
        table: the JVM's `SparkTable` that is the query's sink. The query's own commits make it current, so nothing is
            loaded for the question.
    """

    def __init__(self, table: Any) -> None:
        self._iceberg = table.table()
        self._branch = table.branch()
        self._found: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._seen: str | None = None

    def written(self, query_id: str, batch_id: int) -> SinkCommit | None:
        """The snapshot that a micro-batch has made; None where it isn't there (any more), or too far back."""
        if (query_id, batch_id) not in self._found:
            self._look(query_id)
        found = self._found.get((query_id, batch_id))
        snapshot = self._iceberg.snapshot(int(found)) if found is not None else None
        if snapshot is None:
            return None
        return SinkCommit(iceberg_snapshot(self._iceberg, snapshot), iceberg_counts(snapshot))

    def _look(self, query_id: str) -> None:
        branch = self._branch
        snapshot = self._iceberg.currentSnapshot() if branch is None else self._iceberg.snapshot(branch)
        newest = str(snapshot.snapshotId()) if snapshot is not None else None
        for _ in range(_MAX_SNAPSHOTS):
            if snapshot is None or str(snapshot.snapshotId()) == self._seen:
                break
            summary = snapshot.summary()
            if summary.get(_QUERY) == query_id:
                self._found.setdefault((query_id, int(summary.get(_EPOCH))), str(snapshot.snapshotId()))
            parent = snapshot.parentId()
            snapshot = self._iceberg.snapshot(parent) if parent is not None else None
        self._seen = newest
        while len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)
