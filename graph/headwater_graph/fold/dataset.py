"""DatasetEvent: registers of a dataset, the columns of its schema, and whether the dataset exists."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import NamedTuple

import msgspec

from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import ColumnFacts, DatasetFacts, TimeSpan
from headwater_graph.facts.registers import Props, Registers, Value, join
from headwater_graph.fold.builder import Builder, known, owners_cell, put, put_facets, tags_cell
from headwater_graph.fold.repeated import Repeated
from headwater_graph.keys import column_key
from headwater_schemas.events import (
    DatasetEvent,
    LifecycleChange,
    SchemaDefinition,
    SchemaField,
    Storage,
    Symlink,
)
from headwater_schemas.facets import COLUMNS_FACET, ColumnChanges, column_changes
from headwater_schemas.identity import schema_digest
from headwater_schemas.lru_cache import IdentityCache

# ALTER and TRUNCATE don't show that the dataset exists: they may arrive late, after a DROP.
_EXISTS_AFTER = {
    LifecycleChange.CREATE: True,
    LifecycleChange.OVERWRITE: True,
    LifecycleChange.RENAME: True,
    LifecycleChange.DROP: False,
}
# These remove all rows. A change of only some partitions is an ALTER.
_EMPTY_AFTER = (LifecycleChange.DROP, LifecycleChange.TRUNCATE)
# REPLACE TABLE is an OVERWRITE and may change the columns.
_CHANGE_COLUMNS = (LifecycleChange.ALTER, LifecycleChange.OVERWRITE)


def fold_dataset(into: Builder, body: DatasetEvent, events: Repeated) -> None:
    """Fold a DatasetEvent, the common body of `events`, into `into`. A body of several events has no `lifecycle`."""
    tenant, stamp, time = events.tenant, events.stamp, events.last
    key, node = into.dataset(tenant, body.dataset)
    registers: Registers = {}
    put(
        registers,
        stamp,
        type=body.type,
        description=body.description,
        owners=owners_cell(body.owners),
        tags=tags_cell(body.tags),
        classification=body.classification,
        criticality=body.criticality,
        storage=_storage(body.storage),
        symlinks=_symlinks(body.symlinks),
        lifecycle=known(body.lifecycle),
        existence=_existence(body.lifecycle, time),
        emptied_at=time if body.lifecycle in _EMPTY_AFTER else None,
        source_uri=body.source_uri,
    )
    for link in body.symlinks or ():
        into.alias(tenant, link.namespace, link.name)
    put_facets(registers, stamp, body.facets)
    if body.schema is not None:
        cells = _cells(body.schema)
        put(registers, stamp, schema=cells.schema)
        _fold_schema(node, cells, events)
        into.schema(tenant, key, cells.version).seen.see(events.first, events.last)
    if body.lifecycle in _CHANGE_COLUMNS and COLUMNS_FACET in body.facets:
        _fold_changes(into, tenant, key, column_changes(body.facets[COLUMNS_FACET]), time)
    if body.previous is not None and body.lifecycle is LifecycleChange.RENAME:
        previous_key, previous = into.dataset(tenant, body.previous)
        put(registers, stamp, renamed_from=previous_key)
        join(previous.registers, {"existence": (stamp, {"dropped": True, "dropped_at": time})})
        into.link(RelType.RENAMED_TO, previous_key, key, time)
    join(node.registers, registers)


def _fold_changes(into: Builder, tenant: str, dataset: str, changes: ColumnChanges, time: datetime) -> None:
    columns = into.delta.datasets[dataset].columns

    def column(path: str) -> str:
        columns.setdefault(path, ColumnFacts())
        return column_key(tenant, dataset, path)

    for renamed in changes.renamed:
        into.link(RelType.RENAMED_TO, column(renamed.previous), column(renamed.path), time)
    for path in changes.dropped:
        into.link(RelType.DROPPED, dataset, column(path), time)


class _Cells(NamedTuple):
    """Register values of one schema. Values in registers are never changed in place.

    Attributes:
        schema: register of the dataset.
        fields: register of each column, by path.
        version: properties of the SchemaVersion: the schema's digest; paths, types and nullability of its columns.
    """

    schema: Props
    fields: list[tuple[str, Props]]
    version: Props


_known_cells: IdentityCache[_Cells] = IdentityCache(100_000)
"""Cache by identity of the schema: the decoder returns one object for equal bytes. Sizes are numbers of columns."""


def _cells(schema: SchemaDefinition) -> _Cells:
    cells = _known_cells.get(schema)
    if cells is None:
        cell = _schema(schema)
        fields = [(field.path, _field(at, cell["_schema"], field)) for at, field in enumerate(schema.fields)]
        cells = _Cells(cell, fields, _version(schema))
        _known_cells.put(schema, cells, len(fields) + 1)
    return cells


def _fold_schema(node: DatasetFacts, cells: _Cells, events: Repeated) -> None:
    columns, stamp, first, last = node.columns, events.stamp, events.first, events.last
    for path, cell in cells.fields:
        column = columns.get(path)
        if column is None:
            # The usual case. Widening an empty span and joining into empty registers would take three times as long.
            columns[path] = ColumnFacts({"field": (stamp, cell)}, TimeSpan(first, last))
        else:
            column.seen.see(first, last)
            join(column.registers, {"field": (stamp, cell)})


def _schema(schema: SchemaDefinition) -> Props:
    # The digest distinguishes two schemas with the same paths without a comparison of their columns.
    digest = hashlib.blake2b(msgspec.msgpack.encode(schema), digest_size=16).hexdigest()
    return {"columns": [field.path for field in schema.fields], "_schema": digest}


def _version(schema: SchemaDefinition) -> Props:
    return {
        "digest": schema_digest(schema),
        "columns": [field.path for field in schema.fields],
        "data_types": [field.type or "" for field in schema.fields],
        "nullable": ["" if field.nullable is None else str(field.nullable).lower() for field in schema.fields],
    }


def _field(position: int, digest: Value, field: SchemaField) -> Props:
    # The digest is the first property of schemas and of columns, so it decides between equal stamps in both. So columns
    # always match the winning schema.
    cell: Props = {"_schema": digest, "position": position}
    if field.type is not None:
        cell["data_type"] = field.type
    if field.nullable is not None:
        cell["nullable"] = field.nullable
    if field.description is not None:
        cell["description"] = field.description
    return cell


def _existence(lifecycle: LifecycleChange | None, time: datetime) -> Props | None:
    if lifecycle not in _EXISTS_AFTER:
        return None
    return {"dropped": False} if _EXISTS_AFTER[lifecycle] else {"dropped": True, "dropped_at": time}


def _storage(storage: Storage | None) -> Props | None:
    if storage is None:
        return None
    cell: Props = {"storage_layer": storage.layer}
    if storage.format is not None:
        cell["storage_format"] = storage.format
    return cell


def _symlinks(symlinks: tuple[Symlink, ...] | None) -> Props | None:
    if symlinks is None:
        return None
    rows = sorted({(link.name, link.namespace, link.type or "") for link in symlinks})
    return {
        "symlinks": [row[0] for row in rows],
        "symlink_namespaces": [row[1] for row in rows],
        "symlink_types": [row[2] for row in rows],
    }
