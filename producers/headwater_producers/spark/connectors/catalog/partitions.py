"""Partitions named by JVM commands: target of a write, or changed by DDL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from headwater_producers.spark.connectors.connector_questions import JvmCommand
from headwater_producers.spark.jvm.scala import class_name, items, option, pairs
from headwater_producers.spark.plan.column import CONSTANT, ValueLineage
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, PartitionChange, partition_value

_PLAIN: Final = frozenset({"string", "integer", "long", "short", "byte", "boolean", "date"})
"""Types whose literals, as text, are spelled like the value in a partition's folder (`day=2024-01-01`)."""


def specification(spec: Any, columns: Iterable[str] = ()) -> Partition:
    """Parse a Scala map of columns to values (text, null or an `Option` of either), in the order of `columns`.

    Columns with an empty `Option` get their values from the rows: they are left out.
    """
    found: dict[str, str | None] = {}
    for name, value in pairs(spec):
        if value is not None and not isinstance(value, str):
            if value.isEmpty():
                continue
            value = value.get()  # noqa: PLW2901 - the same value, unwrapped
        found[name] = partition_value(None if value is None else str(value))
    order = {name.lower(): index for index, name in enumerate(columns)}
    return tuple(sorted(found.items(), key=lambda each: order.get(each[0].lower(), len(order))))


def written_partition(named: Partition, partition_columns: Iterable[str], command: JvmCommand) -> Partition:
    """Return the target partition of a write.

    The value of each partition column is the one that the statement names, else the only literal that the query selects
    for it. Columns with neither are left out.
    """
    values = dict(named)
    found: list[tuple[str, str | None]] = []
    for name in partition_columns:
        column = command.columns.get(name)
        if name in values:
            found.append((name, values[name]))
        elif column is not None and command.context.settings.literals and _is_literal(column):
            found += ((name, partition_value(text)) for text in column.constants or ())
    return tuple(found)


def _is_literal(column: ValueLineage) -> bool:
    # A CASE may also be null, and a cast may spell the value differently: only a literal itself counts.
    alone = column.direct == CONSTANT and not column.indirect and len(column.constants or ()) == 1
    return alone and column.type in _PLAIN and "(" not in column.text


def partition_change(plan: Any) -> PartitionChange | None:
    """Describe the change of partitions by a JVM command of the V1 catalog; None if it changes the whole table."""
    match class_name(plan):
        case "AlterTableAddPartitionCommand":
            specs = plan.partitionSpecsAndLocs()
            return _change("ADD", specs.size(), (spec._1() for spec in items(specs)))
        case "AlterTableDropPartitionCommand":
            return _change("DROP", plan.specs().size(), items(plan.specs()))
        case "AlterTableRenamePartitionCommand":
            renamed = _change("RENAME", 1, [plan.newPartition()])
            return replace(renamed, previous=specification(plan.oldPartition()))
        case "RepairTableCommand":
            return PartitionChange(change="RECOVER")
        case "TruncateTableCommand" | "AlterTableSetLocationCommand" as name:
            spec = option(plan.partitionSpec())
            change = "TRUNCATE" if name == "TruncateTableCommand" else "LOCATION"
            return _change(change, 1, [spec]) if spec is not None else None
    return None


def _change(change: str, count: int, specs: Iterable[Any]) -> PartitionChange:
    listed = tuple(specification(spec) for spec in islice(specs, MAX_PARTITIONS))
    return PartitionChange(change=change, partitions=listed, count=int(count))
