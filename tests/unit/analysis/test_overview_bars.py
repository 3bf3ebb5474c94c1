"""Bars of an overview: adjacent segments are added up, and no bar more than was asked for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.timeline import OverviewBar
from headwater_analysis.timeline.overviews import in_bars, merged

if TYPE_CHECKING:
    import pytest

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
COUNTED = ("segments", "batches", "broken", "missing", "gaps", "overlaps", "rewinds", "conflicts", "failed")


def segment(number: int, *, query: str = "q", hours: int | None = 0) -> OverviewBar:
    """A segment whose numbers are all different."""
    first = None if hours is None else BEGIN + timedelta(hours=number + hours)
    last = None if first is None else first + timedelta(minutes=59)
    start = 512 * number
    return OverviewBar(query, 1, 500 + number, 10, start, start + 511, first, last, 1, 2, 3, 4, 5, 6, 7, number)


@given(st.integers(0, 300), st.integers(1, 50))
def test_bars_have_all_segments_in_order(count: int, most: int) -> None:
    segments = [segment(number) for number in range(count)]
    bars = merged(segments, most)
    assert len(bars) <= most
    for name in COUNTED:
        assert sum(getattr(bar, name) for bar in bars) == sum(getattr(each, name) for each in segments)
    assert [bar.first_batch for bar in bars] == [
        512 * sum(bar.segments for bar in bars[:at]) for at in range(len(bars))
    ]
    assert [bar.last_batch for bar in bars[:-1]] == [bar.first_batch - 1 for bar in bars[1:]]
    assert [bar.first_time for bar in bars] == [segments[bar.first_batch // 512].first_time for bar in bars]
    assert [bar.last_time for bar in bars] == [segments[bar.last_batch // 512].last_time for bar in bars]


def test_few_segments_are_a_bar_each() -> None:
    segments = [segment(number) for number in range(3)]
    assert merged(segments, 3) == segments
    assert [bar.segments for bar in merged(segments, 2)] == [2, 1]


def test_times_are_the_lowest_and_the_highest_where_clocks_go_back() -> None:
    segments = [segment(0, hours=5), segment(1, hours=None), segment(2, hours=0)]
    (bar,) = merged(segments, 1)
    assert (bar.first_time, bar.last_time) == (BEGIN + timedelta(hours=2), BEGIN + timedelta(hours=5, minutes=59))
    (untimed,) = merged(segments[1:2], 1)
    assert (untimed.first_time, untimed.last_time) == (None, None)


def test_queries_share_the_bars(subtests: pytest.Subtests) -> None:
    for most, each in [(10, [3, 4]), (4, [2, 2]), (3, [1, 1])]:
        with subtests.test(most=most):
            segments = {
                "a": [segment(n, query="a") for n in range(3)],
                "empty": [],
                "b": [segment(n, query="b") for n in range(4)],
            }
            bars, left_out = in_bars(segments, most)
            assert [sum(bar.query == query for bar in bars) for query in ("a", "b")] == each
            assert not left_out


def test_of_more_queries_than_bars_the_latest_have_one() -> None:
    segments = {
        "old": [segment(0, query="old")],
        "new": [segment(9, query="new")],
        "unknown": [replace(segment(99, query="unknown"), first_time=None, last_time=None)],
        "newer": [segment(10, query="newer")],
    }
    bars, left_out = in_bars(segments, 2)
    assert ([bar.query for bar in bars], left_out) == (["new", "newer"], True)
    assert in_bars({}, 2) == ([], False)
