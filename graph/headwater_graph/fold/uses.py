"""Uses of datasets by runs and micro-batches: registers of each use, and the version that its position names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headwater_graph.derive import FILES
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import MADE_FROM, MOST_CONSUMED, MOST_PRODUCED, POSSIBLE, WIDE
from headwater_graph.facts.registers import Props, Registers, join
from headwater_graph.fold.builder import Builder, put, put_facets
from headwater_graph.words import path_marks
from headwater_schemas.events import Certainty, DatasetUse, FileSet, Position, TableSnapshot
from headwater_schemas.facets import ADDED_FILES_FACET, AddedFiles, added_files


def fold_uses(
    into: Builder, tenant: str, type_: RelType, uses: Iterable[DatasetUse], stamp: str
) -> dict[UseKey, Registers]:
    """Fold a run's or micro-batch's uses of one type; add their datasets and versions to `into`.

    A dataset that is listed twice (a self-join) has two uses, numbered in the order of the list.
    """
    out: dict[UseKey, Registers] = {}
    listed = list(uses)
    is_wide = len(listed) > (MOST_CONSUMED if type_ is RelType.CONSUMED else MOST_PRODUCED)
    for item in listed:
        dataset, _ = into.dataset(tenant, item.dataset)
        use = UseKey(type_, dataset, 0)
        while use in out:
            use = use._replace(ordinal=use.ordinal + 1)
        registers = _reported(item, stamp)
        added = added_files(item.facets.get(ADDED_FILES_FACET))
        # The position has the files that a table's version added.
        in_position = added is not None and item.position is not None and item.position.table_snapshot is not None
        facets = {name: text for name, text in item.facets.items() if not (in_position and name == ADDED_FILES_FACET)}
        put_facets(registers, stamp, facets)
        if item.position is not None:
            position = position_properties(item.position, item.certainty, added)
            if position is not None:
                registers["position"] = (stamp, position)
            _fold_version(into, tenant, dataset, item.position, stamp)
        if type_ is RelType.PRODUCED and item.inputs is not None:
            registers[MADE_FROM] = (stamp, sorted({into.dataset(tenant, ref)[0] for ref in item.inputs}))
        elif type_ is RelType.PRODUCED and item.possible:
            registers[POSSIBLE] = (stamp, True)
        if is_wide and MADE_FROM not in registers:
            registers[WIDE] = (stamp, "ALL")
        out[use] = registers
    return out


def _reported(item: DatasetUse, stamp: str) -> Registers:
    # Without `put`, which takes twice as long: a batch of runs has thousands of uses.
    registers: Registers = {}
    if item.rows is not None:
        registers["rows"] = (stamp, item.rows)
    if item.bytes is not None:
        registers["bytes"] = (stamp, item.bytes)
    if item.files is not None:
        registers["files"] = (stamp, item.files)
    if item.schema_digest is not None:
        registers["schema_digest"] = (stamp, item.schema_digest)
    return registers


def _fold_version(into: Builder, tenant: str, dataset: str, position: Position, stamp: str) -> None:
    registers: Registers = {}
    if (table := position.table_snapshot) is not None:
        put(registers, stamp, parent_id=table.parent_id, operation=table.operation)
        put(registers, stamp, partitions=sorted(set(table.partitions)) or None)
        join(into.version(tenant, dataset, table.format, table.snapshot_id).registers, registers)
    elif (files := position.files) is not None and files.manifest_digest is not None:
        put(registers, stamp, file_count=files.count, file_bytes=files.bytes)
        join(into.version(tenant, dataset, FILES, files.manifest_digest).registers, registers)


def position_properties(position: Position, certainty: Certainty, added: AddedFiles | None = None) -> Props | None:
    """Return the register `position`; None for a kind of position that this version doesn't know.

    Args:
        added: files that a table's version added, if they are known.
    """
    known = _position(position)
    if known is None:
        return None
    kind, properties = known
    if added is not None and (table := position.table_snapshot) is not None:
        marks = path_marks([*table.partitions, *added.paths]) or None
        properties = properties | {"file_count": added.count, "paths": sorted(added.paths) or None, "_marks": marks}
    out: Props = {name: value for name, value in properties.items() if value is not None}
    out["position"] = kind
    out["certainty"] = certainty.value
    return out


def _position(position: Position) -> tuple[str, dict[str, Any]] | None:
    if (kafka := position.kafka) is not None:
        ranges = sorted(kafka.ranges)
        return "kafka", {
            "topic": kafka.topic,
            "topic_id": kafka.topic_id,
            "partitions": [r.partition for r in ranges],
            "from": [r.from_ for r in ranges],
            "to_exclusive": [r.to_exclusive for r in ranges],
        }
    if position.table_snapshot is not None:
        return "table_snapshot", _table_snapshot(position.table_snapshot)
    if (change := position.table_range) is not None:
        return "table_range", {"format": change.format, "from_version": change.from_, "to_version": change.to}
    if position.files is not None:
        return "files", _files(position.files)
    if (cdc := position.cdc) is not None:
        return "cdc", {"system": cdc.system, "from_cdc": cdc.from_, "to_cdc": cdc.to}
    if (cursor := position.api_cursor) is not None:
        return "api_cursor", {"from_cursor": cursor.from_, "to_cursor": cursor.to}
    if (times := position.time_range) is not None:
        return "time_range", {"from_time": times.from_, "to_time_exclusive": times.to_exclusive}
    if (opaque := position.opaque) is not None:
        return "opaque", {"from_json": opaque.from_json, "to_json": opaque.to_json}
    return None


def _table_snapshot(table: TableSnapshot) -> dict[str, Any]:
    return {
        "format": table.format,
        "snapshot_id": table.snapshot_id,
        "parent_id": table.parent_id,
        "operation": table.operation,
        "partition_paths": sorted(set(table.partitions)) or None,
        "_marks": path_marks(table.partitions) or None,
    }


def _files(files: FileSet) -> dict[str, Any]:
    return {
        "file_count": files.count,
        "file_bytes": files.bytes,
        "manifest_digest": files.manifest_digest,
        "paths": sorted(files.paths) or None,
        "pattern": files.pattern,
        "_marks": path_marks(files.paths) or None,
    }
