"""Tables of a catalog (Spark's own, Hive, a warehouse directory), and datasets that exist in only one application.

If a table's location is known, the location is the dataset, as in OpenLineage's Spark integration: jobs that read the
files and jobs that read the table then share a node. The catalog's name for the table becomes a TABLE symlink. Without
a location (a view) the catalog's name is the dataset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from headwater_schemas.events.common import DatasetRef
from headwater_schemas.events.dataset import Symlink
from headwater_schemas.naming.paths import path

SYMLINK_TABLE = "TABLE"


class Catalog(Protocol):
    """Naming of a catalog's tables."""

    def ref(self, database: str, table: str) -> DatasetRef:
        """Return the catalog's name for a table."""


@dataclass(frozen=True, slots=True)
class HiveCatalog:
    """A Hive metastore, by its thrift URI: `hive://{host}:{port}`, `{database}.{table}`."""

    uri: str

    def ref(self, database: str, table: str) -> DatasetRef:
        """E.g. `hive://metastore:9083`, `flights.routes`."""
        # hive.metastore.uris may list several URIs of one service: the name doesn't depend on their order.
        first = min(part.strip().lower() for part in self.uri.split(","))
        return DatasetRef(f"hive://{first.rpartition('://')[2].rpartition('@')[2]}", f"{database}.{table}")


@dataclass(frozen=True, slots=True)
class WarehouseCatalog:
    """A catalog that is a warehouse directory: Spark's built-in one, Iceberg's and Delta's Hadoop catalogs."""

    warehouse: str

    @property
    def namespace(self) -> str:
        """E.g. `s3://lake/warehouse`; `file:/tmp/warehouse` for a local one."""
        root = path(self.warehouse)
        directory = root.name if root.name.startswith("/") else f"/{root.name}"
        joint = ":" if root.namespace == "file" else ""
        return f"{root.namespace}{joint}{directory}".rstrip("/")

    def ref(self, database: str, table: str) -> DatasetRef:
        """E.g. `s3://lake/warehouse`, `flights.routes`."""
        return DatasetRef(self.namespace, f"{database}.{table}")


@dataclass(frozen=True, slots=True)
class RestCatalog:
    """A REST catalog, by its URI, as OpenLineage's Spark integration names it: `{uri}`, `{database}.{table}`."""

    uri: str

    def ref(self, database: str, table: str) -> DatasetRef:
        """E.g. `https://catalog:8181`, `flights.routes`."""
        scheme, separator, rest = self.uri.strip().rstrip("/").partition("://")
        return DatasetRef(f"{scheme.lower()}{separator}{rest.rpartition('@')[2]}", f"{database}.{table}")


@dataclass(frozen=True, slots=True)
class GlueCatalog:
    """AWS Glue, by region and account: `arn:aws:glue:{region}:{account}`, `table/{database}/{table}`."""

    region: str
    account: str

    def ref(self, database: str, table: str) -> DatasetRef:
        """E.g. `arn:aws:glue:eu-west-1:123456789012`, `table/flights/routes`."""
        return DatasetRef(f"arn:aws:glue:{self.region}:{self.account}", f"table/{database}/{table}")


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table's identity, and its other names."""

    ref: DatasetRef
    symlinks: tuple[Symlink, ...] = ()


def table(
    name: str, *, location: str | None = None, catalog: Catalog | None = None, database: str = "default"
) -> NamedTable:
    """Return a catalog table's identity.

    Args:
        name: `table`, `database.table` or `catalog.database.table`, as Spark's identifier without quotes. Iceberg's
            nested namespaces keep their dots.
        location: path or URI of the table's data; None if unknown.
        catalog: catalog of the table; None if unknown.
        database: database for names without a database.
    """
    # Spark sometimes names its built-in catalog and sometimes leaves it out.
    parent, _, leaf = name.removeprefix("spark_catalog.").rpartition(".")
    named = catalog.ref(parent or database, leaf) if catalog else None
    if location is None:
        return NamedTable(named or DatasetRef("spark", f"{parent or database}.{leaf}"))
    ref = path(location)
    if named is None:
        return NamedTable(ref)
    return NamedTable(ref, (Symlink(named.namespace, named.name, SYMLINK_TABLE),))


def in_memory(engine: str, application: str, name: str) -> DatasetRef:
    """Dataset without storage, distinct from another application's dataset of the same name.

    For memory, console, noop and rate sources and sinks of Spark, and for data that is created in the driver.

    Example: `in_memory("spark", "flights", "console")` is `memory://spark/flights`, `console`.

    Args:
        engine: the engine that holds the dataset, e.g. `spark`.
        application: a name that is the same in every run (never Spark's application id).
        name: the table, view, source or sink.
    """
    return DatasetRef(f"memory://{engine}/{application}", name)
