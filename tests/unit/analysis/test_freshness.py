"""Freshness of the graph, by the consumers' reports and the brokers' offsets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater_analysis.freshness import NOT_REPORTED, GraphState, TopicEnd, freshness, not_asked

NOW = 1_795_770_000_000
SECOND = 1_000


def row(*, ago: int = 1, next_offset: int = 10, end: int = 10, last_ago: int | None = 1, partition: int = 0) -> Any:
    return {
        "topic": "lineage.events",
        "topic_id": "a",
        "partition": partition,
        "next_offset": next_offset,
        "end_offset": end,
        "last_record_ms": None if last_ago is None else NOW - last_ago * SECOND,
        "at": NOW - ago * SECOND,
        "now": NOW,
    }


def judge(*rows: Any, ends: Sequence[TopicEnd] | None = None) -> GraphState:
    return freshness(rows, stale_seconds=60, ends=lambda _: ends)


@pytest.mark.parametrize(
    ("rows", "behind", "stale"),
    [
        ([row()], 0, None),
        ([row(next_offset=4)], 6, None),  # the last event was applied a second ago: it is on its way
        ([row(next_offset=4, last_ago=120)], 6, "6 events wait on the topic"),
        ([row(next_offset=9, last_ago=None)], 1, "1 event waits on the topic"),
        ([row(), row(partition=1, next_offset=4, last_ago=120)], 6, None),
        ([row(last_ago=10_000)], 0, None),
    ],
)
def test_consumers_that_report(rows: Sequence[Any], behind: int, stale: str | None) -> None:
    found = judge(*rows)
    assert (found.behind, found.stale) == (behind, stale)


SINCE = "since 2026-11-27 08:58:20Z"


@pytest.mark.parametrize(
    ("ends", "behind", "stale"),
    [
        (None, None, f"no consumer has reported {SINCE}: events may be missing"),
        ([TopicEnd(0, "a", 0, 10)], 0, None),
        ([TopicEnd(0, "a", 0, 36)], 26, f"26 events wait on the topic, and no consumer has reported {SINCE}"),
        # A partition that no consumer has had, records that expired unread, a topic that was made anew.
        ([TopicEnd(0, "a", 0, 10), TopicEnd(1, "a", 5, 7)], 2, "2 events wait"),
        ([TopicEnd(0, "a", 12, 13)], 1, "1 event waits"),
        ([TopicEnd(0, "b", 0, 3)], 3, "3 events wait"),
    ],
)
def test_consumers_that_are_silent(ends: Sequence[TopicEnd] | None, behind: int | None, stale: str | None) -> None:
    found = judge(row(ago=100), ends=ends)
    assert found.behind == behind
    assert found.stale is None if stale is None else (found.stale or "").startswith(stale)


def test_one_silent_consumer_of_several_is_enough() -> None:
    assert judge(row(), row(partition=1, ago=100)).stale is not None


def test_a_graph_whose_consumers_never_reported() -> None:
    found = freshness([], stale_seconds=60, ends=not_asked)
    assert found == NOT_REPORTED


def test_the_state_in_an_answer() -> None:
    last = datetime(2026, 11, 27, 8, 58, tzinfo=UTC)
    assert judge(row(next_offset=4, last_ago=120)) == GraphState(last, 6, "6 events wait on the topic")
