"""Iceberg's catalogs by their settings in the session: `spark.sql.catalog.<name>.…`.

The names are OpenLineage's, so that other producers give a table of the catalog the same name.
"""

from __future__ import annotations

from typing import Final

from headwater_producers.spark.connectors.context import SessionContext
from headwater_schemas.naming.tables import Catalog, HiveCatalog, RestCatalog

CLASSES: Final = frozenset({"org.apache.iceberg.spark.SparkCatalog", "org.apache.iceberg.spark.SparkSessionCatalog"})
"""Classes of Iceberg's catalogs in a session."""


def iceberg_catalog(context: SessionContext, name: str) -> Catalog | None:
    """Return the naming of tables in an Iceberg catalog that isn't a folder.

    Returns:
        None for a catalog that is a warehouse folder, of an unknown type, or not Iceberg's.
    """
    prefix = f"spark.sql.catalog.{name}"
    if context.conf(prefix) not in CLASSES:
        return None
    kind, implementation = ((context.conf(f"{prefix}.{key}") or "").lower() for key in ("type", "catalog-impl"))
    uri = context.conf(f"{prefix}.uri")
    if kind == "rest" or implementation.endswith(".restcatalog"):
        return RestCatalog(uri) if uri else None
    if kind == "glue" or implementation.endswith(".gluecatalog"):
        return context.glue(context.conf(f"{prefix}.glue.id"), context.conf(f"{prefix}.client.region"))
    # Iceberg treats a catalog without a type as a Hive catalog.
    if kind == "hive" or implementation.endswith(".hivecatalog") or not (kind or implementation):
        return HiveCatalog(uri) if uri else context.metastore
    return None
