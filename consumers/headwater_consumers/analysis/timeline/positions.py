"""What a micro-batch read and wrote, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.assets import dataset_asset
from headwater_consumers.analysis.timeline.answer import Break, Position
from headwater_consumers.analysis.trace.answer import OffsetSpan
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_LONGEST = 200


def positions(uses: Iterable[Mapping[str, Any]], *, produced: bool) -> tuple[Position, ...]:
    """Of the rows' uses, those that were produced, or those that were consumed."""
    return tuple(_position(use["dataset"], use["position"]) for use in uses if use["produced"] == produced)


def breaks(before: Mapping[str, Any] | None, kind: str) -> tuple[Break, ...]:
    """`gap` or `overlap` of a NEXT."""
    if before is None or before[f"{kind}_partitions"] is None:
        return ()
    lists = (before[f"{kind}_{name}"] for name in ("datasets", "partitions", "from", "to_exclusive"))
    return tuple(Break(*each) for each in zip(*lists, strict=True))


def _position(dataset: Mapping[str, Any], stored: Mapping[str, Any]) -> Position:
    kind = stored["position"]
    ranges: tuple[OffsetSpan, ...] = ()
    if kind == "kafka":
        each = zip(stored["partitions"], stored["from"], stored["to_exclusive"], strict=True)
        ranges = tuple(OffsetSpan(*span) for span in each)
    certainty = Certainty.UNKNOWN if kind is None else Certainty(stored["certainty"] or "UNKNOWN")
    return Position(dataset_asset(dataset), kind, certainty, stored["rows"], ranges, _summary(kind, stored))


def _summary(kind: str | None, stored: Mapping[str, Any]) -> str | None:
    match kind:
        case "files":
            count, size = stored["file_count"], stored["file_bytes"]
            files = "files" if count is None else "1 file" if count == 1 else f"{count:,} files"
            text = files if size is None else f"{files}, {_bytes(size)}"
        case "table_snapshot":
            text = f"snapshot {stored['snapshot_id']}"
        case "table_range":
            # Of these the first is not part of it, and the last is.
            text = f"versions after {stored['from_version'] or 'the beginning'} up to {stored['to_version']}"
        case "cdc":
            text = _range(stored["from_cdc"], stored["to_cdc"])
        case "api_cursor":
            text = _range(stored["from_cursor"], stored["to_cursor"])
        case "time_range":
            text = _range(stored["from_time"], stored["to_time_exclusive"])
        case _:
            return None
    return text[:_LONGEST]


def _range(start: object, end: object) -> str:
    return f"{'' if start is None else start}..{end}"


def _bytes(size: int) -> str:
    amount, unit = float(size), _UNITS[0]
    for larger in _UNITS[1:]:
        if amount < 1_000:
            break
        amount, unit = amount / 1_000, larger
    return f"{size:,} {unit}" if unit == _UNITS[0] else f"{amount:.1f} {unit}"
