"""What each class of leaf reads: one table, a function for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors import hive, jdbc, python_source
from headwater_producers.spark.connectors.delta import change_feed as delta_changes
from headwater_producers.spark.connectors.files import own_schema
from headwater_producers.spark.connectors.files.listing import delta_version, file_set, format_name, root_paths
from headwater_producers.spark.connectors.kafka import options as kafka
from headwater_producers.spark.connectors.leaf import JvmLeaf
from headwater_producers.spark.connectors.rdd import RDDS
from headwater_producers.spark.connectors.tables import (
    CatalogEntry,
    iceberg_table,
    is_metadata_table,
    relation_table,
    unwrapped,
)
from headwater_producers.spark.jvm.paths import qualified
from headwater_producers.spark.jvm.scala import class_name, option, private, setting
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef, Storage

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_ROOTS = 16
"""A reader given more paths than this reads the folder they have in common."""


def logical_relation(leaf: JvmLeaf) -> Leaf:
    """A V1 source of a batch read: files, a table of files, JDBC, Kafka."""
    relation = leaf.plan.relation()
    match class_name(relation):
        case "HadoopFsRelation":
            return _files(leaf, relation)
        case "KafkaRelation":
            options = private(relation, "sourceOptions")
            return kafka.source(options, leaf.context, index=None, schema=leaf.schema())
        case "JDBCRelation":
            return jdbc.source(leaf, relation)
        case "DeltaCDFRelation":
            return delta_changes.source(leaf, relation)
        case other:
            return Leaf(problem=f"what a {other} reads isn't known")


def _files(leaf: JvmLeaf, relation: Any) -> Leaf:
    location, table = relation.location(), option(leaf.plan.catalogTable())
    file_format = format_name(relation.fileFormat())
    position, certainty = delta_version(location) or file_set(location, leaf.context.settings)
    table_format = "delta" if position is not None and position.table_snapshot is not None else None
    if table is not None:
        named = leaf.context.catalog_table(table)
        datasets, symlinks, kind = [named.ref], named.symlinks, SourceKind.TABLE
    else:
        paths = root_paths(location)
        if len(paths) > MAX_ROOTS:
            paths = [_common(paths)]
        datasets, symlinks, kind = list(dict.fromkeys(naming.path(p) for p in paths)), (), SourceKind.FILE
    alone = len(datasets) == 1
    schema = own_schema.of_files(leaf, relation)
    return Leaf(
        inputs=tuple(
            PlanInput(
                dataset=dataset,
                kind=kind,
                type="TABLE" if kind is SourceKind.TABLE else "FILE",
                schema=schema,
                storage=Storage(table_format or "file", file_format),
                symlinks=symlinks,
                # Which of several folders a file is in isn't told apart here.
                position=position if alone else None,
                certainty=certainty if alone else None,
            )
            for dataset in datasets
        )
    )


def _common(paths: list[str]) -> str:
    steps = [path.split("/") for path in paths]
    shared = next(
        (i for i, column in enumerate(zip(*steps, strict=False)) if len(set(column)) > 1), min(map(len, steps))
    )
    return "/".join(steps[0][:shared])


def data_source_v2(leaf: JvmLeaf) -> Leaf:
    """A V2 table of a batch read: of a catalog, of files, or of a source alone."""
    relation = leaf.plan
    table = relation.table()
    if class_name(table) == "KafkaTable":
        return kafka.source(relation.options(), leaf.context, index=None, schema=leaf.schema())
    if class_name(table) == python_source.PYTHON_TABLE:
        return python_source.read(leaf, table)
    entry = relation_table(leaf.context, relation)
    if entry is None:
        return _unnamed_v2(leaf, unwrapped(table))
    if is_metadata_table(leaf.context, unwrapped(table)):
        # db.flights.snapshots: its rows are about the table's files, and none of the table's.
        of = str(table.name()).rsplit(".", 1)[-1]
        dataset = DatasetRef(entry.dataset.namespace, f"{entry.dataset.name}.{of}")
        return leaf.table(dataset, entry.storage, entry.symlinks, leaf.schema())
    return leaf.table(entry.dataset, entry.storage, entry.symlinks, own_schema.of_table(leaf, unwrapped(table)))


def _unnamed_v2(leaf: JvmLeaf, table: Any) -> Leaf:
    path = setting(leaf.plan.options(), "path")
    if path is None:
        dataset = leaf.context.in_memory(str(table.name()).split("(")[0].split(" ")[0])
        return Leaf(inputs=(PlanInput(dataset=dataset, kind=SourceKind.UNKNOWN, schema=leaf.schema()),))
    kind = SourceKind.FILE
    return Leaf(inputs=(PlanInput(dataset=naming.path_pattern(path), kind=kind, type="FILE", schema=leaf.schema()),))


def streaming_v2(leaf: JvmLeaf) -> Leaf:
    """A V2 source of a streaming query, running or not yet started."""
    relation = leaf.plan
    if class_name(relation) == "StreamingDataSourceV2ScanRelation":
        relation = relation.relation()
    table = relation.table()
    options = relation.extraOptions() if class_name(relation) == "StreamingRelationV2" else relation.options()
    if class_name(table) == "KafkaTable":
        return kafka.source(options, leaf.context, index=leaf.index, schema=leaf.schema())
    if class_name(table) == "SparkTable":
        return _streamed_table(leaf, iceberg_table(leaf.context, table))
    if class_name(table) == python_source.PYTHON_TABLE:
        found = python_source.read(JvmLeaf(relation, leaf.context), table)
        return replace(found, inputs=tuple(replace(each, source_index=leaf.index) for each in found.inputs))
    name = "rate" if class_name(table).startswith("Rate") else str(table.name()).split("(")[0].lower()
    dataset = leaf.context.in_memory(name)
    return Leaf(
        inputs=(
            PlanInput(
                dataset=dataset,
                kind=SourceKind.GENERATED,
                type="STREAM",
                schema=leaf.schema(),
                source_index=leaf.index,
            ),
        )
    )


def streaming_v1(leaf: JvmLeaf) -> Leaf:
    """A V1 source of a running streaming query: files."""
    source = leaf.plan.source()
    if class_name(source) == "DeltaSource":
        # DeltaSource[file:/data/flights]
        path = str(source.toString()).partition("[")[2].removesuffix("]")
        options = source.options()
        whole = options.startingVersion().isEmpty() and options.startingTimestamp().isEmpty()
        return _streamed_table(
            leaf, CatalogEntry(naming.path(path), provider="delta", type="FILE"), from_beginning=bool(whole)
        )
    if class_name(source) != "FileStreamSource":
        return Leaf(problem=f"what a {class_name(source)} reads isn't known")
    # FileStreamSource[file:/data/flights]
    path = str(source.toString()).partition("[")[2].removesuffix("]")
    return _streamed_files(leaf, path)


def streaming_relation(leaf: JvmLeaf) -> Leaf:
    """A V1 source of a streaming frame that isn't started."""
    source = leaf.plan.dataSource()
    path = setting(source.options(), "path")
    if path is None:
        return Leaf(problem=f"what a stream of {leaf.plan.sourceName()} reads isn't known")
    return _streamed_files(leaf, qualified(leaf.context.session.sparkContext, path))


def _streamed_table(leaf: JvmLeaf, entry: CatalogEntry, *, from_beginning: bool = False) -> Leaf:
    return Leaf(
        inputs=(
            PlanInput(
                dataset=entry.dataset,
                kind=SourceKind.TABLE,
                type=entry.type,
                schema=leaf.schema(),
                storage=entry.storage,
                symlinks=entry.symlinks,
                source_index=leaf.index,
                from_beginning=from_beginning,
            ),
        )
    )


def _streamed_files(leaf: JvmLeaf, path: str) -> Leaf:
    return Leaf(
        inputs=(
            PlanInput(
                dataset=naming.path_pattern(path),
                kind=SourceKind.FILE,
                type="FILE",
                schema=leaf.schema(),
                source_index=leaf.index,
            ),
        )
    )


SOURCES: dict[str, Callable[[JvmLeaf], Leaf]] = {
    "LogicalRelation": logical_relation,
    "HiveTableRelation": hive.read,
    "DataSourceV2Relation": data_source_v2,
    "DataSourceV2ScanRelation": lambda leaf: data_source_v2(JvmLeaf(leaf.plan.relation(), leaf.context)),
    "StreamingRelationV2": streaming_v2,
    "StreamingDataSourceV2Relation": streaming_v2,
    "StreamingDataSourceV2ScanRelation": streaming_v2,
    "StreamingExecutionRelation": streaming_v1,
    "StreamingRelation": streaming_relation,
    **RDDS,
}
