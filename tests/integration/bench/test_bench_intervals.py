"""`bench intervals`, tiny: a query's beginning through the consumer's loop, and many queries made in bulk."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from headwater.console import console
from headwater_benchmarks.estate.segments import Row
from headwater_benchmarks.estate.store import import_sheets, server_up
from headwater_benchmarks.intervals.options import Options
from headwater_benchmarks.intervals.run import run
from headwater_benchmarks.intervals.scaled import write
from headwater_benchmarks.intervals.show import view
from headwater_benchmarks.intervals.stream import Stream
from headwater_consumers.graph.dump import compare, dump
from headwater_consumers.graph.oracle import oracle
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.graph import writing_driver
from headwater_consumers.materializer.write import GraphWriter
from support.running import QUICK_JVM

pytestmark = pytest.mark.nightly

TINY = Options(
    year=5_000,
    micro_batches=4_000,
    queries=3,
    compared=2_000,
    rounds=1,
    questions=5,
    heap_mb=512,
    page_cache_mb=128,
    warm_up=5,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", QUICK_JVM)  # how fast it is counts nothing here


@pytest.mark.timeout(600)
def test_a_year_and_many_queries_are_measured() -> None:
    document = run(TINY)
    year, small, large, arithmetic = document["measurements"]
    # Job, run, query, two datasets, the graph's version, and ten segments.
    assert (year["micro_batches"], year["nodes"]) == (5_000, 16)
    assert sum(1 for _ in year["stretches"]) > 1
    assert year["stretches"][-1]["micro_batches"] == TINY.year
    assert (small["micro_batches"], large["micro_batches"]) == (1_998, 3_999)
    assert small["nodes"] == 3 * 5 + 3 * 2 + 1
    for graph in (year, small, large):
        assert graph["trace"]["questions"] == TINY.questions
        assert graph["bytes_per_micro_batch_with_logs"] >= graph["bytes_per_micro_batch"] > 20
    assert arithmetic["micro_batches"] == 1_576_800_000
    assert len(document["goals"]) == 6
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "500 queries for a year" in captured.get()


@pytest.mark.timeout(300)
def test_what_is_made_in_bulk_is_what_the_events_make(tmp_path: Path) -> None:
    each = 1_100
    _, arguments = write(tmp_path, each, TINY)
    import_sheets(arguments, tmp_path)
    streams = [Stream(number, TINY.seed) for number in range(TINY.queries)]
    events = itertools.chain.from_iterable(
        (stream.event(Row(columns, batch), batch) for batch in range(each))
        for stream, columns in ((stream, stream.columns(0, each)) for stream in streams)
    )
    served = server_up(tmp_path, heap_mb=512, page_cache_mb=128)
    with served as (_, target), writing_driver(target) as driver:
        GraphWriter(driver, target.database).ensure_schema()
        found = compare(oracle(fold(list(events)), internal=True), dump(driver, target.database, internal=True))
    assert found.same, found.samples[:3]
    assert found.equal > TINY.queries * each * 5
