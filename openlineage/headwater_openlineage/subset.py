"""Conversion between subset facets and positions.

Offsets of a topic are represented as comparisons of the specification:

    partition = 0 AND offset ≥ 609 AND offset < 994  OR  partition = 1 AND …

Files are a location condition. Any other condition is only stored verbatim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from headwater_openlineage.reading import Json
from headwater_schemas.events import DatasetRef, FileSet, KafkaRanges, OffsetRange, Position

_MOST_CONDITIONS: Final = 100_000
_PARTITIONS: Final = range(1 << 31)
_OFFSETS: Final = range(1 << 63)


def subset_condition(position: Position) -> Json | None:
    """Build the condition of a position; None if no standard condition describes it."""
    if (kafka := position.kafka) is not None:
        parts = [_offsets(part) for part in kafka.ranges]
        return _balanced("OR", parts) if parts else None
    if (files := position.files) is not None and files.paths and len(files.paths) == files.count:
        return {"type": "location", "locations": list(files.paths)}
    return None


def position_of_subset(dataset: DatasetRef, facet: Json, at: str) -> Position | None:  # noqa: ARG001 - a wrong shape is stored verbatim
    """Read the position in a subset facet's condition; None if the condition has no supported shape."""
    condition = facet.get("inputCondition", facet.get("outputCondition"))
    if not isinstance(condition, dict):
        return None
    if condition.get("type") == "location":
        return _files(condition)
    ranges = _ranges(condition)
    if ranges is None:
        return None
    return Position(kafka=KafkaRanges(dataset.name, ranges))


def _files(condition: Json) -> Position | None:
    locations = condition.get("locations")
    if not isinstance(locations, list) or not all(isinstance(path, str) for path in locations):
        return None
    paths = sorted(set(locations))
    return Position(files=FileSet(count=len(paths), paths=tuple(paths)))


def _offsets(part: OffsetRange) -> Json:
    return _both(
        _compare("partition", "EQUAL", part.partition),
        _both(_compare("offset", "GREATER_EQUAL_THAN", part.from_), _compare("offset", "LESS_THAN", part.to_exclusive)),
    )


def _both(left: Json, right: Json) -> Json:
    return {"type": "binary", "operator": "AND", "left": left, "right": right}


def _compare(name: str, comparison: str, value: int) -> Json:
    return {
        "type": "compare",
        "comparison": comparison,
        "left": {"type": "field", "field": name},
        "right": {"type": "literal", "value": str(value)},
    }


def _balanced(operator: str, parts: list[Json]) -> Json:
    """Join parts by an operator, as a tree of little depth: a topic may have a thousand partitions."""
    while len(parts) > 1:
        joined = [
            {"type": "binary", "operator": operator, "left": left, "right": right}
            for left, right in zip(parts[::2], parts[1::2], strict=False)
        ]
        parts = joined + parts[len(joined) * 2 :]
    return parts[0]


def _ranges(condition: Json) -> tuple[OffsetRange, ...] | None:
    """Read the ranges by partition; None if the condition has an unexpected shape, or names a partition twice."""
    found: dict[int, OffsetRange] = {}
    for alternative in _flat(condition, "OR"):
        bounds = _bounds(_flat(alternative, "AND"))
        if bounds is None or bounds.partition in found:
            return None
        found[bounds.partition] = bounds
    return tuple(found[partition] for partition in sorted(found)) or None


def _flat(condition: Json, operator: str) -> Iterator[Json]:
    """List the operands of an operator, in order, at any nesting."""
    waiting = [condition]
    for _ in range(_MOST_CONDITIONS):
        if not waiting:
            return
        current = waiting.pop()
        if current.get("type") == "binary" and str(current.get("operator")).upper() == operator:
            for side in ("right", "left"):
                inner = current.get(side)
                waiting.append(inner if isinstance(inner, dict) else {})
        else:
            yield current


def _bounds(comparisons: Iterable[Json]) -> OffsetRange | None:
    values: dict[tuple[str, str], int] = {}
    for comparison in comparisons:
        left, right = comparison.get("left"), comparison.get("right")
        if comparison.get("type") != "compare" or not isinstance(left, dict) or not isinstance(right, dict):
            return None
        name, value = left.get("field"), right.get("value")
        if not isinstance(name, str) or not isinstance(value, str) or not (value.isascii() and value.isdigit()):
            return None
        key = (name, str(comparison.get("comparison")).upper())
        if key in values or len(value) > 19:
            return None
        values[key] = int(value)
    if values.keys() != {("partition", "EQUAL"), ("offset", "GREATER_EQUAL_THAN"), ("offset", "LESS_THAN")}:
        return None
    partition = values["partition", "EQUAL"]
    start, end = values["offset", "GREATER_EQUAL_THAN"], values["offset", "LESS_THAN"]
    if partition not in _PARTITIONS or start not in _OFFSETS or end not in _OFFSETS or end < start:
        return None
    return OffsetRange(partition, start, end)
