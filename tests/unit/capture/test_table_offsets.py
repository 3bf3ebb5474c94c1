from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.connector_questions import SourceOffsets
from headwater_producers.spark.connectors.delta.reads import is_first_snapshot
from headwater_producers.spark.connectors.iceberg.connector import is_offset as is_iceberg
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_schemas.events import TableRange

if TYPE_CHECKING:
    import pytest


def table_range(start: Any, end: Any) -> TableRange | None:
    source = SourceOffsets(start=start, end=end)
    ranges = first_answer(each.read_range(source) for each in REGISTRY.of_source(source))
    if ranges is None:
        return None
    [read] = ranges
    return read.position.table_range if read.position is not None else None


def delta(version: int, index: int = -1, *, first: bool = False, source: int = 1) -> dict[str, Any]:
    return {
        "sourceVersion": source,
        "reservoirId": "d0d1",
        "reservoirVersion": version,
        "index": index,
        "isStartingVersion": first,
    }


def iceberg(snapshot: int, position: int, *, scan: bool = False) -> dict[str, Any]:
    return {"version": 1, "snapshot_id": snapshot, "position": position, "scan_all_files": scan}


DELTA: list[tuple[Any, Any, tuple[str | None, str]]] = [
    (None, delta(3), (None, "2")),
    (delta(3), delta(5), ("2", "4")),
    (delta(3), delta(3), ("2", "2")),
    (delta(3), delta(3, 1), ("2", "3:2")),
    (delta(3, 1), delta(4), ("3:2", "3")),
    (delta(0), delta(1), (None, "0")),
    # Around a change of the schema: the version before it is read, nothing of its own.
    (delta(3), delta(4, -20, source=3), ("2", "3")),
    (delta(4, -20, source=3), delta(4, -19, source=3), ("3", "3")),
    (delta(4, -19, source=3), delta(4, 0), ("3", "4:1")),
    (delta(3, -100, source=3), delta(4, -100, source=3), ("2", "3")),
]


def test_delta(subtests: pytest.Subtests) -> None:
    for start, end, expected in DELTA:
        with subtests.test(start=start, end=end):
            assert table_range(start, end) == TableRange(format="delta", from_=expected[0], to=expected[1])


ICEBERG: list[tuple[Any, Any, tuple[str | None, str]]] = [
    (None, iceberg(71, 3), (None, "71:3")),
    (iceberg(-1, -1), iceberg(71, 3), (None, "71:3")),
    (iceberg(71, 0), iceberg(71, 3), ("71:0", "71:3")),
    (iceberg(71, 3), iceberg(55, 1), ("71:3", "55:1")),
    # All files of the first snapshot, those of its ancestors too.
    (iceberg(71, 0, scan=True), iceberg(71, 9), (None, "71:9")),
]


def test_iceberg(subtests: pytest.Subtests) -> None:
    for start, end, expected in ICEBERG:
        with subtests.test(start=start, end=end):
            assert table_range(start, end) == TableRange(format="iceberg", from_=expected[0], to=expected[1])


NO_RANGES: list[Any] = [
    None,
    7,
    "7",
    {"logOffset": 1},
    {"in": {"0": 4}},
    {"snapshot_id": 4, "position": 2},
    delta(0),
    iceberg(-1, -1),
]


def test_what_is_no_range_of_versions(subtests: pytest.Subtests) -> None:
    for end in NO_RANGES:
        with subtests.test(end=end):
            assert table_range(None, end) is None


def test_a_bound_of_another_sort_is_none() -> None:
    assert table_range(iceberg(71, 1), delta(3)) == TableRange(format="delta", from_=None, to="2")


def test_which_it_is() -> None:
    assert is_iceberg(iceberg(1, 1))
    assert not is_iceberg(delta(1))
    assert is_first_snapshot(delta(1, 2, first=True))
    assert not is_first_snapshot(delta(1, 2))
    assert not is_first_snapshot({"isStartingVersion": True})
