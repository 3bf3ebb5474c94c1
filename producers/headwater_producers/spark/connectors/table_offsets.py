"""Offsets of Delta's and Iceberg's streaming sources, as ranges of versions.

    Delta    {"sourceVersion": 1, "reservoirId": …, "reservoirVersion": 5, "index": -1, "isStartingVersion": false}
    Iceberg  {"version": 1, "snapshot_id": 8271…, "position": 3, "scan_all_files": false}

Both have how many files of a version have been read, each in its own way. A bound is written as the version, `4`, or
with a colon and a number where that many of its files have been read, `5:2`:

| offset | bound |
|---|---|
| Delta, index -1, or -20 and -19 around a change of the schema: nothing of this version yet | the one before: `4` |
| Delta, index 1: its files 0 and 1 | `5:2` |
| Iceberg, position 3: its first three files; how many it has isn't in it | `8271…:3` |
| Iceberg, snapshot -1, and any version before the first | None: the table's beginning |

A query's first snapshot counts like a version (`isStartingVersion`, `scan_all_files`): its files are those of the whole
table at that version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_schemas.events import TableRange

if TYPE_CHECKING:
    from collections.abc import Callable

_DELTA: Final = frozenset({"sourceVersion", "reservoirId", "reservoirVersion", "index"})
_ICEBERG: Final = frozenset({"version", "snapshot_id", "position", "scan_all_files"})


def table_range(start: Any, end: Any) -> TableRange | None:
    """What a micro-batch read of a table's stream.

    Args:
        start: the source's offset before; None: not known, or there is none.
        end: its offset after.

    Returns:
        None where `end` is no such offset, or is before all that the table has.
    """
    found = _bounds(end)
    if found is None:
        return None
    table_format, bound = found
    to = bound(end)
    if to is None:
        return None
    return TableRange(format=table_format, from_=bound(start) if _bounds(start) == found else None, to=to)


def is_iceberg(offset: Any) -> bool:
    """Whether it is an offset of Iceberg's source."""
    return isinstance(offset, dict) and offset.keys() >= _ICEBERG


def is_first_snapshot(end: Any) -> bool:
    """Whether a Delta query that ends here still reads the table as it was when it began."""
    return isinstance(end, dict) and end.keys() >= _DELTA and bool(end.get("isStartingVersion"))


def _bounds(offset: Any) -> tuple[str, Callable[[Any], str | None]] | None:
    if is_iceberg(offset):
        return "iceberg", _iceberg
    if isinstance(offset, dict) and offset.keys() >= _DELTA:
        return "delta", _delta
    return None


def _delta(offset: dict[str, Any]) -> str | None:
    version, index = int(offset["reservoirVersion"]), int(offset["index"])
    if index >= 0:
        return f"{version}:{index + 1}"
    return str(version - 1) if version > 0 else None


def _iceberg(offset: dict[str, Any]) -> str | None:
    snapshot, position = int(offset["snapshot_id"]), int(offset["position"])
    if snapshot < 0 or (position == 0 and offset["scan_all_files"]):
        return None
    return f"{snapshot}:{position}"
