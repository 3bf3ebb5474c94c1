"""What a V2 scan has settled on when it ran: the snapshot of a table, the offsets of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.rdd import made_of
from headwater_producers.spark.connectors.tables import unwrapped
from headwater_producers.spark.jvm.scala import class_name, items, private
from headwater_schemas import naming
from headwater_schemas.events import KafkaRanges, OffsetRange, Position, TableSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# A topic of more partitions isn't worth so many round trips: its position stays unknown.
_MAX_RANGES: Final = 1_000


def scan_positions(scan_exec: Any) -> Mapping[str, Position]:
    """Positions by the names of their datasets, of a JVM scan that has run; empty where there are none."""
    match class_name(scan_exec):
        case "FileSourceScanExec":
            return _delta(scan_exec.relation().location())
        case "RowDataSourceScanExec":
            return _kafka_v1(scan_exec) if class_name(scan_exec.relation()) == "KafkaRelation" else {}
        case "HiveTableScanExec":
            return {}
    scan = scan_exec.scan()
    match class_name(scan):
        case "SparkBatchQueryScan" | "SparkCopyOnWriteScan":
            return _iceberg(unwrapped(scan_exec.table()).table(), scan)
        case "KafkaScan":
            return _kafka(items(scan_exec.inputPartitions()))
    return {}


def _delta(location: Any) -> Mapping[str, Position]:
    if class_name(location) != "PreparedDeltaFileIndex":
        return {}
    position = Position(
        table_snapshot=TableSnapshot(format="delta", snapshot_id=str(location.preparedScan().version()))
    )
    return {naming.path(str(location.rootPaths().head().toString())).name: position}


def _iceberg(table: Any, scan: Any) -> Mapping[str, Position]:
    # The table itself has moved on by now where the write was into it; the report of the scan's planning hasn't.
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


def _kafka_v1(scan_exec: Any) -> Mapping[str, Position]:
    # Of a reader without V2, which is Spark's default: the offsets are those of the RDD that it was planned as.
    sources = list(made_of(scan_exec.rdd(), "KafkaSourceRDD"))
    return _kafka(sources[0].partitions()) if len(sources) == 1 else {}


def _kafka(partitions: Iterable[Any]) -> Mapping[str, Position]:
    read: dict[str, list[OffsetRange]] = {}
    for number, partition in enumerate(partitions):
        if number >= _MAX_RANGES:
            return {}
        offsets = partition.offsetRange()
        topic = offsets.topicPartition()
        found = OffsetRange(int(topic.partition()), int(offsets.fromOffset()), int(offsets.untilOffset()))
        read.setdefault(str(topic.topic()), []).append(found)
    # "earliest" and "latest" are negative, and become numbers only in the tasks: then nothing is known here.
    return {
        topic: Position(kafka=KafkaRanges(topic, _joined(ranges)))
        for topic, ranges in read.items()
        if all(min(each.from_, each.to_exclusive) >= 0 for each in ranges)
    }


def _joined(ranges: list[OffsetRange]) -> tuple[OffsetRange, ...]:
    """One range a partition: `minPartitions` reads a partition in several pieces, next to each other."""
    whole: dict[int, OffsetRange] = {}
    for each in sorted(ranges):
        first = whole.get(each.partition, each)
        whole[each.partition] = OffsetRange(each.partition, first.from_, each.to_exclusive)
    return tuple(whole.values())
