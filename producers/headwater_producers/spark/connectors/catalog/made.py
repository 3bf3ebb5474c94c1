"""Whether IF NOT EXISTS, or OR REPLACE, made something, or found what was there already."""

from __future__ import annotations

from functools import partial
from typing import Any

from headwater_producers.spark.connectors.context import Context
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.scala import option


def was_made(catalog: Any, table: Any) -> bool:
    """Whether a V1 catalog's table is the JVM `CatalogTable` that a command made; also where it is gone again."""
    identifier = table.identifier()
    if not catalog.tableExists(identifier):
        return True
    return _not_before(int(catalog.getTableMetadata(identifier).createTime()), int(table.createTime()))


def view_was_made(context: Context, plan: Any) -> bool:
    """Whether a `CreateViewCommand` IF NOT EXISTS made its view."""
    catalog = context.catalog
    if not catalog.tableExists(plan.name()):
        return True
    there = catalog.getTableMetadata(plan.name())
    return option(there.viewText()) == option(plan.originalText()) and _since_start(context, int(there.createTime()))


def was_there(context: Context, name: Any) -> bool:
    """Whether a command found a table of that name (a V1 identifier) in the session's catalog, or has made it.

    Of commands IF NOT EXISTS that don't hold the table that they make, but only its name.
    """
    table = REGISTRY.v1_table(context.catalog.getTableMetadata(name))
    return table.was_there(context, partial(_since_start, context))


def v2_was_made(context: Context, table: Any | None) -> bool:
    """Whether a table, as its catalog has it, was made by the command; True also where that isn't known."""
    return table is None or REGISTRY.v2_table(table).was_made(partial(_since_start, context))


def is_first_version(table: Any | None) -> bool:
    """Whether nothing was there that a REPLACE has replaced, by what the catalog has; True where it isn't known."""
    return table is None or REGISTRY.v2_table(table).is_first_version()


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
