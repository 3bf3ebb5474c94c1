"""Reads of files in a batch plan: the files, and their schema if the reader sees all columns.

A DatasetEvent's schema replaces the previous one. So a reader's schema is reported only if it is complete: a read of
two columns of a file, or of yesterday's version, must not remove the other columns.
"""

from __future__ import annotations

import re
from typing import Any, Final

from headwater_producers.spark.connectors.connector_questions import JvmLeaf, JvmScan
from headwater_producers.spark.events.writes import PartitionsRead
from headwater_producers.spark.jvm.scala import class_name, items, kept, option, pairs, private, setting
from headwater_producers.spark.jvm.versions import selected_directories
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, path_partition
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_schemas import naming
from headwater_schemas.events import Certainty, FileSet, Position, SchemaDefinition, Storage
from headwater_schemas.identity import manifest_digest

Read = tuple[Position | None, Certainty | None]

MAX_ROOTS: Final = 16
"""Maximum number of paths that are separate datasets: with more, their common folder is the dataset."""
# A file of a listed directory, as text: FileStatusWithMetadata(LocatedFileStatus{path=file:/data/day=1/part-0;
# isDirectory=…
_CHOSEN: Final = re.compile(r"\bFileStatusWithMetadata\(\w+\{path=(.*?); isDirectory=", re.DOTALL)
_SELF_DESCRIBING: Final = frozenset({"parquet", "orc", "avro"})
_WITHOUT_COLUMNS: Final = frozenset({"text", "binary"})
"""Formats whose columns Spark defines itself."""
_LOG_OF_TABLE: Final = "/_delta_log"
"""Part of the path of a Delta log, which is named as the table, but has other columns."""
# Hadoop's `FileStatus` as text: LocatedFileStatus{path=file:/data/part-0.parquet; isDirectory=false; length=792; …
_PATH: Final = re.compile(r"^\w+\{path=(.*?); isDirectory=", re.MULTILINE)


def format_name(file_format: Any) -> str:
    """Return the short name of a JVM `FileFormat`: `parquet`."""
    return class_name(file_format).removesuffix("FileFormat").lower()


def read_files(leaf: JvmLeaf, read: Read, *, storage: Storage, schema: SchemaDefinition | None) -> Leaf:
    """Describe a leaf as a read of a folder's or a table's files.

    Args:
        leaf: leaf of a JVM `HadoopFsRelation`.
        schema: columns of the files, if this reader sees all columns.
    """
    relation, table = leaf.subject, option(kept(leaf.plan, "catalogTable"))
    if table is not None:
        named = leaf.context.catalog_table(table)
        datasets, symlinks, kind = [named.ref], named.symlinks, SourceKind.TABLE
    else:
        paths = _root_paths(relation)
        if len(paths) > MAX_ROOTS:
            paths = [_common(paths)]
        datasets, symlinks, kind = list(dict.fromkeys(naming.path(p) for p in paths)), (), SourceKind.FILE
    # With several folders, the folder of each file isn't known here.
    position, certainty = read if len(datasets) == 1 else (None, None)
    return Leaf(
        inputs=tuple(
            PlanInput(
                dataset=dataset,
                kind=kind,
                type="TABLE" if kind is SourceKind.TABLE else "FILE",
                schema=schema,
                storage=storage,
                symlinks=symlinks,
                position=position,
                certainty=certainty,
            )
            for dataset in datasets
        )
    )


def _root_paths(relation: Any) -> list[str]:
    """List the root paths of a relation's file index, as given to the reader, with globs resolved."""
    return [str(path.toString()) for path in items(kept(kept(relation, "location"), "rootPaths"))]


def _common(paths: list[str]) -> str:
    steps = [path.split("/") for path in paths]
    shared = next(
        (i for i, column in enumerate(zip(*steps, strict=False)) if len(set(column)) > 1), min(map(len, steps))
    )
    return "/".join(steps[0][:shared])


def listed_files(leaf: JvmLeaf) -> Read:
    """Return the files of Spark's existing listing; (None, None) without a listing.

    A partitioned folder's listing is an UPPER_BOUND: a filter may leave partitions out.
    """
    location = kept(leaf.subject, "location")
    if class_name(location) not in ("InMemoryFileIndex", "MetadataLogFileIndex"):
        return None, None
    listed = location.allFiles()
    count, size = int(listed.size()), int(location.sizeInBytes())
    certainty = Certainty.UPPER_BOUND if len(location.partitionSchema().fields()) else Certainty.EXACT
    return Position(files=_file_set(listed, count, size, leaf.context.settings)), certainty


def chosen_files(scan: JvmScan) -> PartitionsRead | None:
    """Return the files of the partitions that a `FileSourceScanExec` chose; None for an unpartitioned folder.

    Also None if filters chose the partitions while the query ran, or if not all files can be listed.
    """
    node, settings = scan.node, scan.settings
    if settings is None or not settings.literals or class_name(node) != "FileSourceScanExec":
        return None
    depth = len(kept(node, "relation").partitionSchema().fields())
    metrics = {name: int(metric.value()) for name, metric in pairs(node.metrics())}
    count = metrics.get("numFiles", 0)
    if not depth or "staticFilesNum" in metrics or count > settings.max_files:
        return None
    paths = sorted(_CHOSEN.findall(selected_directories(node)))
    if len(paths) != count:
        return None
    found = {path_partition(path.rpartition("/")[0])[-depth:] for path in paths}
    is_known = len(found) <= MAX_PARTITIONS and all(len(each) == depth for each in found)
    files = FileSet(
        count=count,
        bytes=metrics.get("filesSize"),
        manifest_digest=manifest_digest(paths),
        paths=tuple(paths[: settings.max_paths]),
    )
    return PartitionsRead(files, tuple(sorted(found, key=str)) if is_known else ())


def partitions_to_read(node: Any, most_files: int) -> frozenset[Partition] | None:
    """Return the partitions of the files that a `FileSourceScanExec` would read, by the names of their folders.

    None if a file is in no partition, if nothing would be read, or if there are more than `most_files` files. Filters
    that choose partitions while the query runs aren't applied. Lists the folders' files if Spark hasn't.
    """
    if class_name(kept(kept(node, "relation"), "location")) not in ("InMemoryFileIndex", "CatalogFileIndex"):
        return None
    # Spark counts the files when it selects them.
    node.selectedPartitions()
    metrics = {name: int(metric.value()) for name, metric in pairs(node.metrics())}
    count = metrics.get("staticFilesNum", metrics.get("numFiles", 0))
    if not 0 < count <= most_files:
        return None
    paths = _CHOSEN.findall(selected_directories(node))
    found = frozenset(path_partition(path.rpartition("/")[0]) for path in paths)
    return found if len(paths) == count and all(found) else None


def _file_set(listed: Any, count: int, size: int, settings: PlanSettings) -> FileSet:
    # One round trip for the whole array; py4j would fetch its elements one by one.
    paths = sorted(_PATH.findall(str(listed.mkString("\n")))) if count <= settings.max_files else []
    if len(paths) != count:
        return FileSet(count=count, bytes=size)
    shown = tuple(paths[: settings.max_paths])
    return FileSet(count=count, bytes=size, manifest_digest=manifest_digest(paths), paths=shown)


def whole_schema(leaf: JvmLeaf, name: str) -> SchemaDefinition | None:
    """Return the schema that a JVM `HadoopFsRelation` reads; None if this reader sees only a part.

    For JSON and CSV the reader's own schema is mostly the only one, and is reported.
    """
    relation = leaf.subject
    if kept(leaf.plan, "catalogTable").isDefined():
        return leaf.schema()
    location, paths = kept(relation, "location"), _root_paths(relation)
    if name in _WITHOUT_COLUMNS or any(path_partition(path) or _LOG_OF_TABLE in path for path in paths):
        return None
    if name in _SELF_DESCRIBING:
        return None if _brings_a_schema(location) else leaf.schema()
    if name == "csv" and setting(relation.options(), "header") != "true" and not _brings_a_schema(location):
        # Spark names the columns `_c0`, `_c1` …
        return None
    return leaf.schema()


def _brings_a_schema(location: Any) -> bool:
    try:
        return option(private(location, "userSpecifiedSchema")) is not None
    except AttributeError:
        return False
