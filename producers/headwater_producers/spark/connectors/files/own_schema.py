"""Whether the columns that a reader sees are its dataset's own.

A DatasetEvent's schema replaces the one before. So a reader's is told only where it is the whole of what is there: who
reads two columns of a file, or yesterday's version, must not take the others away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.files.listing import format_name, root_paths
from headwater_producers.spark.jvm.scala import class_name, option, private, setting
from headwater_producers.spark.plan.partition import path_partition

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.leaf import JvmLeaf
    from headwater_schemas.events import SchemaDefinition

_SELF_DESCRIBING: Final = frozenset({"parquet", "orc", "avro"})
_WITHOUT_COLUMNS: Final = frozenset({"text", "binary"})
"""What Spark makes of them are columns of its own."""


def of_files(leaf: JvmLeaf, relation: Any) -> SchemaDefinition | None:
    """The schema of what a JVM `HadoopFsRelation` reads; None where this reader doesn't see it whole.

    Of JSON and CSV a schema that the reader brings is mostly all that is known, and is told.
    """
    location = relation.location()
    if class_name(location) == "TahoeLogFileIndex":
        return None if location.isTimeTravelQuery() else leaf.schema()
    if leaf.plan.catalogTable().isDefined():
        return leaf.schema()
    name = format_name(relation.fileFormat())
    if name in _WITHOUT_COLUMNS or any(path_partition(path) for path in root_paths(location)):
        return None
    if name in _SELF_DESCRIBING:
        return None if _brings_a_schema(location) else leaf.schema()
    if name == "csv" and setting(relation.options(), "header") != "true" and not _brings_a_schema(location):
        # _c0, _c1 …
        return None
    return leaf.schema()


def of_table(leaf: JvmLeaf, table: Any) -> SchemaDefinition | None:
    """The schema of a V2 table; None of an earlier snapshot's."""
    is_earlier = class_name(table) == "SparkTable" and table.snapshotId() is not None
    return None if is_earlier else leaf.schema()


def _brings_a_schema(location: Any) -> bool:
    try:
        return option(private(location, "userSpecifiedSchema")) is not None
    except AttributeError:
        return False
