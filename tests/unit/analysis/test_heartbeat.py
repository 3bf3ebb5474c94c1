"""An open run's heartbeat: how often it is due, and when it has stopped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater_consumers.analysis.runs import OpenRun
from headwater_consumers.analysis.runs.rows import heartbeat

NOW = datetime(2013, 1, 1, 12, tzinfo=UTC)
RUN: Any = None


@pytest.mark.parametrize(
    ("seconds", "ago", "stopped"), [(60.0, 59, False), (60.0, 180, False), (60.0, 181, True), (None, 9_999, None)]
)
def test_it_has_stopped_when_it_was_left_out_three_times(seconds: float | None, ago: int, stopped: bool | None) -> None:
    assert OpenRun(RUN, NOW - timedelta(seconds=ago), seconds).has_stopped(NOW) is stopped


@pytest.mark.parametrize(
    ("facets", "seconds"),
    [([], None), (['{"_producer": "p", "seconds": 60.0}'], 60.0), (['{"seconds": "often"}'], None), (["{}"], None)],
)
def test_it_is_read_from_the_facet(facets: list[str], seconds: float | None) -> None:
    assert heartbeat(facets) == seconds
