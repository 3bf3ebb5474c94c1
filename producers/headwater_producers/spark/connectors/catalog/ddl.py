"""DDL: changes of a table, view or schema without writing rows.

A command that creates or alters is reported with the schema that the table has afterwards. A DROP has only its table's
name: `events.datasets.KnownTables` has the location, if the table was seen before.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.connectors.catalog.made import is_first_version, v2_was_made, was_made, was_there
from headwater_producers.spark.connectors.catalog.partitions import partition_change
from headwater_producers.spark.connectors.catalog.tables import named, v1_name
from headwater_producers.spark.connectors.connector_questions import JvmCommand, loaded
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.scala import class_name, items, option
from headwater_producers.spark.plan.column import ELEMENT, VALUE
from headwater_producers.spark.plan.description import DdlChange
from headwater_producers.spark.plan.schema import path_text, schema_definition
from headwater_schemas.events import DatasetRef, LifecycleChange
from headwater_schemas.facets import ColumnChanges, RenamedColumn

logger = logging.getLogger(__name__)

Change = tuple[DdlChange, ...]


def _created_v2(command: JvmCommand) -> Change:
    plan, context = command.plan, command.context
    name = plan.name()
    catalog, identifier = name.catalog(), name.identifier()
    table = loaded(catalog, identifier)
    if command.name == "CreateTable":
        if plan.ignoreIfExists() and not v2_was_made(context, table):
            return ()
    elif not plan.orCreate() or not is_first_version(table):
        return (_all_new(_of_table(catalog, identifier, table, context, LifecycleChange.OVERWRITE)),)
    return (_of_table(catalog, identifier, table, context, LifecycleChange.CREATE),)


def _all_new(change: DdlChange) -> DdlChange:
    """Mark all columns of a replaced table as dropped: no old row is left, so no new column continues an old one."""
    whole: list[str] = []
    for field in change.schema.fields if change.schema is not None else ():
        # A column comes before its nested fields, which change with it.
        if not whole or not field.path.startswith(f"{whole[-1]}."):
            whole.append(field.path)
    return replace(change, columns=ColumnChanges(dropped=tuple(whole))) if whole else change


def _created_v1(command: JvmCommand) -> Change:
    table = command.plan.table()
    if command.plan.ignoreIfExists() and not was_made(command.context.catalog, table):
        return ()
    return (of_v1(table.identifier(), command.context, LifecycleChange.CREATE),)


def _created_like(command: JvmCommand) -> Change:
    name = command.plan.targetTable()
    if command.plan.ifNotExists() and was_there(command.context, name):
        return ()
    return (of_v1(name, command.context, LifecycleChange.CREATE),)


def _created_like_v2(command: JvmCommand) -> Change:
    """Describe CREATE TABLE LIKE in a V2 catalog, which has a command of its own since Spark 4.2."""
    plan, context = command.plan, command.context
    name = plan.name()
    table = loaded(name.catalog(), name.identifier())
    if plan.ifNotExists() and not v2_was_made(context, table):
        return ()
    return (_of_table(name.catalog(), name.identifier(), table, context, LifecycleChange.CREATE),)


def altered_v2(command: JvmCommand) -> Change:
    """Describe an ALTER TABLE in a V2 catalog: the command's child is the table."""
    table = command.plan.child()
    return (of_v2(table.catalog(), table.identifier(), command.context, LifecycleChange.ALTER),)


def _columns_changed_v2(command: JvmCommand) -> Change:
    """Describe RENAME COLUMN, DROP COLUMNS and REPLACE COLUMNS: the new schema doesn't show renames."""
    (change,) = altered_v2(command)
    plan, known = (
        command.plan,
        frozenset(field.path for field in change.schema.fields) if change.schema else frozenset(),
    )
    match command.name:
        case "RenameColumn":
            before = [str(part) for part in items(plan.column().name())]
            after = [*before[:-1], str(plan.newName())]
            changes = ColumnChanges((RenamedColumn(_field_path(before, known), _field_path(after, known)),))
        case "DropColumns":
            dropped = [
                field.name() for field in items(plan.columnsToDrop()) if class_name(field) == "ResolvedFieldName"
            ]
            parts = ([str(part) for part in items(name)] for name in dropped)
            changes = ColumnChanges(dropped=tuple(_field_path(each, known) for each in parts))
        case _ if change.storage is not None and change.storage.layer in _REPLACES_BY_NAME:
            return (change,)
        case _:
            # REPLACE COLUMNS: a new column doesn't keep the values of an old column of the same name.
            changes = ColumnChanges(dropped=tuple(path_text((str(c.name()),)) for c in items(plan.child().output())))
    return (replace(change, columns=changes) if changes != ColumnChanges() else change,)


def _field_path(parts: Sequence[str], known: Collection[str]) -> str:
    """Convert a field's path from DDL's form to the reported one: `legs.element.origin` ⇒ `legs.[].origin`.

    Args:
        known: paths of the table's fields after the change; the parents of the changed field are always among them.
    """
    path: tuple[str, ...] = ()
    for part in parts[:-1]:
        inner = _STEPS.get(part)
        is_inner = inner is not None and path_text((*path, part)) not in known and path_text((*path, inner)) in known
        path = (*path, inner if is_inner and inner is not None else part)
    return path_text((*path, parts[-1]))


_REPLACES_BY_NAME: Final = frozenset({"delta"})
"""Formats in which a column keeps its values, if REPLACE COLUMNS names it again."""

_STEPS: Final = {"element": ELEMENT, "value": VALUE}
"""DDL's names of the elements of an array and the values of a map."""


def _relocated_v2(command: JvmCommand) -> Change:
    """Describe SET LOCATION: the table keeps its name, and its data lies elsewhere from now on."""
    (change,) = altered_v2(command)
    table = command.plan.child()
    return (_moved(change, named(command.context, table.catalog(), table.identifier(), None).dataset),)


def _relocated_v1(command: JvmCommand) -> Change:
    (change,) = _altered_v1(command)
    if change.partitions is not None:
        return (change,)
    return (_moved(change, v1_name(command.plan.tableName(), command.context).ref),)


def _moved(change: DdlChange, name: DatasetRef) -> DdlChange:
    """Add the table's catalog name: if capture saw the former location by this name, the change becomes a RENAME."""
    return change if change.dataset == name else replace(change, previous=name, previous_by_name=True)


def _commented(command: JvmCommand) -> Change:
    """Describe COMMENT ON TABLE; IS NULL removes the comment."""
    (change,) = altered_v2(command)
    return (replace(change, description=change.description or ""),)


def _truncated_v2(command: JvmCommand) -> Change:
    table = command.plan.table()
    return (of_v2(table.catalog(), table.identifier(), command.context, LifecycleChange.TRUNCATE),)


def _altered_v1(command: JvmCommand) -> Change:
    plan = command.plan
    table = plan.table() if command.name == "AlterTableAddColumnsCommand" else plan.tableName()
    change = of_v1(table, command.context, LifecycleChange.ALTER)
    return (replace(change, partitions=partition_change(plan)),)


def _truncated_v1(command: JvmCommand) -> Change:
    partitions = partition_change(command.plan)
    # TRUNCATE of the whole table means that all rows are gone.
    lifecycle = LifecycleChange.TRUNCATE if partitions is None else LifecycleChange.ALTER
    return (replace(of_v1(command.plan.tableName(), command.context, lifecycle), partitions=partitions),)


def _dropped_v2(command: JvmCommand) -> Change:
    gone = command.plan.child()
    if class_name(gone) not in ("ResolvedIdentifier", "ResolvedTable"):
        # DROP IF EXISTS of a table that didn't exist.
        return ()
    entry = named(command.context, gone.catalog(), gone.identifier(), None)
    return (_dropped(entry.dataset, "TABLE", command.plan),)


def _dropped_v1(command: JvmCommand) -> Change:
    plan = command.plan
    identifier = plan.tableName()
    if not option(identifier.database()) and not option(identifier.catalog()):
        # A temporary view is no dataset.
        return ()
    kind = "VIEW" if plan.isView() else "TABLE"
    return (_dropped(v1_name(identifier, command.context).ref, kind, plan),)


def _dropped(dataset: DatasetRef, kind: str, plan: Any) -> DdlChange:
    if_exists = bool(plan.ifExists())
    return DdlChange(dataset=dataset, type=kind, lifecycle=LifecycleChange.DROP, by_name=True, if_exists=if_exists)


def _renamed_v2(command: JvmCommand) -> Change:
    plan, context = command.plan, command.context
    table = plan.child()
    parts = [str(part) for part in items(plan.newName())]
    catalog = table.catalog()
    if parts[0] == str(catalog.name()):
        parts = parts[1:]
    spaces = [str(part) for part in table.identifier().namespace()]
    identifier = _identifier(parts[:-1] or spaces, parts[-1], context)
    change = of_v2(catalog, identifier, context, LifecycleChange.RENAME)
    try:
        before = named(context, catalog, table.identifier(), table.table())
    except Exception:
        # A table may read its metadata from its former location.
        logger.debug("lineage capture: the former location of a renamed table is unknown", exc_info=True)
        before = named(context, catalog, table.identifier(), None)
        return (_renamed(change, before.dataset, by_name=True),)
    return (_renamed(change, before.dataset),)


def _renamed_v1(command: JvmCommand) -> Change:
    old, new = command.plan.oldName(), command.plan.newName()
    if not option(old.database()):
        return ()
    before = v1_name(old, command.context)
    database = str(option(new.database()) or option(old.database()))
    found = new.copy(new.table(), command.context.session._jvm.scala.Option.apply(database), new.catalog())
    return (_renamed(of_v1(found, command.context, LifecycleChange.RENAME), before.ref, by_name=True),)


def _renamed(change: DdlChange, before: DatasetRef, *, by_name: bool = False) -> DdlChange:
    if change.dataset == before:
        # The data stays: the dataset is the same, under another name in the catalog.
        return replace(change, lifecycle=LifecycleChange.ALTER)
    return replace(change, previous=before, previous_by_name=by_name)


def of_v2(catalog: Any, identifier: Any, context: SessionContext, lifecycle: LifecycleChange) -> DdlChange:
    """Describe the change of a table of a V2 catalog, with the table's current schema."""
    return _of_table(catalog, identifier, loaded(catalog, identifier), context, lifecycle)


def _of_table(
    catalog: Any, identifier: Any, table: Any | None, context: SessionContext, lifecycle: LifecycleChange
) -> DdlChange:
    """Describe the DDL change of a V2 table; `table` is None if the catalog doesn't have the table."""
    entry = named(context, catalog, identifier, table)
    described = REGISTRY.v2_table(table) if table is not None else None
    return DdlChange(
        dataset=entry.dataset,
        type=entry.type,
        schema=schema_definition(described.schema()) if described is not None else None,
        description=described.comment() if described is not None else None,
        storage=entry.storage,
        symlinks=entry.symlinks,
        lifecycle=lifecycle,
        by_name=table is None,
    )


def of_v1(identifier: Any, context: SessionContext, lifecycle: LifecycleChange) -> DdlChange:
    """Describe the change of a table or view of Spark's own catalog, with its current schema."""
    table = context.catalog.getTableMetadata(identifier)
    described = REGISTRY.v1_table(table)
    name = context.catalog_table(table)
    return DdlChange(
        dataset=name.ref,
        type="VIEW" if str(table.tableType().name()) == "VIEW" else "TABLE",
        schema=schema_definition(json.loads(str(described.schema(context).json()))),
        description=described.comment(),
        storage=described.storage(),
        symlinks=name.symlinks,
        lifecycle=lifecycle,
    )


def resolved(name: Any, context: SessionContext) -> tuple[Any, Any]:
    """Resolve a table's written name, a Scala `Seq` of parts, to the JVM's catalog and `Identifier`."""
    parts = [str(part) for part in items(name)]
    catalogs = context.session._jsparkSession.sessionState().catalogManager()
    if len(parts) > 1 and catalogs.isCatalogRegistered(parts[0]):
        catalog, parts = catalogs.catalog(parts[0]), parts[1:]
    else:
        catalog = catalogs.currentCatalog()
    namespace = parts[:-1] or [str(part) for part in catalogs.currentNamespace()]
    return catalog, _identifier(namespace, parts[-1], context)


def _identifier(namespace: list[str], name: str, context: SessionContext) -> Any:
    """Return the JVM's `Identifier` of a table."""
    jvm = context.session._jvm
    array = context.session.sparkContext._gateway.new_array(jvm.java.lang.String, len(namespace))
    for index, part in enumerate(namespace):
        array[index] = part
    return jvm.org.apache.spark.sql.connector.catalog.Identifier.of(array, name)


DDL: Final[dict[str, Callable[[JvmCommand], Change]]] = {
    **dict.fromkeys(("CreateTable", "ReplaceTable"), _created_v2),
    **dict.fromkeys(("CreateDataSourceTableCommand", "CreateTableCommand"), _created_v1),
    "CreateTableLikeCommand": _created_like,
    "CreateTableLike": _created_like_v2,
    **dict.fromkeys(
        (
            "AddColumns",
            "AlterColumn",
            "AlterColumns",
            "AlterTableClusterBy",
            "SetTableProperties",
            "UnsetTableProperties",
        ),
        altered_v2,
    ),
    **dict.fromkeys(("DropColumns", "RenameColumn", "ReplaceColumns"), _columns_changed_v2),
    "SetTableLocation": _relocated_v2,
    "AlterTableSetLocationCommand": _relocated_v1,
    "CommentOnTable": _commented,
    **dict.fromkeys(
        (
            "AlterTableAddColumnsCommand",
            "AlterTableAddPartitionCommand",
            "AlterTableChangeColumnCommand",
            "AlterTableDropPartitionCommand",
            "AlterTableRenamePartitionCommand",
            "AlterTableSetPropertiesCommand",
            "AlterTableUnsetPropertiesCommand",
            "RepairTableCommand",
        ),
        _altered_v1,
    ),
    "TruncateTable": _truncated_v2,
    "TruncateTableCommand": _truncated_v1,
    "DropTable": _dropped_v2,
    "DropTableCommand": _dropped_v1,
    "RenameTable": _renamed_v2,
    "AlterTableRenameCommand": _renamed_v1,
}
"""Rules for Spark's own DDL commands, by class name."""
