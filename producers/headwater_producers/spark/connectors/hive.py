"""Tables that Spark reads and writes by Hive's own readers and writers (SerDes), and LOAD DATA.

Those of Parquet and ORC aren't among them, unless `spark.sql.hive.convertMetastore…` says so: Spark takes them for
files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.command import LIFECYCLES, JvmCommand, Written
from headwater_producers.spark.connectors.partitions import specification, written_partition
from headwater_producers.spark.connectors.tables import hive_format, stored
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import items, option
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_schemas import naming
from headwater_schemas.events import Storage

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context
    from headwater_producers.spark.connectors.leaf import JvmLeaf
    from headwater_producers.spark.plan.leaves import Leaf
    from headwater_producers.spark.plan.partition import Partition


def read(leaf: JvmLeaf) -> Leaf:
    """A `HiveTableRelation`: its columns, and those of its partitions."""
    table = leaf.plan.tableMeta()
    named = leaf.context.catalog_table(table)
    return leaf.table(named.ref, stored(table), named.symlinks, leaf.schema())


def insert(command: JvmCommand) -> Written:
    """`InsertIntoHiveTable`: INSERT INTO and INSERT OVERWRITE, and what CREATE TABLE AS runs."""
    plan = command.plan
    table = plan.table()
    columns = _partition_columns(table)
    mode = WriteMode.APPEND
    if plan.overwrite():
        # Of a partitioned table Hive replaces the partitions that get rows, whatever partitionOverwriteMode says.
        mode = WriteMode.OVERWRITE_PARTITIONS if columns else WriteMode.OVERWRITE
    partition = written_partition(specification(plan.partition()), columns, command)
    return Written((_output(command.context, table, mode, columns, partition),))


def directory(command: JvmCommand) -> Written:
    """INSERT OVERWRITE [LOCAL] DIRECTORY in one of Hive's formats."""
    plan = command.plan
    storage = plan.storage()
    file_format = hive_format(storage)
    mode = WriteMode.OVERWRITE if plan.overwrite() else WriteMode.APPEND
    output = PlanOutput(
        dataset=naming.path(_path(of_uri(storage.locationUri().get()), command.context, local=plan.isLocal())),
        kind=SourceKind.FILE,
        type="FILE",
        mode=mode,
        format=file_format,
        storage=Storage("file", file_format),
        lifecycle=LIFECYCLES.get(mode),
    )
    return Written((output,))


def load(command: JvmCommand) -> Written:
    """LOAD DATA: files that become a table's, or a partition's, as they are."""
    plan = command.plan
    table = command.context.session._jsparkSession.sessionState().catalog().getTableMetadata(plan.table())
    columns = _partition_columns(table)
    mode = WriteMode.APPEND
    if plan.isOverwrite():
        mode = WriteMode.OVERWRITE_PARTITIONS if columns else WriteMode.OVERWRITE
    spec = option(plan.partition())
    partition = specification(spec, columns) if spec is not None else ()
    source = PlanInput(
        dataset=naming.path_pattern(_path(str(plan.path()), command.context, local=plan.isLocal())),
        kind=SourceKind.FILE,
        type="FILE",
    )
    return Written(
        (_output(command.context, table, mode, columns, partition),),
        schema=json.loads(str(table.schema().json())),
        read=(source,),
        copied=True,
    )


def _output(
    context: Context, table: Any, mode: WriteMode, columns: tuple[str, ...], partition: Partition
) -> PlanOutput:
    named, storage = context.catalog_table(table), stored(table)
    return PlanOutput(
        dataset=named.ref,
        kind=SourceKind.TABLE,
        type="TABLE",
        mode=mode,
        format=storage.format if storage is not None else None,
        partition_columns=columns,
        partition=partition,
        storage=storage,
        symlinks=named.symlinks,
        lifecycle=LIFECYCLES.get(mode),
    )


def _partition_columns(table: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in items(table.partitionColumnNames()))


def _path(uri: str, context: Context, *, local: bool) -> str:
    """A path as Spark completes it: of LOCAL on this machine, else in the file system that is Hadoop's default."""
    if ":/" in uri:
        return uri
    if local:
        return str(Path.cwd() / uri)
    default = str(context.session.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///"))
    return f"{default.rstrip('/')}{uri}" if uri.startswith("/") and not default.startswith("file") else uri
