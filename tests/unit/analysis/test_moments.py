"""Times of positions are written alike, whether they come from Neo4j or from the bytes of a segment."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from neo4j.time import DateTime

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.moments import written
from headwater_analysis.timeline.timelines import positions
from headwater_analysis.trace.uses import part_of, read_use

if TYPE_CHECKING:
    import pytest

TIMES = [
    datetime(2025, 1, 1, tzinfo=UTC),
    datetime(2025, 1, 1, 3, 4, 5, 120_000, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]


def test_both_sorts_are_written_alike(subtests: pytest.Subtests) -> None:
    for time in TIMES:
        with subtests.test(time=time):
            assert f"{written(time)}" == f"{written(DateTime.from_native(time))}" == str(DateTime.from_native(time))


def test_what_is_no_time_is_as_it_is() -> None:
    assert (written("x"), written(7), written(None)) == ("x", 7, None)


def test_a_range_of_time_of_a_trace_and_of_a_timeline(subtests: pytest.Subtests) -> None:
    for time in TIMES:
        with subtests.test(time=time):
            asset = Asset(AssetKind.DATASET, "d", "ns", "name")
            parts, summaries = set(), set()
            for each in (time, DateTime.from_native(time)):
                use = {"position": "time_range", "certainty": "EXACT", "to_time_exclusive": each}
                parts.add(part_of(read_use("CONSUMED", "d", use), asset).text)
                dataset = {"key": "d", "namespace": "ns", "name": "name", "title": None, "type": None}
                [shown] = positions([{"produced": False, "dataset": dataset, "position": use}], produced=False)
                summaries.add(shown.summary)
            assert parts == {f"time_range ..{DateTime.from_native(time)}"}
            assert summaries == {f"..{DateTime.from_native(time)}"}
