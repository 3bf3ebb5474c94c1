"""DDL: what a command does to a table, view or its schema without writing rows.

A command that creates or alters is told with the schema that the table has afterwards. A DROP knows its table by name
alone: where its data lay is for those to say who met it before (`events.known_tables`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors import existing
from headwater_producers.spark.connectors.delta.commands import cloned_by
from headwater_producers.spark.connectors.delta.snapshots import latest_snapshot
from headwater_producers.spark.connectors.partitions import partition_change
from headwater_producers.spark.connectors.tables import loaded, named, stored, table_schema
from headwater_producers.spark.jvm.identifiers import identifier_of, resolved
from headwater_producers.spark.jvm.paths import of_uri
from headwater_producers.spark.jvm.scala import class_name, items, option
from headwater_producers.spark.plan.description import DatasetChange
from headwater_producers.spark.plan.schema import schema_definition
from headwater_schemas.events import DatasetRef, LifecycleChange

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context
    from headwater_schemas.naming import NamedTable

logger = logging.getLogger(__name__)

Change = tuple[DatasetChange, ...]
Rule = Callable[[Any, "Context"], Change]


def changes(plan: Any, context: Context) -> Change | None:
    """What a JVM command does to datasets; None where it is no DDL that is known."""
    rule = _RULES.get(class_name(plan))
    return rule(plan, context) if rule is not None else None


def _create_v2(plan: Any, context: Context) -> Change:
    name = plan.name()
    catalog, identifier = name.catalog(), name.identifier()
    table = loaded(catalog, identifier)
    lifecycle = LifecycleChange.CREATE
    if class_name(plan) == "CreateTable":
        if plan.ignoreIfExists() and not existing.v2_was_made(context, table):
            return ()
    elif not plan.orCreate() or not existing.is_first_version(table):
        # Its rows are gone, and it has other columns.
        lifecycle = LifecycleChange.OVERWRITE
    return (_of_table(catalog, identifier, table, context, lifecycle),)


def _create_v1(plan: Any, context: Context) -> Change:
    if class_name(plan) == "CreateDeltaTableCommand" and cloned_by(plan) is not None:
        # That is a write.
        return ()
    table = plan.table()
    if class_name(plan) == "CreateDeltaTableCommand":
        met = existing.was_there(context, plan, table.identifier())
    else:
        catalog = context.session._jsparkSession.sessionState().catalog()
        met = plan.ignoreIfExists() and not existing.was_made(catalog, table)
    return () if met else (_of_v1(table.identifier(), context, LifecycleChange.CREATE),)


def _create_like(plan: Any, context: Context) -> Change:
    name = plan.targetTable()
    return () if existing.was_there(context, plan, name) else (_of_v1(name, context, LifecycleChange.CREATE),)


def _alter_v2(plan: Any, context: Context) -> Change:
    table = plan.child() if class_name(plan) != "TruncateTable" else plan.table()
    change = LifecycleChange.TRUNCATE if class_name(plan) == "TruncateTable" else LifecycleChange.ALTER
    return (_of_v2(table.catalog(), table.identifier(), context, change),)


def _alter_v1(plan: Any, context: Context) -> Change:
    table = plan.table() if class_name(plan) == "AlterTableAddColumnsCommand" else plan.tableName()
    return (replace(_of_v1(table, context, LifecycleChange.ALTER), partitions=partition_change(plan)),)


def _alter_iceberg(plan: Any, context: Context) -> Change:
    """Iceberg's commands of its own, which have the table's name as it was written."""
    return (_of_v2(*resolved(plan.table(), context), context, LifecycleChange.ALTER),)


def _truncate_v1(plan: Any, context: Context) -> Change:
    some = partition_change(plan)
    # TRUNCATE says that all rows are gone.
    lifecycle = LifecycleChange.TRUNCATE if some is None else LifecycleChange.ALTER
    return (replace(_of_v1(plan.tableName(), context, lifecycle), partitions=some),)


def _drop_v2(plan: Any, context: Context) -> Change:
    gone = plan.child()
    if class_name(gone) not in ("ResolvedIdentifier", "ResolvedTable"):
        # DROP IF EXISTS of what didn't.
        return ()
    entry = named(context, gone.catalog(), gone.identifier(), None)
    return (_dropped(entry.dataset, "TABLE", plan),)


def _drop_v1(plan: Any, context: Context) -> Change:
    identifier = plan.tableName()
    if not option(identifier.database()) and not option(identifier.catalog()):
        # A temporary view is no dataset.
        return ()
    kind = "VIEW" if plan.isView() else "TABLE"
    name = _v1_name(identifier, context, None)
    return (_dropped(name.ref, kind, plan),)


def _dropped(dataset: DatasetRef, kind: str, plan: Any) -> DatasetChange:
    if_exists = bool(plan.ifExists())
    return DatasetChange(dataset=dataset, type=kind, lifecycle=LifecycleChange.DROP, by_name=True, if_exists=if_exists)


def _rename_v2(plan: Any, context: Context) -> Change:
    table = plan.child()
    parts = [str(part) for part in items(plan.newName())]
    catalog = table.catalog()
    if parts[0] == str(catalog.name()):
        parts = parts[1:]
    spaces = [str(part) for part in table.identifier().namespace()]
    identifier = identifier_of(parts[:-1] or spaces, parts[-1], context)
    change = _of_v2(catalog, identifier, context, LifecycleChange.RENAME)
    try:
        before = named(context, catalog, table.identifier(), table.table())
    except Exception:
        # A table may read what it says of itself from where it no longer is.
        logger.debug("lineage capture: a renamed table doesn't tell where it was", exc_info=True)
        before = named(context, catalog, table.identifier(), None)
        return (_renamed(change, before.dataset, by_name=True),)
    return (_renamed(change, before.dataset),)


def _rename_v1(plan: Any, context: Context) -> Change:
    old, new = plan.oldName(), plan.newName()
    if not option(old.database()):
        return ()
    before = _v1_name(old, context, None)
    database = str(option(new.database()) or option(old.database()))
    found = new.copy(new.table(), context.session._jvm.scala.Option.apply(database), new.catalog())
    return (_renamed(_of_v1(found, context, LifecycleChange.RENAME), before.ref, by_name=True),)


def _renamed(change: DatasetChange, before: Any, *, by_name: bool = False) -> DatasetChange:
    if change.dataset == before:
        # Its data stays where it was: the dataset is the same, under another name of the catalog's.
        return replace(change, lifecycle=LifecycleChange.ALTER)
    return replace(change, previous=before, previous_by_name=by_name)


def _of_v2(catalog: Any, identifier: Any, context: Context, lifecycle: LifecycleChange) -> DatasetChange:
    return _of_table(catalog, identifier, loaded(catalog, identifier), context, lifecycle)


def _of_table(
    catalog: Any, identifier: Any, table: Any | None, context: Context, lifecycle: LifecycleChange
) -> DatasetChange:
    """Of a V2 table as its catalog has it; None: it has none."""
    entry = named(context, catalog, identifier, table)
    return DatasetChange(
        dataset=entry.dataset,
        type=entry.type,
        schema=schema_definition(table_schema(table)) if table is not None else None,
        storage=entry.storage,
        symlinks=entry.symlinks,
        lifecycle=lifecycle,
        by_name=table is None,
    )


def _of_v1(identifier: Any, context: Context, lifecycle: LifecycleChange) -> DatasetChange:
    catalog = context.session._jsparkSession.sessionState().catalog()
    table = catalog.getTableMetadata(identifier)
    name = context.catalog_table(table)
    schema = table.schema()
    if schema.isEmpty() and option(table.provider()) == "delta":
        # The catalog has none of Delta's columns.
        schema = latest_snapshot(context.session, of_uri(table.location())).schema()
    return DatasetChange(
        dataset=name.ref,
        type="VIEW" if str(table.tableType().name()) == "VIEW" else "TABLE",
        schema=schema_definition(json.loads(str(schema.json()))),
        storage=stored(table),
        symlinks=name.symlinks,
        lifecycle=lifecycle,
    )


def _v1_name(identifier: Any, context: Context, location: str | None) -> NamedTable:
    database = option(identifier.database()) or "default"
    return context.table(f"{database}.{identifier.table()}", location)


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("CreateTable", "ReplaceTable"), _create_v2),
    **dict.fromkeys(("CreateDataSourceTableCommand", "CreateTableCommand", "CreateDeltaTableCommand"), _create_v1),
    "CreateTableLikeCommand": _create_like,
    **dict.fromkeys(
        (
            "AddColumns",
            "AlterColumn",
            "AlterColumnSyncIdentity",
            "AlterColumns",
            "AlterTableAddConstraint",
            "AlterTableClusterBy",
            "AlterTableDropConstraint",
            "AlterTableDropFeature",
            "CommentOnTable",
            "DropColumns",
            "RenameColumn",
            "ReplaceColumns",
            "SetTableLocation",
            "SetTableProperties",
            "TruncateTable",
            "UnsetTableProperties",
        ),
        _alter_v2,
    ),
    **dict.fromkeys(
        (
            "AlterTableAddColumnsCommand",
            "AlterTableAddPartitionCommand",
            "AlterTableChangeColumnCommand",
            "AlterTableDropPartitionCommand",
            "AlterTableRenamePartitionCommand",
            "AlterTableSetLocationCommand",
            "AlterTableSetPropertiesCommand",
            "AlterTableUnsetPropertiesCommand",
            "RepairTableCommand",
        ),
        _alter_v1,
    ),
    **dict.fromkeys(
        (
            "AddPartitionField",
            "CreateOrReplaceBranch",
            "CreateOrReplaceTag",
            "DropBranch",
            "DropIdentifierFields",
            "DropPartitionField",
            "DropTag",
            "ReplacePartitionField",
            "SetIdentifierFields",
            "SetWriteDistributionAndOrdering",
        ),
        _alter_iceberg,
    ),
    "TruncateTableCommand": _truncate_v1,
    "DropTable": _drop_v2,
    "DropTableCommand": _drop_v1,
    "RenameTable": _rename_v2,
    "AlterTableRenameCommand": _rename_v1,
}
