"""Current metadata of Iceberg tables, by the catalogs of a session.

Only a REST, JDBC, Hive or Glue catalog knows the current metadata file of its table. A table is identified by its
location: its name in the catalog may have changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from py4j.protocol import Py4JError

from headwater_producers.spark.common.settings import session_properties
from headwater_producers.spark.connectors.iceberg.catalogs import CLASSES
from headwater_producers.spark.events.left_writes import WriteTarget
from headwater_producers.spark.jvm.scala import statics
from headwater_schemas import naming

_CATALOG: Final = "spark.sql.catalog."
_ICEBERG: Final = "org.apache.iceberg"


class CatalogMetadata:
    """Lookup of Iceberg tables in a session's catalogs.

    Args:
        session: the `SparkSession`.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def of(self, target: WriteTarget) -> dict[str, Any] | None:
        """Return a table's current metadata, in the form of a metadata file; None if no catalog has the table.

        The catalogs in the table's names are asked first.

        Raises:
            Py4JError: no catalog has the table, and some catalog couldn't be asked.
        """
        failed: Py4JError | None = None
        for catalog, name in self._candidates(target):
            try:
                operations = self._operations(catalog, name)
                metadata = operations.refresh() if operations is not None else None
                if metadata is None or naming.path(str(metadata.location())) != target.dataset:
                    continue
                found: dict[str, Any] = json.loads(
                    str(statics(self._session, f"{_ICEBERG}.TableMetadataParser").toJson(metadata))
                )
            except Py4JError as error:
                failed = error
            else:
                return found
        if failed is not None:
            raise failed
        return None

    def _candidates(self, target: WriteTarget) -> Iterator[tuple[str, str]]:
        """Yield pairs of a catalog and a name that the table can have there."""
        catalogs = self._catalogs()
        pairs = [(catalog, name.partition(".")) for name in target.names for catalog in catalogs]
        yield from ((catalog, rest) for catalog, (first, _, rest) in pairs if first == catalog and rest)
        yield from ((catalog, "".join(parts)) for catalog, parts in pairs if parts[0] != catalog)

    def _catalogs(self) -> list[str]:
        """List the names of the session's Iceberg catalogs."""
        properties = session_properties(self._session)
        return sorted(
            name.removeprefix(_CATALOG)
            for name, value in properties.items()
            if name.startswith(_CATALOG) and value in CLASSES
        )

    def _operations(self, catalog: str, name: str) -> Any:
        """Return Iceberg's `TableOperations` of a table; None if the catalog doesn't have it."""
        tables = self._session._jsparkSession.sessionState().catalogManager().catalog(catalog).icebergCatalog()
        identifier = statics(self._session, f"{_ICEBERG}.catalog.TableIdentifier").parse(name)
        return tables.loadTable(identifier).operations() if tables.tableExists(identifier) else None
