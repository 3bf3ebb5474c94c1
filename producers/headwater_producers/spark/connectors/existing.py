"""Whether IF NOT EXISTS, or OR REPLACE, made something, or met what was there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.delta.snapshots import latest_snapshot
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import class_name, option

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context


def was_made(catalog: Any, table: Any) -> bool:
    """Whether a V1 catalog's table is the JVM `CatalogTable` that a command made; also where it is gone again."""
    identifier = table.identifier()
    if not catalog.tableExists(identifier):
        return True
    return _not_before(int(catalog.getTableMetadata(identifier).createTime()), int(table.createTime()))


def view_was_made(context: Context, plan: Any) -> bool:
    """Whether a `CreateViewCommand` IF NOT EXISTS made its view."""
    catalog = context.session._jsparkSession.sessionState().catalog()
    if not catalog.tableExists(plan.name()):
        return True
    there = catalog.getTableMetadata(plan.name())
    return option(there.viewText()) == option(plan.originalText()) and _since_start(context, int(there.createTime()))


def was_there(context: Context, plan: Any, name: Any) -> bool:
    """Whether a command IF NOT EXISTS met a table of that name (a V1 identifier) in the session's catalog.

    Of those that don't hold the table that they make, but only its name.
    """
    if class_name(plan) == "CreateDeltaTableCommand":
        is_ignoring = str(plan.mode().toString()) == "Ignore"
    else:
        is_ignoring = bool(plan.ifNotExists())
    if not is_ignoring:
        return False
    table = context.session._jsparkSession.sessionState().catalog().getTableMetadata(name)
    if option(table.provider()) == "delta":
        # CREATE TABLE LIKE gives it the time of the other one.
        snapshot = latest_snapshot(context.session, of_uri(table.location()))
        return int(snapshot.version()) > 0 or not _since_start(context, int(snapshot.timestamp()))
    return not _since_start(context, int(table.createTime()))


def v2_was_made(context: Context, table: Any | None) -> bool:
    """Whether a table, as its catalog has it, was made by the command; True also where it doesn't say.

    A table of Iceberg's that is made has metadata without any before; one of Delta's, an entry in the catalog.
    """
    if table is None:
        return True
    match class_name(table):
        case "SparkTable":
            metadata = table.table().operations().current()
            is_first = metadata.previousFiles().isEmpty()
            return is_first and _since_start(context, int(metadata.lastUpdatedMillis()))
        case "DeltaTableV2":
            entry = option(table.catalogTable())
            return entry is None or _since_start(context, int(entry.createTime()))
        case "V1Table":
            return _since_start(context, int(table.v1Table().createTime()))
    return True


def is_first_version(table: Any | None) -> bool:
    """Whether nothing was there that a REPLACE has replaced, by what the catalog has now; True where it doesn't say."""
    if table is None:
        return True
    match class_name(table):
        case "SparkTable":
            return bool(table.table().operations().current().previousFiles().isEmpty())
        case "DeltaTableV2":
            return int(table.initialSnapshot().version()) == 0
    return True


def _since_start(context: Context, made: int) -> bool:
    """Whether a time in milliseconds is after the command was planned."""
    if context.execution is None:
        return True
    phases = context.execution.tracker().phases().valuesIterator()
    starts = []
    while phases.hasNext():
        starts.append(int(phases.next().startTimeMs()))
    return not starts or _not_before(made, min(starts))


def _not_before(made: int, planned: int) -> bool:
    # Hive keeps seconds, of its own clock.
    return made >= (planned if made % 1000 else planned // 1000 * 1000)
