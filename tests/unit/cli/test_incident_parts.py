"""Options that name a part with bad data ⇒ the part, or how to write it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import typer

from headwater.incident.parts import given_parts, part_fault
from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents.answers import GivenPart
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_schemas.events import IncidentClock
from headwater_schemas.ranges import MOST_OFFSET

NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
PARTS: dict[str, tuple[dict[str, Any], GivenPart]] = {
    "a dataset": ({"dataset": "d", "column": "c"}, GivenPart(dataset="d", column="c")),
    "offsets, their end exclusive": (
        {"dataset": "d", "offsets": ["1:88", "0:120..130", "2:7.."]},
        GivenPart(dataset="d", offsets=(OffsetSpan(1, 88, 89), OffsetSpan(0, 120, 130), OffsetSpan(2, 7, MOST_OFFSET))),
    ),
    "files": (
        {"dataset": "d", "file": ["s3://b/x", "s3://b/y"]},
        GivenPart(dataset="d", files=("s3://b/x", "s3://b/y")),
    ),
    "a job": ({"job": "j", "code_version": "1a"}, GivenPart(job="j", code_version="1a")),
    "a run": ({"run": "4711"}, GivenPart(run="4711")),
    "micro-batches, the last included": (
        {"query": "q", "batches": "12..15"},
        GivenPart(query="q", from_batch=12, to_batch=14),
    ),
    "one micro-batch": ({"query": "q", "batches": "12"}, GivenPart(query="q", from_batch=12, to_batch=12)),
    "micro-batches without an end": ({"query": "q", "batches": "12.."}, GivenPart(query="q", from_batch=12)),
    "a consumer": ({"consumer": "board"}, GivenPart(consumer="board")),
    "a processing time": (
        {"dataset": "d", "since": "2025-01-31T12:00"},
        GivenPart(dataset="d", since=NOON, clock=IncidentClock.PROCESSING),
    ),
    "an event time": (
        {"dataset": "d", "until": "2025-01-31T12:00", "event_time": True},
        GivenPart(dataset="d", until=NOON, clock=IncidentClock.EVENT),
    ),
    "since the last good run": ({"job": "j", "since_last_good": True}, GivenPart(job="j", since_last_good=True)),
}
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "Name one thing with bad data"),
    "only what narrows it": ({"partition": ["day=1"]}, "Name one thing with bad data"),
    "two things": ({"dataset": "d", "run": "r"}, "Name one thing with bad data"),
    "offsets of all partitions": ({"dataset": "d", "offsets": ["all:1..2"]}, "offsets are of one partition"),
    "offsets of no partition": ({"dataset": "d", "offsets": ["120..130"]}, "write 0:120..130"),
    "offsets of another notation": ({"dataset": "d", "offsets": ["0:[120,130]"]}, "isn't a range"),
    "batches of another notation": ({"query": "q", "batches": "12-15"}, "12..16"),
    "no time": ({"dataset": "d", "since": "soon"}, "is no time"),
    "event time of nothing": ({"dataset": "d", "event_time": True}, "goes with --since or --until"),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part(name: str) -> None:
    given, part = PARTS[name]
    assert given_parts(**given) == (part,)


def test_each_partition_is_a_part() -> None:
    assert given_parts(dataset="d", column="c", partition=["day=1", "day=2", "day=1"]) == (
        GivenPart(dataset="d", column="c", partition="day=1"),
        GivenPart(dataset="d", column="c", partition="day=2"),
    )


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault(name: str) -> None:
    given, words = FAULTS[name]
    with pytest.raises(typer.BadParameter) as error:
        given_parts(**given)
    assert words in error.value.message


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("scope[0].partition", "--partition: no."),
        ("scope[0].offsets[1].to_exclusive", "--offsets: no."),
        ("removed[0].to_batch", "--batches: no."),
        ("scope[0].files", "--file: no."),
        ("scope[0].code_version", "--code-version: no."),
    ],
)
def test_a_fault_is_named_by_the_option(field: str, words: str) -> None:
    assert part_fault(QuestionError(f"{field}: no.", field=field)) == words


def test_another_fault_stays() -> None:
    assert part_fault(QuestionError("reason: RESOLVED needs it.", field="reason")) == "reason: RESOLVED needs it."
