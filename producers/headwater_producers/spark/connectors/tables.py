"""Tables of catalogs, V1 and V2: what they are called, and where their data lies."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from py4j.java_gateway import is_instance_of

from headwater_producers.spark.jvm.scala import class_name, option
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef, SchemaDefinition, Storage, Symlink

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context

logger = logging.getLogger(__name__)

# delta.`/data/flights`, as an identifier's text.
_PATH: Final = re.compile(r"delta\.`.*/", re.IGNORECASE)

# SparkCatalog of Iceberg: a branch, a tag, a snapshot, a time.
_SELECTOR: Final = re.compile(r"(?P<table>.+)\.(branch|tag|snapshot_id|at_timestamp)_[^.]+")


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A table as its catalog has it.

    Attributes:
        dataset, symlinks: its identity.
        provider: `iceberg`, `delta`, `parquet` …
        schema: its columns, where they were asked for.
        type: TABLE or VIEW.
        catalog: what the session calls the catalog; None for its own.
    """

    dataset: DatasetRef
    symlinks: tuple[Symlink, ...] = ()
    provider: str | None = None
    schema: SchemaDefinition | None = None
    type: str = "TABLE"
    catalog: str | None = None

    @property
    def storage(self) -> Storage | None:
        """Of a DatasetEvent."""
        if self.provider == "delta":
            return Storage("delta", "parquet")
        return Storage(self.provider) if self.provider else None


def unwrapped(table: Any) -> Any:
    """The table that a MERGE, an UPDATE or a DELETE wraps to plan its scan and write."""
    return table.table() if class_name(table) == "RowLevelOperationTable" else table


def relation_table(context: Context, relation: Any) -> CatalogEntry | None:
    """The table of a JVM `DataSourceV2Relation`; None where no catalog names it."""
    identifier, catalog = option(relation.identifier()), option(relation.catalog())
    if identifier is None:
        return None
    return named(context, catalog, identifier, unwrapped(relation.table()))


def iceberg_table(context: Context, table: Any) -> CatalogEntry:
    """An Iceberg table by what it says of itself: a stream's plan doesn't name it."""
    catalog, _, name = str(table.name()).partition(".")
    found = context.table(name, str(table.table().location()), catalog=catalog)
    return CatalogEntry(found.ref, found.symlinks, "iceberg")


def is_metadata_table(context: Context, table: Any) -> bool:
    """Whether a V2 table is what Iceberg tells of another: `db.flights.snapshots`."""
    gateway = context.session.sparkContext._gateway
    return class_name(table) == "SparkTable" and is_instance_of(
        gateway, table.table(), "org.apache.iceberg.BaseMetadataTable"
    )


def named(context: Context, catalog: Any, identifier: Any, table: Any) -> CatalogEntry:
    """A V2 table by catalog (None: the session's), identifier, and what the catalog loaded (None: nothing)."""
    location, provider = _place(table)
    catalog_name = str(catalog.name()) if catalog is not None else None
    name = _own_name(str(identifier.toString()), table)
    if provider == "delta" and location is not None and _PATH.match(name):
        # It has no other name.
        return CatalogEntry(naming.path(location), (), provider, type="FILE", catalog=catalog_name)
    found = context.table(name, location, catalog=catalog_name)
    return CatalogEntry(found.ref, found.symlinks, provider, catalog=catalog_name)


def branch_of(table: Any | None) -> str | None:
    """The branch of an Iceberg table that a V2 table is: of `db.flights.branch_audit` it is `audit`."""
    if table is None or class_name(table) != "SparkTable":
        return None
    branch = table.branch()
    return None if branch is None else str(branch)


def _own_name(name: str, table: Any | None) -> str:
    """A name without what Iceberg lets it end in: `db.flights.branch_audit`, `db.flights.snapshot_id_7`."""
    found = _SELECTOR.fullmatch(name)
    if found is None or table is None or class_name(table) != "SparkTable":
        return name
    # A table may be called so, too.
    is_selected = table.branch() is not None or table.snapshotId() is not None
    return found["table"] if is_selected else name


def _place(table: Any | None) -> tuple[str | None, str | None]:
    """Where a V2 table's data lies, and its provider."""
    if table is None:
        return None, None
    if class_name(table) == "DeltaTableV2":
        # Its properties are in its log, which a RENAME has moved away by the time it is told.
        return str(table.path().toString()), "delta"
    properties = table.properties()
    location, provider = properties.get("location"), properties.get("provider")
    return str(location) if location else None, str(provider) if provider else None


def loaded(catalog: Any, identifier: Any) -> Any | None:
    """The table that a catalog has under a name now; None where it has none, or can't say."""
    try:
        return catalog.loadTable(identifier)
    except Exception:
        logger.debug("lineage capture: a catalog doesn't tell of a table", exc_info=True)
        return None


def stored(table: Any) -> Storage | None:
    """How a JVM `CatalogTable` stores its rows; None where it doesn't say."""
    provider = option(table.provider())
    if provider is None:
        return None
    if str(provider).lower() == "hive":
        return Storage("file", hive_format(table.storage()))
    return Storage("delta" if provider == "delta" else "file", str(provider))


def hive_format(storage: Any) -> str | None:
    """The format of a JVM `CatalogStorageFormat`, by Hive's class that reads it: `text`, `orc`, `parquet`."""
    reader = option(storage.inputFormat())
    # org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat
    name = str(reader).rsplit(".", 1)[-1] if reader is not None else ""
    return name.removeprefix("Mapred").removesuffix("InputFormat").removesuffix("Container").lower() or None


def is_staged(table: Any) -> bool:
    """Whether the table isn't there yet: CREATE TABLE AS makes it and its rows in one step."""
    return class_name(table).startswith("Staged")


def table_schema(table: Any) -> Any:
    """A V2 table's schema, as Spark's schema JSON.

    V1 wrappers and old catalogs only have `schema()`, which is deprecated, and which all have.
    """
    return json.loads(str(table.schema().json()))
