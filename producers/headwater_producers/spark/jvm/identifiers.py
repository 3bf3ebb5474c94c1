"""Names of tables as catalogs take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.jvm.scala import items

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context


def resolved(name: Any, context: Context) -> tuple[Any, Any]:
    """The JVM's catalog and `Identifier` of a table by its name as it was written, a Scala `Seq` of parts."""
    parts = [str(part) for part in items(name)]
    catalogs = context.session._jsparkSession.sessionState().catalogManager()
    if len(parts) > 1 and catalogs.isCatalogRegistered(parts[0]):
        catalog, parts = catalogs.catalog(parts[0]), parts[1:]
    else:
        catalog = catalogs.currentCatalog()
    namespace = parts[:-1] or [str(part) for part in catalogs.currentNamespace()]
    return catalog, identifier_of(namespace, parts[-1], context)


def identifier_of(namespace: list[str], name: str, context: Context) -> Any:
    """The JVM's `Identifier` of a table."""
    jvm = context.session._jvm
    array = context.session.sparkContext._gateway.new_array(jvm.java.lang.String, len(namespace))
    for index, part in enumerate(namespace):
        array[index] = part
    return jvm.org.apache.spark.sql.connector.catalog.Identifier.of(array, name)
