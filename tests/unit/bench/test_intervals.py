"""`bench intervals`: the query's micro-batches follow on one another, records are sought in them; rates and goals."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from headwater_benchmarks.estate import record_read
from headwater_benchmarks.intervals import goals, rates
from headwater_benchmarks.workload import StreamingQuery
from headwater_schemas.events import IntervalEntry, LineageEvent, OffsetRange

pytestmark = pytest.mark.nightly


def entry(event: LineageEvent) -> IntervalEntry:
    assert event.interval_event is not None
    return event.interval_event.entries[0]


def ranges(event: LineageEvent, side: str) -> tuple[OffsetRange, ...]:
    [use] = getattr(entry(event), side)
    found: tuple[OffsetRange, ...] = use.position.kafka.ranges
    return found


def test_nothing_of_an_irregular_query_follows_from_something_else() -> None:
    query = StreamingQuery(0, random.Random(1), irregular=True)
    events = [query.next() for _ in range(200)]
    for one, other in pairwise(events):
        for side in ("inputs", "outputs"):
            ends = [part.to_exclusive for part in ranges(one, side)]
            assert ends == [part.from_ for part in ranges(other, side)]
        assert entry(one).processing_time < entry(other).processing_time  # type: ignore[operator]
    assert len({entry(event).processing_time.microsecond for event in events}) > 20  # type: ignore[union-attr]
    assert sum(entry(event).rows_in == entry(event).rows_out for event in events) < 5


def test_a_sought_record_was_read_by_its_micro_batch() -> None:
    query, dice = StreamingQuery(0, random.Random(1), irregular=True), random.Random(2)
    for _ in range(20):
        event = query.next()
        assert event.interval_event is not None
        sought = record_read(event.interval_event, 0, dice)
        part = ranges(event, "inputs")[sought.partition or 0]
        assert part.from_ <= sought.start < part.to_exclusive


def test_rates_are_of_equal_parts() -> None:
    commits = [(1.0, 10, 0.0), (3.0, 50, 0.0), (4.0, 99, 0.0), (5.0, 100, 0.0)]
    found = rates(commits, 20 * 100)
    assert found == [{"micro_batches": 100, "micro_batches_per_second": 20.0}]
    assert len(rates(commits, 100)) == 4, "transactions of more than a part"


@pytest.mark.parametrize(("size", "met"), [(120.0, True), (120.1, False)])
def test_goals_are_of_the_one_query(size: float, met: bool) -> None:
    found = goals({"nodes_per_year": 10_001, "end_to_beginning": 0.9, "bytes_per_micro_batch": size})
    assert [goal.met for goal in found] == [False, True, met]
