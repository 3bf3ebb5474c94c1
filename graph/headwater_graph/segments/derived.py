"""Checks that the stored summary of a segment follows from its micro-batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_graph.derive import Neighbour
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.keys import use_key
from headwater_graph.segments.segment import Place
from headwater_graph.segments.summary import summarize

_BYTES = ("_block_", "_open", "_head", "_tail", "_last")


def differences(
    place: Place, record: Mapping[str, Any], intervals: Mapping[int, IntervalFacts], before: Neighbour | None
) -> dict[str, Any]:
    """List properties and relationships, by name, in which a segment's summary differs from its micro-batches.

    Args:
        place: the segment.
        record: record of the statement `dump_segment`, times as aware datetimes.
        intervals: its micro-batches by ascending batch id.
        before: the last micro-batch of the segment before.
    """
    summary, _ = summarize(place.tenant, intervals, before)
    expected: dict[str, Any] = {
        **place.identity(),
        **summary.properties(place.query),
        "IN_QUERY": [place.query],
        **{f"IN_RUN {key}": count for key, count in summary.runs.items()},
        **{f"{type_} {key}": [use.batches, use.first_time] for (type_, key), use in summary.versions.items()},
    }
    for use, range_ in summary.ranges.items():
        key = use_key(place.tenant, use.type, place.key, use.dataset, use.ordinal)
        ordinal = {"ordinal": use.ordinal} if use.ordinal else {}
        expected[f"{use.type} {use.dataset} {use.ordinal}"] = _there({"key": key} | ordinal | range_.properties())
    found: dict[str, Any] = {
        **{name: value for name, value in record["properties"].items() if not name.startswith(_BYTES)},
        "IN_QUERY": record["queries"],
        **{f"IN_RUN {key}": count for key, count in record["runs"]},
        **{f"{type_} {key}": [batches, time] for type_, key, batches, time in record["versions"]},
        **{
            f"{type_} {key} {properties.get('ordinal', 0)}": dict(properties)
            for type_, key, properties in record["uses"]
        },
    }
    expected = _there(expected)
    return {
        name: found.get(name, "not there")
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    }


def _there(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}
