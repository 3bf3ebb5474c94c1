"""Traces and blast radii over micro-batches that aren't kept one by one: less exact, and nothing is left out."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.blast import BadBatches, blast
from headwater_analysis.errors import NotFoundError
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Offsets, Part, PartKind, Path, StepKind, TraceDirection, trace
from headwater_graph.write.retention import retire
from headwater_schemas.events import Certainty, JobRef, LineageEvent, RetentionEvent, RetentionMode
from headwater_schemas.events.build import lineage_event
from integration.analysis.test_trace import assert_nothing_lost, copying, naive_closure, offsets_in, stateful
from support.analysis.chains import BEGIN, Oddities, Stream, random_stream, ranges_of, write
from support.gate import first_in_gate, in_gate

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

SUMMARIZE, DROP = RetentionMode.SUMMARIZE, RetentionMode.DROP
DAY = timedelta(days=1)


def before(days: int, mode: RetentionMode = SUMMARIZE) -> LineageEvent:
    """Retention of what ran on the first days."""
    end = BEGIN + days * DAY
    return lineage_event(RetentionEvent(before=end, mode=mode), job=JobRef("n", "j"), producer="test", event_time=end)


def kept(driver: Driver, *streams: Stream, days: int, mode: RetentionMode = SUMMARIZE) -> None:
    """The queries' graph, without the micro-batches of the first days one by one."""
    write(driver, *streams, events=[before(days, mode)])
    assert retire(driver, None, lambda _moved, _left: None).micro_batches


def by_the_day(stream: Stream, a_day: int) -> Stream:
    stream.every = DAY / a_day
    return stream


def kinds(parts: tuple[Part, ...]) -> set[tuple[str, PartKind]]:
    return {(part.dataset.name, part.kind) for part in parts}


@pytest.mark.parametrize("seed", first_in_gate(1, range(3)))
def test_nothing_is_lost_where_days_are_summarized(clean_database: Driver, reader: Reader, seed: int) -> None:
    rng = random.Random(f"retired {seed}")
    odd = Oddities(gap=0.05, left_out=0.1, rewind=0.03 * (seed % 2))
    topics = [f"t{n}" for n in range(3)]
    streams = [
        by_the_day(random_stream(f"q{a}{b}", topics[a], topics[b], rng, batches=40, odd=odd), 8)
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    kept(clean_database, *streams, days=rng.choice([2, 3]))
    summaries = 0
    for direction, start in ((TraceDirection.FORWARD, "t0"), (TraceDirection.BACKWARD, "t2")) * (1 if in_gate() else 4):
        entries = [entry for stream in streams for entry in stream.winners().values()]
        uses = [entry.inputs if start == "t0" else entry.outputs for entry in entries]
        ends = [(p, end) for each in uses for p, (_, end) in ranges_of(each, start).items() if end]
        partition, end = rng.choice(ends)
        first = max(0, end - rng.choice([1, 30]))
        found = trace(reader, Offsets(start, partition, first, end), direction=direction, depth=None, limit=1_000)
        expected = naive_closure(
            streams, start, {partition: (first, end)}, produced=direction is TraceDirection.BACKWARD
        )
        assert_nothing_lost(found, expected)
        summaries += sum(hop.step.kind is StepKind.SUMMARY for hop in found.hops)
    assert summaries, "some went over a day that is summarized"


def test_what_a_summarized_day_kept_in_its_state_may_come_out_later(clean_database: Driver, reader: Reader) -> None:
    kept(clean_database, by_the_day(stateful(), 4), days=2)
    [only] = trace(reader, Offsets("in", 0, 25, 26)).hops
    step = only.step
    assert (step.kind, step.first_batch, step.last_batch, step.keeps_state) == (StepKind.SUMMARY, 0, 3, True)
    assert (step.spread_first_batch, step.spread_last_batch) == (0, 11)
    assert kinds(only.outputs) == {("/lake/windows", PartKind.UNKNOWN), ("/lake/windows", PartKind.FILES)}
    [files] = [part for part in only.outputs if part.kind is PartKind.FILES]
    assert files.files == tuple(sorted(f"file:/lake/windows/part-{batch}" for batch in range(8, 12)))
    assert only.certainty is Certainty.UPPER_BOUND

    bounded = trace(reader, Offsets("in", 0, 25, 26), horizon=timedelta(hours=3)).hops[0].step
    # Of batch 8, the first that is kept: its watermark is 08:00, and three hours later it has passed in batch 10.
    assert (bounded.spread_first_batch, bounded.spread_last_batch) == (0, 11)


def test_backwards_a_kept_batch_may_have_had_a_summarized_day_in_its_state(
    clean_database: Driver, reader: Reader
) -> None:
    kept(clean_database, by_the_day(stateful(), 4), days=2)
    [only] = trace(reader, Path("/lake/windows/part-9"), direction=TraceDirection.BACKWARD).hops
    assert (only.step.first_batch, only.step.spread_first_batch) == (9, 0)
    [part] = only.inputs
    assert offsets_in(part) == {(0, offset) for offset in range(100)}
    assert "Batch 0..8 is summarized by day" in only.why


@pytest.mark.parametrize("mode", [SUMMARIZE, DROP])
def test_bad_batches_of_days_that_are_gone(clean_database: Driver, reader: Reader, mode: RetentionMode) -> None:
    kept(clean_database, by_the_day(copying("copy", "in", "out"), 4), days=2, mode=mode)
    origin = blast(reader, BadBatches("copy", 1, 2)).hops[0]
    assert (origin.step.kind, origin.step.first_batch, origin.step.last_batch) == (StepKind.SUMMARY, 1, 2)
    assert origin.certainty is Certainty.UPPER_BOUND
    [part] = origin.outputs
    if mode is SUMMARIZE:
        assert offsets_in(part) == {(p, offset) for p in (0, 1) for offset in range(40)}
        assert "Batch 1..3 is summarized by day, so everything that the micro-batches of these days wrote" in origin.why
    else:
        assert part.kind is PartKind.UNKNOWN
        assert "Batch 1..3 was dropped by retention: it may have written any part." in origin.why


def test_what_is_gone_behind_bad_batches_leaves_no_hole_behind_them(clean_database: Driver, reader: Reader) -> None:
    stream = by_the_day(stateful(), 4)
    for entry in stream.entries[:4]:
        entry.reconciled = True  # at no time that is known: these are kept
    kept(clean_database, stream, days=2)
    origin = blast(reader, BadBatches("windows", 0, 1)).hops[0]
    assert (origin.step.spread_last_batch, origin.step.keeps_state) == (11, True)
    assert "Batch 4..8 is summarized by day" in origin.why
    assert "Nothing is known" not in origin.why


def test_bad_batches_of_which_some_are_gone(clean_database: Driver, reader: Reader) -> None:
    kept(clean_database, by_the_day(copying("copy", "in", "out"), 4), days=2)
    origin = blast(reader, BadBatches("copy", 6, 9)).hops[0]
    assert (origin.step.kind, origin.step.batches) == (StepKind.MICRO_BATCHES, None)
    [part] = origin.outputs
    assert offsets_in(part) == {(p, offset) for p in (0, 1) for offset in range(40, 100)}
    assert "Batch 6..8 is summarized by day" in origin.why
    assert "Nothing is known" not in origin.why
    with pytest.raises(NotFoundError):
        blast(reader, BadBatches("copy", 30, 31))
