"""The `bench` commands' work, tiny: real servers and processes, and the figures that each report promises."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.console import console
from headwater_benchmarks import estate
from headwater_benchmarks.capture.benchmark import CaptureOptions, bench_capture
from headwater_benchmarks.capture.figures import HEADWATER, ONE_BY_ONE, OPENLINEAGE, WITHOUT, capture_tables
from headwater_benchmarks.estate import EstateSize
from headwater_benchmarks.ingest.benchmark import IngestOptions, bench_ingest
from headwater_benchmarks.ingest.figures import ingest_tables
from headwater_benchmarks.intake.benchmark import IntakeOptions, bench_intake, intake_tables
from headwater_benchmarks.intervals import bench_intervals, intervals_tables
from headwater_benchmarks.query import bench_query, query_tables
from support.running import QUICK_JVM

if TYPE_CHECKING:
    from rich.console import Group

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]


@pytest.fixture(autouse=True)
def quick_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start JVMs quickly: how fast they run counts nothing here."""
    monkeypatch.setenv("JDK_JAVA_OPTIONS", os.environ.get("SPARK_SUBMIT_OPTS", QUICK_JVM))


def printed(document: dict[str, Any], tables: Callable[[Mapping[str, Any]], Group]) -> str:
    """The report as people see it; it is JSON as well."""
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(tables(document))
    return captured.get()


def test_ingest_measures_consumer_packs_floor_naive_sink_and_latency() -> None:
    document = bench_ingest(IngestOptions(events=300, rounds=1, warm_up=30, latency_seconds=2))
    by_name = {each["name"]: each for each in document["measurements"]}
    ours = by_name["headwater"]
    assert ours["records"] == document["environment"]["topic"]["records"] >= 300
    assert {"decode", "fold", "write", "commit"} == set(ours["stages"])
    assert ours["peak_rss_mb"]["maximum"] > 30
    assert by_name["packs of 50"]["records"] == document["environment"]["topic of packs"]["records"] >= 6
    for name in ("floor", "naive", "sink"):
        assert by_name[name]["headwater_ratio"]["median"] > 0
    for name in ("latency", "latency at 100 events/s"):
        assert by_name[name]["all_p99_ms"] >= by_name[name]["all_p50_ms"] > 0
    assert len(document["goals"]) == 8
    assert "headwater is × as fast" in printed(document, ingest_tables)


@pytest.mark.parametrize("batch", [1, 20])
def test_intake_measures_both_ways(batch: int) -> None:
    options = IntakeOptions(events=60, rounds=1, warm_up=20, batch=batch, rentgen=Path("/nowhere/python"))
    document = bench_intake(options)
    by_name = {each["name"]: each for each in document["measurements"]}
    for name in ("over http", "from a kafka topic"):
        assert by_name[name]["events"] == options.events
        assert by_name[name]["events_per_second"]["median"] > 0
        assert by_name[name]["processor_ms_per_event"]["consumer"]["median"] > 0
    http = by_name["over http"]
    assert http["processor_ms_per_event"]["server"]["median"] > 0
    assert http["accepted_per_second"]["median"] >= http["events_per_second"]["median"]
    assert "/nowhere/python isn't there" in by_name["data-rentgen"]["absent"]
    assert [goal["value"] is None for goal in document["goals"]] == [False, True]
    assert "Data.Rentgen wasn't measured" in printed(document, intake_tables)


def test_intervals_measures_a_query() -> None:
    document = bench_intervals(5_000, rounds=1, seed=1)
    [measured] = document["measurements"]
    # Job, run, query, two datasets, the graph's version, ten segments, and the progress of eight partitions.
    assert (measured["micro_batches"], measured["nodes"]) == (5_000, 24)
    assert sum(1 for _ in measured["stretches"]) > 1
    assert measured["stretches"][-1]["micro_batches"] == 5_000
    assert measured["trace"]["questions"] == 40
    assert measured["bytes_per_micro_batch_with_logs"] >= measured["bytes_per_micro_batch"] > 20
    assert len(document["goals"]) == 3
    assert "trace p50 ms" in printed(document, intervals_tables)


def test_query_finds_what_hand_written_statements_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = EstateSize(datasets=1_000, columns=5_000, intervals=1_000, seed=3)
    document = bench_query(size, rounds=2, questions=3, stores=tmp_path, warm_up=3)
    names = [measurement["question"] for measurement in document["measurements"]]
    assert len(names) == len(set(names)) == 7
    for measurement in document["measurements"]:
        ours, *others = measurement["contestants"]
        assert ours["found"]["minimum"] > 0
        for other in others:
            assert other["found"] == ours["found"], measurement["question"]
    kinds = document["environment"]["by_kind"]
    assert (kinds["Dataset"], kinds["Segment"]) == (size.datasets + 11, 10)
    assert [goal["direction"] for goal in document["goals"]] == ["at_most", "at_least"] * 5 + ["at_most"] * 2
    assert printed(document, query_tables).count("≤") == 7
    # A store that is there isn't made again.
    monkeypatch.setattr(estate, "_make", lambda *_: pytest.fail("it is made again"))
    with estate.estate_up(size, tmp_path, lambda _: None) as again:
        assert len(again.starts.records) == 100


@pytest.mark.spark
def test_capture_measures_four_drivers_that_do_the_same() -> None:
    options = CaptureOptions(
        rounds=1, micro_batches=3, records=20, rows=10, columns=8, writes=1, plan_columns=8, warm_up=0
    )
    document = bench_capture(options)
    by_name = {measurement["name"]: measurement for measurement in document["measurements"]}
    assert list(by_name) == [WITHOUT, HEADWATER, ONE_BY_ONE, OPENLINEAGE]
    for measurement in by_name.values():
        assert measurement["micro_batches"] >= options.micro_batches
        assert measurement["trigger_p50_ms"]["median"] > 0
        assert measurement["write_seconds"]["median"] > 0
        assert measurement["peak_rss_mb"]["jvm"] > 100
    assert by_name[WITHOUT]["events"]["events"] == 0
    for name in (HEADWATER, ONE_BY_ONE):
        assert by_name[name]["events"]["kinds"]["INTERVAL"] >= 1
        assert by_name[name]["large_plan_seconds"] > 0
    # An interval for each micro-batch, and fewer where several share one.
    single = by_name[ONE_BY_ONE]["events"]["kinds"]["INTERVAL"]
    assert single >= options.micro_batches
    assert by_name[HEADWATER]["events"]["kinds"]["INTERVAL"] <= single, "as many where triggers take a second"
    assert by_name[OPENLINEAGE]["events"]["kinds"]["START"] >= options.micro_batches
    assert len(document["goals"]) == 6
    assert "× without" in printed(document, capture_tables)
