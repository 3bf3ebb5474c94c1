"""An open run's heartbeat: how often it is due, and when it has stopped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from headwater_analysis.runs import OpenRun
from headwater_analysis.runs.from_rows import heartbeat

if TYPE_CHECKING:
    import pytest

NOW = datetime(2013, 1, 1, 12, tzinfo=UTC)
RUN: Any = None


def test_it_has_stopped_when_it_was_left_out_three_times(subtests: pytest.Subtests) -> None:
    cases = [
        (60.0, 59, False),
        (60.0, 180, False),
        (60.0, 181, True),
        (None, 9_999, None),
    ]
    for seconds, ago, stopped in cases:
        with subtests.test(seconds=seconds, ago=ago):
            assert OpenRun(RUN, NOW - timedelta(seconds=ago), seconds).has_stopped(NOW) is stopped


def test_it_is_read_from_the_facet(subtests: pytest.Subtests) -> None:
    cases = [
        ([], None),
        (['{"_producer": "p", "seconds": 60.0}'], 60.0),
        (['{"seconds": "often"}'], None),
        (["{}"], None),
    ]
    for facets, seconds in cases:
        with subtests.test(facets=facets):
            assert heartbeat(facets) == seconds
