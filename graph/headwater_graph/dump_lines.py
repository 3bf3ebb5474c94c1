"""Lines of a dump: nodes and relationships as canonical JSON. Equal nodes have equal lines, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater_graph.facts.model import SEGMENT, Label, RelType
from headwater_graph.facts.owners import REGISTERS, USE_REGISTERS, settled
from headwater_schemas.identity import micros

USES = (RelType.CONSUMED, RelType.PRODUCED)
"""Types whose relationships have registers."""


def node_line(label: Label, properties: Mapping[str, Any], *, internal: bool = False) -> str:
    """Make the line of one node, without a newline.

    Args:
        properties: stored properties including `key`; times are aware datetimes.
        internal: whether to include properties that begin with `_`.
    """
    shown = settled(properties, REGISTERS.get(label, {})) if internal else visible(properties)
    return _line({"key": properties["key"], "labels": [label], "properties": shown})


def segment_line(key: str, differences: Mapping[str, Any]) -> str:
    """Make the line of a segment whose summary doesn't follow from its micro-batches, without a newline.

    Args:
        differences: found values of the properties and relationships that differ, by name.
    """
    return _line({"key": key, "labels": [SEGMENT], "properties": differences})


def relationship_key(type_: str, start: str, end: str, own: str | None) -> str:
    """Sort key of a relationship."""
    return f"{start}/{type_}/{end}" if own is None else f"{start}/{type_}/{end}/{own}"


def relationship_line(
    type_: str, start: str, end: str, properties: Mapping[str, Any], *, stamp: str | None = None, internal: bool = False
) -> str:
    """Make the line of one relationship, without a newline.

    Args:
        properties: stored properties; times as aware datetimes.
        stamp: `_stamp` of the start node.
        internal: whether to include properties that begin with `_`.
    """
    key = relationship_key(type_, start, end, properties.get("key"))
    names = USE_REGISTERS if type_ in USES else {}
    shown = settled(properties, names, stamp or "") if internal else visible(properties)
    return _line({"key": key, "type": type_, "start": start, "end": end, "properties": shown})


def visible(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that are part of the dump."""
    return {name: value for name, value in properties.items() if value is not None and not name.startswith("_")}


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_microseconds)


def _microseconds(value: object) -> int:
    if isinstance(value, datetime):
        return micros(value)
    raise TypeError(f"{type(value).__name__} is no property value")
