"""`bench ingest`: from what was measured to the report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.console import console
from headwater_benchmarks.ingest.figures import (
    CONSUMER,
    FLOOR,
    NAIVE,
    PACKS,
    SINK,
    goals,
    ingest_tables,
    latency,
    measurements,
)
from headwater_benchmarks.report import report

pytestmark = pytest.mark.nightly

EVENTS = {CONSUMER: 1_000, PACKS: 1_000, FLOOR: 1_000, NAIVE: 100, SINK: 100}


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
        "client_seconds": 1.0,
        "neo4j_seconds": 2.0,
        "stages": {"decode": {"times": 2.0, "seconds": seconds / 4}, "write": {"times": 2.0, "seconds": seconds / 2}},
    }


def turns(*seconds: float) -> list[dict[str, Any]]:
    return [{"seconds": each, "client_seconds": each / 2, "neo4j_seconds": each} for each in seconds]


def measured() -> list[dict[str, Any]]:
    """The second round is slow for everybody."""
    found = {
        CONSUMER: [consumed(2), consumed(4, 120.0)],
        PACKS: [consumed(0.1), consumed(0.2)],
        FLOOR: turns(1, 3.8),
        NAIVE: turns(4, 8),
        SINK: turns(0.5, 1),
    }
    return measurements(found, EVENTS)


def test_a_rate_is_of_distinct_events_and_a_ratio_of_the_same_round() -> None:
    ours, packs, floor, naive, sink = measured()
    assert ours["events_per_second"] == {"median": 375.0, "minimum": 250.0, "maximum": 500.0}
    assert packs["events_per_second"] == {"median": 7_500.0, "minimum": 5_000.0, "maximum": 10_000.0}, "micro-batches"
    assert ours["relationships_per_second"]["maximum"] == 2_000
    assert ours["peak_rss_mb"]["maximum"] == 120
    assert ours["processor_us_per_event"]["client"]["median"] == 1_000
    assert ours["processor_us_per_event"]["neo4j"]["median"] == 2_000
    assert ours["stages"]["decode"]["share"]["median"] == 0.25
    assert ours["samples"]["seconds"] == [2, 4]
    assert floor["headwater_ratio"] == {"median": 0.725, "minimum": 0.5, "maximum": 0.95}
    assert floor["headwater_ratio_interval"] == {"low": 0.5, "high": 0.95}
    assert naive["headwater_ratio"]["median"] == 20
    assert sink["headwater_ratio"]["median"] == 2.5


def test_without_baselines_there_is_the_consumer_alone() -> None:
    alone = measurements({CONSUMER: [consumed(2)], PACKS: [consumed(2)]}, EVENTS)
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


def test_the_goals_are_those_of_the_page() -> None:
    late = latency(10.0, {"latencies": [(0, 9.0), (1_000, 9.0)], "transactions": 1, "peak_rss_mb": 80.0})
    assert [(goal.value, goal.goal, goal.direction, goal.met) for goal in goals(measured(), [late, late])] == [
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
    document = report("ingest", options={}, measurements=measured(), goals=goals(measured(), []))
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(ingest_tables(document))
    assert captured.get().count("not met") == 4
