r"""Lines of the dump: one JSON object each, written the same by the dump of a database and by the oracle.

    {"key":"0a1b…","labels":["Run"],"properties":{"name":"enrich 3f2a91c0","started_at":1735689600000000,…}}
    {"end":"77c0…","key":"0a1b…/OF/77c0…","properties":{},"start":"0a1b…","type":"OF"}

A node's `key` is its own. A relationship's is the keys and type that it is made of (and its own `key` behind them, if
it has one), so that each node is followed by what leaves it. Lines are in code-point order of `key`; fields and
properties are in code-point order too. Times are integer microseconds; null is absent; what begins with `_` isn't
there.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headwater_schemas.identity import micros

if TYPE_CHECKING:
    from collections.abc import Mapping


def node_line(label: str, properties: Mapping[str, Any]) -> str:
    """The line of one node, without a newline.

    Args:
        label: its label.
        properties: as stored, `key` among them; times as aware datetimes.
    """
    return _line({"key": properties["key"], "labels": [label], "properties": visible(properties)})


def relationship_key(type_: str, start: str, end: str, own: str | None) -> str:
    """What a relationship is sorted by."""
    return f"{start}/{type_}/{end}" if own is None else f"{start}/{type_}/{end}/{own}"


def relationship_line(type_: str, start: str, end: str, properties: Mapping[str, Any]) -> str:
    """The line of one relationship, without a newline.

    Args:
        type_: its type.
        start: key of the node it leaves.
        end: key of the node it goes to.
        properties: as stored; times as aware datetimes.
    """
    key = relationship_key(type_, start, end, properties.get("key"))
    return _line({"key": key, "type": type_, "start": start, "end": end, "properties": visible(properties)})


def visible(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that are part of the dump."""
    return {name: value for name, value in properties.items() if value is not None and not name.startswith("_")}


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_microseconds)


def _microseconds(value: object) -> int:
    if isinstance(value, datetime):
        return micros(value)
    raise TypeError(f"{type(value).__name__} is no property value")
