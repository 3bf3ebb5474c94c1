"""Overviews of years: bars of whole segments, compared with a naive count of the micro-batches in the dump."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.reader import Reader
from headwater_analysis.timeline import OverviewBar, overview, overviews
from headwater_graph.dump import dump
from headwater_graph.segments import segment
from headwater_schemas.identity import from_micros
from integration.analysis.test_retired import by_the_day, kept
from integration.analysis.test_trace import copying
from support.analysis.chains import BEGIN
from support.analysis.history import History, hold_history
from support.gate import first_in_gate
from support.graph.chains import chains

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

JOB = "orders.clean"


@pytest.fixture(params=first_in_gate(1, [1, 2, 3]))
def history(request: pytest.FixtureRequest, neo4j_driver: Driver, layout: str) -> History:
    return hold_history(neo4j_driver, request.param, layout)


def naive_bars(driver: Driver) -> list[OverviewBar]:
    """A bar for each segment's batch ids, from the micro-batches of the only query, one by one."""
    nodes = [node for node in map(json.loads, dump(driver)) if "labels" in node]
    before = {next_.after["batch_id"]: next_.properties for next_ in chains(driver)}
    batches: dict[int, list[dict[str, Any]]] = {}
    for batch in sorted(
        (node["properties"] for node in nodes if node["labels"] == ["Interval"]),
        key=lambda batch: int(batch["batch_id"]),
    ):
        batches.setdefault(batch["batch_id"] // segment.SIZE, []).append(batch)
    others = [node["properties"]["batch_id"] // segment.SIZE for node in nodes if node["labels"] == ["Conflict"]]
    return [naive_bar(number, own, before, others) for number, own in batches.items()]


def naive_bar(
    number: int, batches: Sequence[dict[str, Any]], before: dict[int, dict[str, Any]], others: Sequence[int]
) -> OverviewBar:
    ids = [batch["batch_id"] for batch in batches]
    times = [from_micros(batch["processing_time"]) for batch in batches if "processing_time" in batch]
    joints = [before[batch] for batch in ids if batch in before]
    return OverviewBar(
        query=batches[0]["query"],
        segments=1,
        batches=len(ids),
        summarized=0,
        first_batch=min(ids),
        last_batch=max(ids),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        broken=sum(
            not joint.keys().isdisjoint({"missing", "gap_partitions", "overlap_partitions"}) for joint in joints
        ),
        missing=sum(joint.get("missing", 0) for joint in joints),
        gaps=sum(len(joint.get("gap_partitions", ())) for joint in joints),
        overlaps=sum(len(joint.get("overlap_partitions", ())) for joint in joints),
        rewinds=sum("rewinds" in joint for joint in joints),
        conflicts=others.count(number),
        failed=sum(not all(batch.get("quality_passed", ())) for batch in batches),
        reconciled=sum(batch["provenance"] == "RECONCILED" for batch in batches),
    )


def test_bars_are_what_a_naive_count_gives(neo4j_driver: Driver, reader: Reader, history: History) -> None:
    naive = naive_bars(neo4j_driver)
    whole = overview(reader, job=JOB, bars=1_000)
    assert list(whole.bars) == naive
    assert (whole.batches, whole.truncated) == (len(history.winners()), False)
    assert whole.job == whole.asset
    assert overview(reader, dataset="orders.raw", bars=1_000).bars == whole.bars
    # All that a bar may show occurs.
    for name in ("missing", "conflicts", "failed", "reconciled"):
        assert sum(getattr(bar, name) for bar in naive) > 0, name

    few = overview(reader, job=JOB, bars=5)
    assert len(few.bars) <= 5
    assert list(few.bars) == overviews.merged(naive, 5)
    assert few.batches == whole.batches


def test_a_span_has_the_segments_that_reach_into_it(neo4j_driver: Driver, reader: Reader, history: History) -> None:
    naive = naive_bars(neo4j_driver)
    times = sorted(each.time for each in history.winners())
    begin, end = times[len(times) // 3], times[2 * len(times) // 3]
    within = [
        bar
        for bar in naive
        if bar.first_time is not None and bar.last_time is not None and bar.last_time >= begin and bar.first_time < end
    ]
    assert list(overview(reader, job=JOB, begin=begin, end=end, bars=1_000).bars) == within
    empty = overview(reader, job=JOB, begin=times[-1] + timedelta(days=1))
    assert (empty.bars, empty.batches, empty.truncated) == ((), 0, False)
    assert len(empty.queries) == 1


def test_days_that_are_summarized_are_bars_too(clean_database: Driver, reader: Reader) -> None:
    kept(clean_database, by_the_day(copying("copy", "in", "out"), 4), days=2)
    found = overview(reader, job="copy")
    assert (found.batches, sum(bar.summarized for bar in found.bars)) == (20, 8)
    days = [(bar.segments, bar.first_batch, bar.last_batch) for bar in found.bars if bar.summarized]
    assert days == [(0, 0, 3), (0, 4, 7)]
    assert [bar.first_time for bar in found.bars][:2] == [BEGIN, BEGIN + timedelta(days=1)]
    only_second = overview(reader, job="copy", begin=BEGIN + timedelta(days=1), end=BEGIN + timedelta(days=2))
    assert [(bar.first_batch, bar.summarized) for bar in only_second.bars if bar.summarized] == [(4, 4)]
    (one,) = overview(reader, job="copy", bars=1).bars
    assert (one.batches, one.summarized, one.first_batch, one.last_batch) == (20, 8, 0, 19)


def test_an_answer_without_the_earliest_segments_reports_it(
    neo4j_driver: Driver, reader: Reader, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    naive = naive_bars(neo4j_driver)
    monkeypatch.setattr(overviews, "MOST_SEGMENTS", 2)
    found = overview(reader, job=JOB)
    assert (list(found.bars), found.truncated) == (naive[-2:], len(naive) > 2)


def test_what_is_asked_has_to_make_sense(neo4j_driver: Driver, reader: Reader, history: History) -> None:
    with pytest.raises(NotFoundError):
        overview(reader, job="nothing")
    with pytest.raises(QuestionError, match="ends before it begins"):
        overview(reader, job=JOB, begin=datetime(2026, 1, 2, tzinfo=UTC), end=datetime(2026, 1, 1, tzinfo=UTC))
    for bars in (0, 1_001):
        with pytest.raises(QuestionError, match="number of bars"):
            overview(reader, job=JOB, bars=bars)
    assert overview(reader, job="load_orders").bars == ()
