"""Conversion of registers (values with a stamp each) to stored properties and back.

A property is a separate register unless `GROUPS` names it. Stamps are stored, too: `_stamp` is the stamp of the event
that created the owner (node or relationship); `_stamps` has a text (stamp, then the register's name) for each register
with another stamp. Most owners come from one event and have no `_stamps`. A relationship without `_stamp` has the stamp
of its start node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec.inspect

from headwater_graph.facts.registers import FACET, STAMP_LENGTH, Cell, Props, Registers, Value
from headwater_schemas.events import IntervalEntry, RunContext

POSITION = (
    "position",
    "certainty",
    "topic",
    "topic_id",
    "partitions",
    "from",
    "to_exclusive",
    "format",
    "snapshot_id",
    "parent_id",
    "operation",
    "partition_paths",
    "_marks",
    "from_version",
    "to_version",
    "file_count",
    "file_bytes",
    "manifest_digest",
    "paths",
    "pattern",
    "system",
    "from_cdc",
    "to_cdc",
    "from_cursor",
    "to_cursor",
    "from_time",
    "to_time_exclusive",
    "from_json",
    "to_json",
)

GROUPS: Mapping[str, tuple[str, ...]] = {
    # register: its properties; a present register always has the first one
    "owners": ("owners", "owner_types", "_owner_words"),
    "tags": ("tags", "tag_values", "tag_sources", "tag_fields", "_tag_words"),
    "source": ("source_type", "source_url", "source_repo", "source_path", "source_version", "source_branch"),
    "declared_lineage": ("declared_plan", "_declared_feeds"),
    "storage": ("storage_layer", "storage_format"),
    "symlinks": ("symlinks", "symlink_namespaces", "symlink_types"),
    "existence": ("dropped", "dropped_at"),
    "schema": ("columns", "_schema"),
    "field": ("position", "_schema", "data_type", "nullable", "description"),
    "query": ("query_name", "name"),
    "job": ("job_name", "job_namespace", "name", "_asset", "_scope"),
    "asset": ("_asset", "_scope"),
    "query_id": ("query_id", "_query"),
    "state": ("state", "ended_at", "provenance"),
    "engine": ("engine", "engine_version"),
    "parent": ("parent_run_id", "parent_job_namespace", "parent_job_name"),
    "root": ("root_run_id", "root_job_namespace", "root_job_name"),
    "error": ("error_message", "error_type", "error_stack"),
    "quality": (
        *("quality_assertions", "quality_passed", "quality_columns", "quality_values"),
        *("quality_namespaces", "quality_datasets", "quality_rules", "quality_severities", "quality_suites"),
        *("quality_suite_versions", "_checked"),
    ),
    "run": ("run_id", "_run"),
    "campaign": ("campaign", "_campaign"),
    "lineage": ("complete", "incomplete_reason", "expression_ids", "expressions", "edges", "_outputs"),
    "position": POSITION,
}

_NOT_REGISTERS = frozenset({"batch_id", "inputs", "outputs", "quality"})


def _is_time(field: msgspec.inspect.Field) -> bool:
    types = field.type.types if isinstance(field.type, msgspec.inspect.UnionType) else (field.type,)
    return any(isinstance(each, msgspec.inspect.DateTimeType) for each in types)


_ENTRY = msgspec.inspect.type_info(IntervalEntry)
assert isinstance(_ENTRY, msgspec.inspect.StructType)  # noqa: S101 - for the type checker

ENTRY_REGISTERS = tuple(field.name for field in _ENTRY.fields if field.name not in _NOT_REGISTERS)
"""Fields of an IntervalEntry that are registers and properties of the Interval under the same name."""
ENTRY_TIMES = frozenset(field.name for field in _ENTRY.fields if field.name not in _NOT_REGISTERS and _is_time(field))
"""Fields of `ENTRY_REGISTERS` that are times."""
TIMES = ENTRY_TIMES | {
    *("first_seen", "last_seen", "started_at", "ended_at", "nominal_start", "nominal_end", "dropped_at", "emptied_at"),
    *("inferred_ended_at", "_inferred_before", "from_time", "to_time_exclusive", "first_time", "last_time"),
    *("summarize_before", "drop_before", "opened_at", "acknowledged_at", "resolved_at"),
    *("reached_as_of", "since"),
}
"""Properties that are times, of nodes and relationships."""


CONTEXT_REGISTERS = RunContext.__struct_fields__
"""Fields of a RunContext: each is a register of its Run, under its own name."""


def flatten(registers: Registers) -> Props:
    """Return the properties of registers, including the `_…` of groups, without stamps."""
    out: Props = {}
    names: list[str] = []
    for name, (_, cell) in registers.items():
        if isinstance(cell, dict):
            out.update(cell)
        elif name.startswith(FACET):
            names.append(name)
        else:
            out[name] = cell
    if names:
        names.sort()
        out["facet_names"] = [name.removeprefix(FACET) for name in names]
        out["facets"] = [str(registers[name][1]) for name in names]
    return out


def stamped(registers: Registers, owner_stamp: str | None = None) -> Props:
    """`_stamp` and `_stamps` of registers that are written together for the first time.

    Args:
        owner_stamp: `_stamp` of the relationship's start node; None for a node.
    """
    if not registers:
        return {}
    texts = {stamp for stamp, _ in registers.values()}
    base = owner_stamp if owner_stamp is not None else max(texts)
    out: Props = {} if owner_stamp is not None else {"_stamp": base}
    if texts != {base}:
        out["_stamps"] = exceptions(registers, base)
    return out


def exceptions(registers: Registers, base: str) -> list[str]:
    """Return the value of `_stamps` for an owner whose `_stamp` is `base`."""
    return sorted(stamp + name for name, (stamp, _) in registers.items() if stamp != base)


def changes(before: Registers, after: Registers) -> dict[str, Value | None]:
    """Return the properties to set so that `before` becomes `after`. A property to be removed is None."""
    old, new = flatten(before), flatten(after)
    out: dict[str, Value | None] = {name: value for name, value in new.items() if old.get(name) != value}
    # Registers are never removed, so only single properties of a group can disappear.
    out.update({name: None for name in old if name not in new})
    return out


def parse(stored: Mapping[str, Any], names: Mapping[str, str], base: str | None = None) -> Registers:
    """Return the registers of a stored node or relationship: the inverse of `flatten` and `stamped`.

    Args:
        stored: all of its properties, times as native datetimes.
        names: register of each property, for this kind of owner (`owner_properties`).
        base: `_stamp` of the start node, for a relationship without `_stamp`.
    """
    base = stored.get("_stamp", base)
    own_stamps = {text[STAMP_LENGTH:]: text[:STAMP_LENGTH] for text in stored.get("_stamps", ())}
    out: Registers = {}
    for name, value in stored.items():
        register = names.get(name)
        if register is None or register in out:
            continue
        cell: Cell = value
        if register in GROUPS:
            group = GROUPS[register]
            if stored.get(group[0]) is None:
                continue
            cell = {part: stored[part] for part in group if stored.get(part) is not None}
        out[register] = (own_stamps.get(register) or _required_stamp(base), cell)
    for facet, text in zip(stored.get("facet_names", ()), stored.get("facets", ()), strict=True):
        register = FACET + facet
        out[register] = (own_stamps.get(register) or _required_stamp(base), text)
    return out


def _required_stamp(base: str | None) -> str:
    if base is None:
        raise ValueError("registers without a stamp: not written by this materializer")
    return base


def owner_properties(*registers: str) -> dict[str, str]:
    """Register of each property, for an owner with these registers."""
    out: dict[str, str] = {}
    for register in registers:
        for part in GROUPS.get(register, (register,)):
            # `name` is also an identity property, so its presence doesn't show that the register is there.
            if part != "name":
                out[part] = register
    return out
