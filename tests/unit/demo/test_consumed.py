"""Offsets that a query's intervals consumed for certain, read from the lines of a dump."""

from __future__ import annotations

import json

from headwater.demo.checks import uncovered
from headwater.demo.facts import consumed, consumed_ranges
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from support.demo_graph import demo_events

LINES = list(oracle(fold(demo_events())))


def test_the_demo_s_first_query_consumed_each_offset_once() -> None:
    found = consumed(consumed_ranges(LINES, "enrich", "flights.departed"))
    assert {partition: max(end for _, end in ranges) for partition, ranges in found.items()} == {
        0: 7155,
        1: 6546,
        2: 6852,
        3: 6451,
    }
    assert [uncovered(ranges, max(end for _, end in ranges)) for ranges in found.values()] == [[]] * 4


def test_other_queries_topics_and_bounds_are_left_out() -> None:
    assert consumed_ranges(LINES, "enrich", "flights.enriched") == []
    assert consumed_ranges(LINES, "nobody", "flights.departed") == []
    bounds = [line.replace('"certainty":"EXACT"', '"certainty":"UPPER_BOUND"') for line in LINES]
    assert consumed_ranges(bounds, "enrich", "flights.departed") == []


def test_what_a_conflict_consumed_doesn_t_count() -> None:
    conflicts = []
    for line in map(json.loads, LINES):
        if line.get("labels") == ["Interval"]:
            line["labels"] = ["Conflict"]
        conflicts.append(json.dumps(line))
    assert consumed_ranges(conflicts, "enrich", "flights.departed") == []
