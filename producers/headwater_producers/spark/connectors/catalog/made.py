"""Checks after IF NOT EXISTS and OR REPLACE: was the table or view created, or did it exist before?"""

from __future__ import annotations

from functools import partial
from typing import Any

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.scala import option


def was_made(catalog: Any, table: Any) -> bool:
    """Return True if a command created a V1 table (the JVM's `CatalogTable`), even if the table was dropped since."""
    identifier = table.identifier()
    if not catalog.tableExists(identifier):
        return True
    return _not_before(int(catalog.getTableMetadata(identifier).createTime()), int(table.createTime()))


def view_was_made(context: SessionContext, plan: Any) -> bool:
    """Return True if a `CreateViewCommand` IF NOT EXISTS created its view."""
    catalog = context.catalog
    if not catalog.tableExists(plan.name()):
        return True
    there = catalog.getTableMetadata(plan.name())
    return option(there.viewText()) == option(plan.originalText()) and _since_start(context, int(there.createTime()))


def was_there(context: SessionContext, name: Any) -> bool:
    """Return True if a table of that name (a V1 identifier) existed in the session's catalog before the command.

    For IF NOT EXISTS commands that hold only the name of the table that they create.
    """
    table = REGISTRY.v1_table(context.catalog.getTableMetadata(name))
    return table.was_there(context, partial(_since_start, context))


def v2_was_made(context: SessionContext, table: Any | None) -> bool:
    """Return True if the command created a V2 table, by its catalog; also True if unknown."""
    return table is None or REGISTRY.v2_table(table).was_made(partial(_since_start, context))


def is_first_version(table: Any | None) -> bool:
    """Return True if a REPLACE has replaced no earlier table, by the catalog's entry; also True if unknown."""
    return table is None or REGISTRY.v2_table(table).is_first_version()


def _since_start(context: SessionContext, created: int) -> bool:
    """Return True if a time in milliseconds is at or after the command's planning."""
    if context.execution is None:
        return True
    phases = context.execution.tracker().phases().valuesIterator()
    starts = []
    while phases.hasNext():
        starts.append(int(phases.next().startTimeMs()))
    return not starts or _not_before(created, min(starts))


def _not_before(created: int, planned: int) -> bool:
    # Hive stores creation times in whole seconds.
    return created >= (planned if created % 1000 else planned // 1000 * 1000)
