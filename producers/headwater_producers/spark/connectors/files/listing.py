"""Files that a batch plan reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.jvm.scala import class_name, items
from headwater_schemas.events import Certainty, FileSet, Position, TableSnapshot
from headwater_schemas.identity import manifest_digest

if TYPE_CHECKING:
    from headwater_producers.spark.plan.settings import PlanSettings

# Hadoop's `FileStatus` as text: LocatedFileStatus{path=file:/data/part-0.parquet; isDirectory=false; length=792; …
_PATH = re.compile(r"^\w+\{path=(.*?); isDirectory=", re.MULTILINE)


def root_paths(location: Any) -> list[str]:
    """The paths of a JVM `FileIndex`, as given to the reader, globs resolved."""
    return [str(path.toString()) for path in items(location.rootPaths())]


def format_name(file_format: Any) -> str:
    """The short name of a JVM `FileFormat`: `parquet`, also of Delta's own."""
    return class_name(file_format).removesuffix("FileFormat").removeprefix("Delta").lower()


def delta_version(location: Any) -> tuple[Position, Certainty] | None:
    """The version of a Delta table that a plan reads, as it was analyzed; None for other files."""
    match class_name(location):
        case "TahoeLogFileIndex" if not location.isTimeTravelQuery():
            # What it scans is settled again when the query is optimized: see `jvm.scan_positions`.
            snapshot = TableSnapshot(format="delta", snapshot_id=str(location.snapshotAtAnalysis().version()))
            return Position(table_snapshot=snapshot), Certainty.INFERRED
        case "TahoeLogFileIndex":
            version = location.snapshotAtAnalysis().version()
        case "TahoeBatchFileIndex" | "TahoeChangeFileIndex" | "CdcAddFileIndex":
            version = location.version()
        case _:
            return None
    snapshot = TableSnapshot(format="delta", snapshot_id=str(version))
    return Position(table_snapshot=snapshot), Certainty.EXACT


def file_set(location: Any, settings: PlanSettings) -> tuple[Position | None, Certainty | None]:
    """The files of a listing that Spark has made already; (None, None) where it would have to list them anew.

    A partitioned folder's listing is an UPPER_BOUND: a filter may leave partitions out.
    """
    if class_name(location) not in ("InMemoryFileIndex", "MetadataLogFileIndex"):
        return None, None
    listed = location.allFiles()
    count, size = int(listed.size()), int(location.sizeInBytes())
    certainty = Certainty.UPPER_BOUND if len(location.partitionSchema().fields()) else Certainty.EXACT
    # One round trip for all of them; py4j takes an array's elements one by one.
    paths = sorted(_PATH.findall(str(listed.mkString("\n")))) if count <= settings.max_files else []
    if len(paths) != count:
        return Position(files=FileSet(count=count, bytes=size)), certainty
    shown = tuple(paths[: settings.max_paths])
    return Position(
        files=FileSet(count=count, bytes=size, manifest_digest=manifest_digest(paths), paths=shown)
    ), certainty
