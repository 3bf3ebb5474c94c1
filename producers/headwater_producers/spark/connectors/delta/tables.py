"""Delta tables: latest snapshots read by this driver, catalog entries, generated columns.

No plan of an INSERT has generated columns: Delta's writer adds them. Their expressions are in the metadata of the
table's schema; Spark's own analyzer resolves them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any, Final

from pyspark.sql import DataFrame

from headwater_producers.spark.connectors.connector_answers import V1Table, V2Table
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import class_name, kept, option, statics
from headwater_producers.spark.plan.generated import GeneratedColumns
from headwater_schemas.events import Storage

TABLES: Final = frozenset({"DeltaTableV2", "StagedDeltaTableV2"})
STORAGE: Final = Storage("delta", "parquet")

# delta.`/data/flights`, as an identifier's text.
_PATH: Final = re.compile(r"delta\.`.*/", re.IGNORECASE)
_EXPRESSION: Final = "delta.generationExpression"


def latest_snapshot(session: Any, path: str) -> Any:
    """Return the JVM's latest `Snapshot` of the table at a path, without a check for newer commits by others."""
    log = statics(session, "org.apache.spark.sql.delta.DeltaLog").forTable(session._jsparkSession, path)
    return log.unsafeVolatileSnapshot()


def is_made(table: Any) -> bool:
    """Return True if a V2 table of Delta exists already, and isn't about to be created by CREATE TABLE AS."""
    return class_name(table) == "DeltaTableV2"


def table_path(table: Any) -> str:
    """Return the path of a `DeltaTableV2`'s data."""
    return str(kept(table, "path").toString())


class DeltaTable(V2Table):
    """Delta table in a V2 catalog."""

    # The table's properties are in its log, whose location a RENAME may already have changed.
    @cached_property
    def location(self) -> str | None:
        return table_path(self.table) if is_made(self.table) else super().location

    @cached_property
    def provider(self) -> str | None:
        return "delta" if is_made(self.table) else super().provider

    def storage(self) -> Storage | None:
        return STORAGE

    def is_path(self, name: str) -> bool:
        return _PATH.match(name) is not None

    def was_made(self, is_since_start: Callable[[int], bool]) -> bool:
        entry = option(self.table.catalogTable()) if is_made(self.table) else None
        return entry is None or is_since_start(int(entry.createTime()))

    def is_first_version(self) -> bool:
        return not is_made(self.table) or int(self.table.initialSnapshot().version()) == 0


class DeltaV1Table(V1Table):
    """Delta table in Spark's own catalog."""

    def storage(self) -> Storage:
        return Storage("delta", self.provider)

    def schema(self, context: SessionContext) -> Any:
        schema = self.table.schema()
        # The catalog doesn't have Delta's columns.
        return self._snapshot(context).schema() if schema.isEmpty() else schema

    def was_there(self, context: SessionContext, is_since_start: Callable[[int], bool]) -> bool:
        # CREATE TABLE LIKE copies the creation time of the other table.
        snapshot = self._snapshot(context)
        return int(snapshot.version()) > 0 or not is_since_start(int(snapshot.timestamp()))

    def _snapshot(self, context: SessionContext) -> Any:
        return latest_snapshot(context.session, of_uri(self.table.location()))


def generated_columns(context: SessionContext, table: Any, written: Collection[str]) -> GeneratedColumns | None:
    """Return the generated columns that a JVM `DeltaTableV2` adds to a write; None if it adds none.

    Args:
        table: the table, as it was when the command was planned.
        written: names of the columns that the command's query has.
    """
    if int(table.schema().size()) <= len(written):
        return None
    # The table's own schema hides the generation expressions.
    schema = json.loads(str(table.initialSnapshot().metadata().schemaString()))
    there = {name.lower() for name in written}
    missing = [
        field
        for field in schema["fields"]
        if _EXPRESSION in field.get("metadata", {}) and field["name"].lower() not in there
    ]
    if not missing:
        return None
    names = [str(field["name"]) for field in missing]
    expressions = [f"{field['metadata'][_EXPRESSION]} AS `g{i}`" for i, field in enumerate(missing)]
    return GeneratedColumns(
        tuple(names), tuple(field["type"] for field in missing), _analyzed(context, schema, expressions)
    )


def _analyzed(context: SessionContext, schema: dict[str, Any], expressions: list[str]) -> str:
    session = context.session
    jvm = session._jvm
    struct = jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(schema))
    empty = session._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), struct)
    return str(DataFrame(empty, session).selectExpr(*expressions)._jdf.queryExecution().analyzed().toJSON())
