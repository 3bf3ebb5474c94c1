"""`bench intervals`, tiny: a query's beginning through the consumer's loop."""

from __future__ import annotations

import json

import pytest

from headwater.console import console
from headwater_benchmarks.intervals.one_query import Options
from headwater_benchmarks.intervals.run import run
from headwater_benchmarks.intervals.show import view
from support.running import QUICK_JVM

pytestmark = pytest.mark.nightly

TINY = Options(micro_batches=5_000, rounds=1, questions=5, heap_mb=512, page_cache_mb=128)


@pytest.mark.timeout(600)
def test_a_query_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", QUICK_JVM)  # how fast it is counts nothing here
    document = run(TINY)
    [measured] = document["measurements"]
    # Job, run, query, two datasets, the graph's version, and ten segments.
    assert (measured["micro_batches"], measured["nodes"]) == (5_000, 16)
    assert sum(1 for _ in measured["stretches"]) > 1
    assert measured["stretches"][-1]["micro_batches"] == TINY.micro_batches
    assert measured["trace"]["questions"] == TINY.questions
    assert measured["bytes_per_micro_batch_with_logs"] >= measured["bytes_per_micro_batch"] > 20
    assert len(document["goals"]) == 3
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "trace p50 ms" in captured.get()
