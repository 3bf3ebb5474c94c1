"""Columns of datasets, from schemas and plans.

Most reports repeat a dataset's schema unchanged. Then no column is read or written: the dataset's register has the new
stamp, which applies to every column of the schema. When a column leaves the schema, its stamp and time are copied from
the dataset to the column. Late reports write no columns either, unless they are older than the stored first observation
of the schema. Reports are late, for example, if jobs with events on several partitions write one dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater_graph.derive import column_validity
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label
from headwater_graph.facts.nodes import ColumnFacts, DatasetFacts, TimeSpan
from headwater_graph.facts.owners import REGISTERS
from headwater_graph.facts.properties import GROUPS, flatten, parse, stamped
from headwater_graph.facts.registers import Cell, Props, Registers, stamp_time
from headwater_graph.keys import column_identity
from headwater_graph.write.bolt import from_bolt, to_bolt
from headwater_graph.write.nodes import Joined
from headwater_graph.write.transaction import Index, WriteTransaction


def write_columns(
    tx: WriteTransaction, delta: GraphDelta, datasets: Mapping[str, Joined], schemas: Mapping[str, Joined]
) -> None:
    """Write the columns of the delta's datasets, given the joined datasets, which are locked, and their schemas."""
    index = Index()
    since = _since(delta, schemas)
    rows: list[dict[str, Any]] = []
    owners: dict[str, tuple[str, str]] = {}
    for dataset, facts in delta.datasets.items():
        if not facts.columns and not _reports_schema(facts):
            continue
        current, reported = schema_paths(datasets[dataset].after), _reports_schema(facts)
        repeated = reported and _is_repeated(facts, datasets[dataset], since.get(dataset))
        paths = {path for path, column in facts.columns.items() if not (repeated and column.registers)}
        if reported and not repeated:
            paths |= schema_paths(datasets[dataset].before)
        for path in paths:
            column = facts.columns.get(path) or ColumnFacts()
            identity = column_identity(facts.identity, path)
            owners[str(identity["key"])] = (dataset, path)
            rows.append(
                {
                    "key": identity["key"],
                    "dataset": index.at(dataset),
                    "properties": {**identity, **flatten(column.registers), **stamped(column.registers)},
                    "validity": to_bolt(column_validity(path, column, current)),
                    "read": reported,
                }
            )
    rows.sort(key=lambda row: str(row["key"]))
    updates = []
    for column, validity in tx.find_rows("columns", rows, datasets=index.keys):
        dataset, path = owners[column["key"]]
        incoming = delta.datasets[dataset].columns.get(path) or ColumnFacts()
        updates += _update(column, from_bolt(validity), path, incoming, datasets[dataset])
    tx.send_rows("update_columns", updates)


def _reports_schema(facts: DatasetFacts) -> bool:
    return "schema" in facts.registers


def _since(delta: GraphDelta, schemas: Mapping[str, Joined]) -> dict[str, datetime | None]:
    """Map each dataset with one schema in the delta to this schema's stored first observation; None: a new schema."""
    since: dict[str, datetime | None] = {}
    several: set[str] = set()
    for key, schema in delta.schemas.items():
        if schema.dataset in since:
            several.add(schema.dataset)
        since[schema.dataset] = schemas[key].since
    return {dataset: first for dataset, first in since.items() if dataset not in several}


def _is_repeated(facts: DatasetFacts, joined: Joined, since: datetime | None) -> bool:
    """Return True if the delta's schemas change no column: the newest schema is stored, and no report is older.

    Args:
        joined: joined registers of the dataset.
        since: stored first observation of the delta's only schema; None if the schema is new or isn't the only one. All
            columns of the schema have been observed since then.
    """
    before = joined.before.get("schema")
    if before is None or before[1] != facts.registers["schema"][1]:
        return False
    current = schema_paths(joined.after)
    # The report in the register isn't older than the schema's first report, and had all columns of the schema, too.
    since = since or stamp_time(before[0])
    return all(
        path in current and column.seen.first is not None and column.seen.first >= since
        for path, column in facts.columns.items()
        if column.registers
    )


def _update(
    column: Props, validity: dict[str, Any], path: str, incoming: ColumnFacts, dataset: Joined
) -> list[dict[str, Any]]:
    stored = parse(column, REGISTERS[Label.COLUMN])
    seen = TimeSpan(validity.get("first_seen"), validity.get("last_seen"))
    after = ColumnFacts(dict(stored))
    after.seen.see(seen.first, seen.last)
    if path in schema_paths(dataset.before) and "field" in stored:
        mark, schema = dataset.before["schema"]
        after.registers["field"] = (mark, {**_cell(stored["field"][1]), "_schema": _cell(schema)["_schema"]})
        after.seen.see(None, stamp_time(mark))
    after.join(incoming)
    current = schema_paths(dataset.after)
    wanted = column_validity(path, after, current)
    changed: dict[str, Any] = {
        name: wanted.get(name)
        for name in ("first_seen", "last_seen", "current")
        if wanted.get(name) != validity.get(name)
    }
    now = after.registers.get("field")
    is_same = now is None or _shown(stored.get("field")) == _shown(now)
    if not changed and is_same and (now is None or path in current):
        return []
    properties: dict[str, Any] = {}
    if now is not None:
        properties = {name: _cell(now[1]).get(name) for name in GROUPS["field"]} | {"_stamp": now[0]}
    return [{"key": column["key"], "properties": properties, "validity": to_bolt(changed)}]


def _cell(cell: Cell) -> Props:
    assert isinstance(cell, dict)  # noqa: S101 - `schema` and `field` are groups; for the type checker
    return cell


def _shown(register: tuple[str, Cell] | None) -> Props | None:
    return None if register is None else {k: v for k, v in _cell(register[1]).items() if k != "_schema"}


def schema_paths(registers: Registers) -> set[str]:
    """Field paths of the schema in a dataset's registers."""
    _, schema = registers.get("schema", ("", None))
    if not isinstance(schema, dict) or not isinstance(schema["columns"], list):
        return set()
    return {str(path) for path in schema["columns"]}
