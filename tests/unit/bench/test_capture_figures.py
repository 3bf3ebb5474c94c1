from __future__ import annotations

import json

import pytest

from headwater_benchmarks.capture.figures import (
    HEADWATER,
    ONE_BY_ONE,
    OPENLINEAGE,
    WITHOUT,
    DriverMeasurements,
    goals,
    measurement,
    trigger_ratios,
)
from headwater_benchmarks.capture.sent import SentEvents

pytestmark = pytest.mark.nightly


def measured(factor: float, events: int, size: int) -> DriverMeasurements:
    return DriverMeasurements(
        triggers=[[int(factor * each) for each in (100, 110, 400)], [int(factor * each) for each in (200, 220, 800)]],
        writes=[[factor, 3 * factor], [2 * factor, 2 * factor]],
        processor_seconds=0.6,
        write_processor_seconds=8.0,
        micro_batches=10,
        sent=SentEvents(events, size),
        plan_seconds=1.5,
        memory={"jvm": 700.4, "python": None},
    )


def test_a_ratio_compares_what_was_measured_within_seconds() -> None:
    """The second round is twice as slow for everybody: on a busy machine that is nobody's fault."""
    base = measured(1, 0, 0)
    ours = measurement(HEADWATER, measured(1.5, 11, 5_000), base)
    assert ours["trigger_p50_ratio"] == pytest.approx({"median": 1.5, "minimum": 1.5, "maximum": 1.5}, abs=0.01)
    assert ours["write_ratio"] == {"median": 1.5, "minimum": 1.5, "maximum": 1.5}
    assert ours["trigger_p50_ms"] == {"median": 247.5, "minimum": 165, "maximum": 330}
    assert (ours["events_per_micro_batch"], ours["bytes_per_micro_batch"]) == (1.1, 500)
    assert ours["micro_batches"] == 6
    assert ours["processor_ms_per_micro_batch"] == 100.0
    assert ours["peak_rss_mb"] == {"jvm": 700, "python": None}


def test_whole_milliseconds_do_not_hide_a_fraction() -> None:
    """With eight triggers, half at 100 and half at 101 ms, the median is neither."""
    [ratio] = trigger_ratios([[100] * 4 + [101] * 4], [[100] * 8])
    assert 1.001 < ratio < 1.01


def test_the_goals_are_about_headwater() -> None:
    base = measured(1, 0, 0)
    measurements = [
        measurement(name, measured(factor, events, size), base)
        for name, factor, events, size in (
            (WITHOUT, 1, 0, 0),
            (HEADWATER, 1.01, 2, 900),
            (ONE_BY_ONE, 1.2, 11, 9_000),
            (OPENLINEAGE, 1.3, 60, 90_000),
        )
    ]
    assert [(goal.value, goal.met) for goal in goals(measurements)] == [
        (pytest.approx(1.01, abs=0.01), True),
        (1.1, True),
        (900, True),
        (0.2, True),
        (1.01, True),
        (1.5, True),
    ]
    assert measurements[-1]["large_plan_seconds"] is None, "only Headwater's can be waited for"
    json.dumps(measurements)


def test_the_goal_of_the_trigger_is_about_the_end_of_its_interval() -> None:
    """Eight of fifteen rounds are as fast as without capture, seven are slower: the median alone meets the goal."""
    base, ours = measured(1, 0, 0), measured(1, 11, 9_000)
    base.triggers = [[100] * 9] * 15
    ours.triggers = [[100] * 9] * 8 + [[130] * 9] * 7
    base.writes = ours.writes = [[1.0, 1.0]] * 15
    without, headwater = measurement(WITHOUT, base, base), measurement(HEADWATER, ours, base)
    [trigger, *_] = goals([without, headwater, measurement(ONE_BY_ONE, base, base)])
    assert headwater["trigger_p50_ratio"]["median"] < 1.02
    assert (trigger.value, trigger.met) == (headwater["trigger_p50_ratio_interval"]["high"], False)
