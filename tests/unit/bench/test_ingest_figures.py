"""`bench ingest`: from what was measured to the report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.console import console
from headwater_benchmarks.ingest.figures import goals, latency, measurements
from headwater_benchmarks.ingest.floor.shapes import SHAPES
from headwater_benchmarks.ingest.floor.write import Trial
from headwater_benchmarks.ingest.rounds import Found
from headwater_benchmarks.ingest.show import view
from headwater_benchmarks.ingest.topic import TopicContents
from headwater_benchmarks.ingest.turn import Turn
from headwater_benchmarks.report import report

pytestmark = pytest.mark.nightly

CONTENTS = TopicContents(records=1_050, distinct=1_000, bytes=1, kinds={}, delta=None, values_distinct=100)
OF_PACKS = TopicContents(records=21, distinct=20, bytes=1, kinds={}, delta=None)
TRIALS = [Trial(SHAPES[1], 2_000, 1.0), Trial(SHAPES[0], 500, 2.0)]


def consumed(seconds: float, peak: float = 90.0) -> dict[str, Any]:
    """Report of the consumer's process about a round."""
    return {
        "applied": 1_050,
        "seconds": seconds,
        "nodes": 2_000,
        "relationships": 4_000,
        "transactions": 2,
        "retries": 0,
        "peak_rss_mb": peak,
        "processor_seconds": 1.0,
        "server_seconds": 2.0,
        "stages": {
            "decode": {"times": 2, "seconds": seconds / 4, "hidden": seconds / 8},
            "write": {"times": 2, "seconds": seconds / 2, "hidden": None},
        },
    }


def turns(*seconds: float) -> list[Turn]:
    return [Turn(each, each / 2, None) for each in seconds]


def found() -> Found:
    """The second round is slow for everybody."""
    return Found(
        consumer=[consumed(2), consumed(4, 120.0)],
        packs=[consumed(0.1), consumed(0.2)],
        floor=turns(1, 3.8),
        segments=turns(1, 2),
        naive=turns(4, 8),
        sink=turns(0.5, 1),
    )


def test_a_rate_is_of_distinct_events_and_a_ratio_of_the_same_round() -> None:
    ours, packs, floor, segments, naive, sink = measurements(found(), CONTENTS, OF_PACKS, TRIALS)
    assert ours["events_per_second"] == {"median": 375.0, "minimum": 250.0, "maximum": 500.0}
    assert packs["events_per_second"] == {"median": 7_500.0, "minimum": 5_000.0, "maximum": 10_000.0}, "micro-batches"
    assert ours["relationships_per_second"]["maximum"] == 2_000
    assert ours["peak_rss_mb"]["maximum"] == 120
    assert ours["processor_us_per_event"]["client"]["median"] == 1_000
    assert ours["processor_us_per_event"]["neo4j"]["median"] == 2_000
    assert floor["processor_us_per_event"]["neo4j"] is None, "a server that isn't ours to see"
    assert floor["headwater_ratio"] == {"median": 0.725, "minimum": 0.5, "maximum": 0.95}
    assert (floor["shape"], floor["rows"]) == (SHAPES[1].name, 2_000)
    assert [each["rows"] for each in floor["tried"]] == [2_000, 500]
    assert (segments["name"], segments["headwater_ratio"]["median"]) == ("floor of segments", 0.5)
    assert naive["headwater_ratio"]["median"] == 20
    assert sink["headwater_ratio"]["median"] == 2.5


def test_stages_are_shares_of_the_time() -> None:
    ours, *_ = measurements(found(), CONTENTS, OF_PACKS, [])
    assert ours["stages"]["decode"]["share"]["median"] == 0.25
    assert ours["stages"]["decode"]["hidden"]["median"] == 0.5
    assert ours["stages"]["write"]["hidden"] is None


def test_without_baselines_there_is_the_consumer_alone() -> None:
    alone = measurements(Found(consumer=[consumed(2)], packs=[consumed(2)]), CONTENTS, OF_PACKS, [])
    assert [each["name"] for each in alone] == ["headwater", "packs of 50"]
    assert [goal.name for goal in goals(alone, [])] == [
        "micro-batches per second in packs of 50",
        "processor time of the consumer for an event, µs",
        "peak RSS of the consumer, MB",
    ]


def test_latency_leaves_the_beginning_out() -> None:
    """Ten events a second for ten seconds; those of the first two took long, and one of the last second."""
    samples = [(at * 100, 900.0 if at < 20 else 5.0) for at in range(101)]
    samples[95] = (9_500, 80.0)
    late = latency(10.0, {"latencies": samples, "transactions": 3, "peak_rss_mb": 80.0})
    assert late["events"] == 81
    assert (late["all_p50_ms"], late["all_p99_ms"]) == (5.0, 80.0)
    assert late["p99_ms"] == {"median": 5.0, "minimum": 5.0, "maximum": 80.0}


def test_what_was_measured_is_there_as_it_was() -> None:
    ours, _, floor, *_ = measurements(found(), CONTENTS, OF_PACKS, TRIALS)
    assert ours["samples"]["seconds"] == [2, 4]
    assert floor["samples"] == {
        "seconds": [1, 3.8],
        "client_seconds": [0.5, 1.9],
        "neo4j_seconds": [None, None],
        "headwater_ratio": pytest.approx([0.5, 0.95]),
    }
    assert floor["headwater_ratio_interval"] == {"low": 0.5, "high": 0.95}


def test_the_goals_are_those_of_the_issue() -> None:
    measured = measurements(found(), CONTENTS, OF_PACKS, TRIALS)
    late = latency(10.0, {"latencies": [(0, 9.0), (1_000, 9.0)], "transactions": 1, "peak_rss_mb": 80.0})
    wished = goals(measured, [late, late])
    assert [(goal.value, goal.goal, goal.direction, goal.met) for goal in wished] == [
        (0.725, 0.9, "at_least", False),
        (20.0, 20.0, "at_least", True),
        (2.5, 3.5, "at_least", False),
        (9.0, 300.0, "at_most", True),
        (9.0, 150.0, "at_most", True),
        (7_500.0, 15_000.0, "at_least", False),
        (1_000.0, 140.0, "at_most", False),
        (120.0, 250.0, "at_most", True),
    ]


def test_the_report_is_json_and_shown_as_tables() -> None:
    measured = measurements(found(), CONTENTS, OF_PACKS, TRIALS)
    document = report(
        "ingest",
        options={},
        environment={},
        measurements=[
            *measured,
            {"name": "graph of floor", "same": False, "equal": 9, "missing": 1, "extra": 0, "changed": 2},
        ],
        goals=goals(measured, []),
    )
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    shown = captured.get()
    assert "fused owner statement, 2,000 rows" in shown
    assert "1 missing, 0 too many, 2 changed" in shown
    assert shown.count("not met") == 4


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_shapes_have_names_of_their_own(shape: Any) -> None:
    assert [each.name for each in SHAPES].count(shape.name) == 1
