"""Hive connector: tables that Spark reads and writes by Hive's own readers and writers (SerDes), and LOAD DATA.

Tables of Parquet and ORC are read as files by Spark, unless `spark.sql.hive.convertMetastore…` is off.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from headwater_producers.spark.connectors.catalog.partitions import specification, written_partition
from headwater_producers.spark.connectors.catalog.tables import v1_partition_columns
from headwater_producers.spark.connectors.catalog.writes import v1_table_as_select
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import Scanned, V1Table
from headwater_producers.spark.connectors.connector_questions import JvmCommand, JvmLeaf, JvmScan
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import option
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators.reader import written_query
from headwater_producers.spark.plan.partition import Partition
from headwater_producers.spark.plan.written import LIFECYCLES, WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import Storage

_RELATION: Final = "HiveTableRelation"
_INSERT: Final = "InsertIntoHiveTable"
_AS_SELECT: Final = "CreateHiveTableAsSelectCommand"


class HiveV1Table(V1Table):
    """Hive table in Spark's own catalog."""

    def storage(self) -> Storage:
        return Storage("file", hive_format(self.table.storage()))


def hive_format(storage: Any) -> str | None:
    """Return the format of a JVM `CatalogStorageFormat`, by Hive's class that reads it: `text`, `orc`, `parquet`."""
    reader = option(storage.inputFormat())
    # org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat
    name = str(reader).rsplit(".", 1)[-1] if reader is not None else ""
    return name.removeprefix("Mapred").removesuffix("InputFormat").removesuffix("Container").lower() or None


class Hive(Connector):
    """Connector of tables that Hive's readers and writers serve."""

    classes = frozenset(
        {_RELATION, _AS_SELECT, _INSERT, "InsertIntoHiveDirCommand", "LoadDataCommand", "HiveTableScanExec"}
    )
    providers = frozenset({"hive"})
    operators = {_INSERT: written_query}  # noqa: RUF012 - shared by all instances

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        """Describe a read of a relation's columns, and of its partition columns."""
        table = leaf.plan.tableMeta()
        named = leaf.context.catalog_table(table)
        return leaf.table(named.ref, REGISTRY.v1_table(table).storage(), named.symlinks, leaf.schema())

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        match command.name:
            case "InsertIntoHiveTable":
                return _insert(command)
            case "InsertIntoHiveDirCommand":
                return _directory(command)
            case "LoadDataCommand":
                return _load(command)
        return v1_table_as_select(command, command.plan.tableDesc())

    def scanned(self, scan: JvmScan) -> Scanned | None:
        location = scan.node.relation().tableMeta().storage().locationUri()
        names = {naming.path(of_uri(location.get())).name} if location.isDefined() else ()
        return Scanned(names=frozenset(names))

    def v1_table(self, table: Any) -> V1Table:
        return HiveV1Table(table, "hive")


def _insert(command: JvmCommand) -> WrittenOutputs:
    """Describe `InsertIntoHiveTable`: INSERT INTO and INSERT OVERWRITE, also within CREATE TABLE AS."""
    plan = command.plan
    table = plan.table()
    columns = v1_partition_columns(table)
    mode, overwritten = WriteMode.APPEND, None
    if plan.overwrite():
        # Hive always replaces the partitions that get rows, independent of partitionOverwriteMode.
        mode = WriteMode.OVERWRITE_PARTITIONS if columns else WriteMode.OVERWRITE
    named = specification(plan.partition())
    if mode is WriteMode.OVERWRITE_PARTITIONS:
        overwritten = named if len(named) == len(columns) else ()
    output = _output(command.context, table, mode, columns, written_partition(named, columns, command))
    return WrittenOutputs((replace(output, overwritten=overwritten),))


def _directory(command: JvmCommand) -> WrittenOutputs:
    """Describe INSERT OVERWRITE [LOCAL] DIRECTORY in one of Hive's formats."""
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
    return WrittenOutputs((output,))


def _load(command: JvmCommand) -> WrittenOutputs:
    """Describe LOAD DATA: files that are moved unchanged into a table or partition."""
    plan = command.plan
    table = command.context.catalog.getTableMetadata(plan.table())
    columns = v1_partition_columns(table)
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
    output = _output(command.context, table, mode, columns, partition)
    return WrittenOutputs(
        (replace(output, overwritten=partition or None),),
        schema=json.loads(str(table.schema().json())),
        read=(source,),
        copied=True,
    )


def _output(
    context: SessionContext, table: Any, mode: WriteMode, columns: tuple[str, ...], partition: Partition
) -> PlanOutput:
    named, storage = context.catalog_table(table), REGISTRY.v1_table(table).storage()
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


def _path(uri: str, context: SessionContext, *, local: bool) -> str:
    """Complete a path as Spark does: LOCAL on this machine, else on Hadoop's default file system."""
    if ":/" in uri:
        return uri
    if local:
        return str(Path.cwd() / uri)
    default = str(context.session.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///"))
    return f"{default.rstrip('/')}{uri}" if uri.startswith("/") and not default.startswith("file") else uri
