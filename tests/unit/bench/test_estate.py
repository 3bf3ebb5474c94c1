"""The estate: as large as asked, shaped as promised, the same for the same seed; its events can be applied."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from headwater_analysis.trace import Offsets
from headwater_benchmarks.estate import (
    FEEDS_PER_DATASET,
    QUERIES,
    EstateSize,
    asset_events,
    draw_feeds,
    draw_starts,
    pipeline_events,
)
from headwater_benchmarks.workload import table
from headwater_graph.fold.rejection import reject
from headwater_graph.keys import dataset_key
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import DatasetRef, IntervalEntry

pytestmark = pytest.mark.nightly

SIZE = EstateSize(datasets=1_000, columns=8_000, intervals=6_000, seed=7)
FEEDS = draw_feeds(SIZE)


def test_out_degrees_follow_a_power_law_with_mean_three_and_there_are_cycles() -> None:
    degrees = np.bincount(FEEDS[:, 0], minlength=SIZE.datasets)
    assert degrees.mean() == FEEDS_PER_DATASET
    # In a network without hubs, of Poisson degrees, nobody would have more than 15, and 5 % none.
    assert degrees.max() > 50
    assert (degrees == 0).mean() > 0.2
    edges = set(map(tuple, FEEDS.tolist()))
    assert any((target, source) in edges for source, target in edges)
    assert not any(source == target for source, target in edges)


def test_every_table_is_described_and_every_edge_has_a_job() -> None:
    kinds: Counter[str] = Counter()
    edges: set[tuple[DatasetRef, DatasetRef]] = set()
    columns = 0
    for event in asset_events(SIZE, FEEDS):
        kinds[event.kind] += 1
        assert reject(event) is None
        if (body := event.run_event) is not None:
            edges |= {(source.dataset, output.dataset) for source in body.inputs for output in body.outputs}
        if event.dataset_event is not None and event.dataset_event.schema is not None:
            columns += len(event.dataset_event.schema.fields)
    assert kinds["DATASET"] == SIZE.datasets
    assert columns == SIZE.columns
    assert kinds["PLAN"] == kinds["RUN"]
    assert {(table(source), table(target)) for source, target in FEEDS.tolist()} <= edges


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    other = EstateSize(SIZE.datasets, SIZE.columns, SIZE.intervals, seed=8)
    assert draw_feeds(SIZE).tolist() == FEEDS.tolist() != draw_feeds(other).tolist()
    assert draw_starts(SIZE, FEEDS, []) == draw_starts(SIZE, FEEDS, [])
    assert SIZE.digest != other.digest


def test_far_starts_reach_nearly_as_much_as_any() -> None:
    feeds = defaultdict(set)
    for source, target in FEEDS.tolist():
        feeds[_key(table(source))].add(_key(table(target)))

    def reached(start: str) -> int:
        seen, frontier = {start}, {start}
        while frontier:
            frontier = {target for node in frontier for target in feeds[node]} - seen
            seen |= frontier
        return len(seen) - 1

    most = max(map(reached, list(feeds)))
    assert all(reached(key) >= 0.85 * most for key in draw_starts(SIZE, FEEDS, [])[0].far[:5])


def test_micro_batches_go_on_where_the_one_before_ended_and_read_what_was_written() -> None:
    records: list[Offsets] = []
    entries: dict[str, list[IntervalEntry]] = defaultdict(list)
    for event in pipeline_events(SIZE, records):
        assert Decoder().decode(encode(event)) == event
        assert reject(event) is None
        assert event.interval_event is not None
        entries[event.interval_event.query_name or ""] += event.interval_event.entries
    assert len(entries) == len(QUERIES)
    assert len(records) == 100
    for each in entries.values():
        assert [entry.batch_id for entry in each] == list(range(SIZE.batches))
        for one, other in pairwise(each):
            assert _offsets(one, "inputs")[1] == _offsets(other, "inputs")[0]
    for upstream, downstream in (("query-0", "query-1"), ("query-1", "query-3")):
        for wrote, read in zip(entries[upstream], entries[downstream], strict=True):
            begins, ends = _offsets(wrote, "outputs")
            read_ends = _offsets(read, "inputs")[1]
            assert all(a < b <= c for a, b, c in zip(begins, read_ends, ends, strict=True))


def _offsets(entry: IntervalEntry, side: str) -> tuple[list[int], list[int]]:
    [use] = getattr(entry, side)
    parts = use.position.kafka.ranges
    return [part.from_ for part in parts], [part.to_exclusive for part in parts]


def _key(dataset: DatasetRef) -> str:
    return dataset_key("default", dataset.namespace, dataset.name)
