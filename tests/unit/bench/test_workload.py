"""The made-up events: proportions, one stream for one seed, and nothing that the graph couldn't hold."""

from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise

import pytest

from headwater_benchmarks.workload import PARTITIONS, Mixture, Proportions
from headwater_graph.fold.rejection import reject
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import IntervalEntry, LineageEvent

pytestmark = pytest.mark.nightly


def stream(seed: int, count: int, proportions: Proportions | None = None) -> list[LineageEvent]:
    mixture = Mixture(seed, proportions)
    return [*islice(mixture, count), *mixture.finish()]


def test_one_seed_is_one_stream() -> None:
    assert stream(3, 500) == stream(3, 500)
    assert stream(3, 500) != stream(4, 500)


def test_the_proportions_are_those_asked_for() -> None:
    events = stream(1, 10_000)
    kinds = Counter(event.kind for event in events)
    assert kinds["INTERVAL"] / len(events) == pytest.approx(0.6, abs=0.02)
    assert (kinds["RUN"] + kinds["PLAN"]) / len(events) == pytest.approx(0.3, abs=0.02)
    assert 1 - len({event.event_id for event in events}) / len(events) == pytest.approx(0.05, abs=0.01)


def test_so_many_are_taken_and_none_is_kept_back() -> None:
    """5 % come again, 5 % after others that were reported later, and every micro-batch is there in the end."""
    events = list(Mixture(4).take(10_000))
    assert 10_000 <= len(events) <= 10_005
    distinct = {event.event_id: event for event in events}
    assert 1 - len(distinct) / len(events) == pytest.approx(0.05, abs=0.01)
    newest: dict[str, int] = {}
    late = 0
    for event in dict.fromkeys(event.event_id for event in events):
        if (body := distinct[event].interval_event) is not None:
            late += body.entries[0].batch_id < newest.get(body.query_id, -1)
            newest[body.query_id] = max(newest.get(body.query_id, -1), body.entries[0].batch_id)
    intervals = sum(event.kind == "INTERVAL" for event in distinct.values())
    assert late / intervals == pytest.approx(0.05, abs=0.02)
    assert sum(newest.values()) + len(newest) == intervals


def test_every_event_can_be_reported_and_applied() -> None:
    for event in stream(2, 2_000, Proportions(skewed=0.1)):
        assert Decoder().decode(encode(event)) == event
        assert reject(event) is None


def test_a_query_s_micro_batches_follow_on_one_another() -> None:
    events = stream(5, 3_000, Proportions(queries=2))
    reported = {
        (event.interval_event.query_id, entry.batch_id): entry
        for event in events
        if event.interval_event is not None
        for entry in event.interval_event.entries
    }
    for query in {query for query, _ in reported}:
        entries = [reported[query, number] for number in range(sum(key[0] == query for key in reported))]
        for before, after in pairwise(entries):
            for ended, begun in zip(ranges(before), ranges(after), strict=True):
                assert ended[1] == begun[0]
        assert len(ranges(entries[0])) == PARTITIONS


def ranges(entry: IntervalEntry) -> list[tuple[int, int]]:
    (use,) = entry.inputs
    assert use.position is not None
    assert use.position.kafka is not None
    return [(part.from_, part.to_exclusive) for part in use.position.kafka.ranges]
