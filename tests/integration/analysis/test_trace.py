"""Traces on graphs made of events: every sort of hop, both ways, and how certain each is."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from headwater_analysis.checks import check, rule_named
from headwater_analysis.errors import ArrivalsUnknownError, NotFoundError, QuestionError
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs import intervals
from headwater_analysis.trace import (
    Arrivals,
    ArrivedRange,
    ArrivedRecords,
    Hop,
    Offsets,
    Part,
    PartKind,
    Path,
    StepKind,
    Times,
    Trace,
    TraceDirection,
    VersionOf,
    trace,
)
from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    Position,
    ProcessingType,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
    TransformationKind,
    TransformationType,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.facets import AddedFiles
from headwater_schemas.identity import plan_digest
from headwater_schemas.naming.kafka import kafka_symlink
from support.analysis.chains import (
    BEGIN,
    Entry,
    Oddities,
    Ranges,
    Stream,
    files_use,
    kafka_use,
    ran,
    random_stream,
    ranges_of,
    write,
)
from support.gate import first_in_gate
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

EXACT, INFERRED, UPPER_BOUND, UNKNOWN = (
    Certainty.EXACT,
    Certainty.INFERRED,
    Certainty.UPPER_BOUND,
    Certainty.UNKNOWN,
)
BACK = TraceDirection.BACKWARD


def hop(found: Trace, name: str) -> Hop:
    [only] = [each for each in found.hops if each.step.job is not None and each.step.job.name == name]
    return only


def part(parts: tuple[Part, ...], name: str) -> Part:
    [only] = [each for each in parts if each.dataset.name == name]
    return only


def spans(of: Part) -> list[tuple[int, int, int]]:
    return [(span.partition, span.start, span.end) for span in of.offsets]


def made_of(output: DatasetUse, *inputs: DatasetUse) -> DatasetUse:
    """An output that says what it was made from."""
    return structs.replace(output, inputs=tuple(each.dataset for each in inputs))


def copying(name: str, source: str, sink: str, *, batches: int = 20, certainty: Certainty = EXACT) -> Stream:
    """Each batch reads ten offsets of both partitions and writes as many; a restart at batch 10."""
    stream = Stream(name)
    for batch in range(batches):
        ranges: Ranges = {0: (batch * 10, batch * 10 + 10), 1: (batch * 10, batch * 10 + 10)}
        stream.entries.append(
            Entry(
                batch,
                (kafka_use(source, ranges, EXACT),),
                (kafka_use(sink, ranges, certainty),),
                run=batch // 10,
            )
        )
    return stream


def test_which_batch_run_and_code_read_a_record_and_what_it_wrote(clean_database: Driver, reader: Reader) -> None:
    stream = copying("copy", "in", "out")
    write(clean_database, stream)
    found = trace(reader, Offsets("in", 1, 123, 124))
    [only] = found.hops
    assert (only.step.kind, only.step.first_batch, only.step.last_batch, only.step.batches) == (
        StepKind.MICRO_BATCHES,
        12,
        12,
        1,
    )
    assert [(run.run_id, run.code_version) for run in only.step.runs] == [(stream.run_id(1), "v1")]
    assert only.step.keeps_state is False
    assert (only.certainty, only.overall, only.depth, only.after) == (EXACT, EXACT, 1, ())
    assert spans(part(only.inputs, "in")) == [(1, 123, 124)]
    assert spans(part(only.outputs, "out")) == [(0, 120, 130), (1, 120, 130)]
    assert only.why == "Batch 12 read offset 123 of partition 1. The query keeps no state."
    assert [end.dataset.name for end in found.ends] == ["out"]
    assert (found.total, found.max_hops, found.truncated, found.notes) == (1, 1, False, ())


def test_an_output_is_followed_from_what_it_was_made_from_alone(clean_database: Driver, reader: Reader) -> None:
    """Micro-batches and batch runs may list an output's inputs; an output without a list is made from all."""
    ranges: Ranges = {0: (0, 10)}
    one, other = kafka_use("one", ranges, EXACT), kafka_use("other", ranges, EXACT)
    of_one, of_other, of_any = (kafka_use(f"of {name}", ranges, EXACT) for name in ("one", "other", "any"))
    again, apart = kafka_use("again", ranges, EXACT), kafka_use("apart", ranges, EXACT)
    stream = Stream("split")
    stream.entries.append(Entry(0, (one, other), (made_of(of_one, one), made_of(of_other, other), of_any)))
    nightly = ran("nightly", (of_one, of_other), (made_of(again, of_one), made_of(apart, of_other)), 60)
    write(clean_database, stream, events=[nightly])

    def reached(start: str, direction: TraceDirection) -> dict[str, set[str]]:
        found = trace(reader, Offsets(start, 0, 3, 4), direction=direction, depth=None)
        parts = {
            hop.step.job.name: hop.inputs if direction is BACK else hop.outputs for hop in found.hops if hop.step.job
        }
        return {job: {part.dataset.name for part in given} for job, given in parts.items()}

    assert reached("one", TraceDirection.FORWARD) == {"split": {"of one", "of any"}, "nightly": {"again"}}
    assert reached("other", TraceDirection.FORWARD) == {"split": {"of other", "of any"}, "nightly": {"apart"}}
    assert reached("apart", BACK) == {"nightly": {"of other"}, "split": {"other"}}
    assert reached("of any", BACK) == {"split": {"one", "other"}}


def test_five_hops_and_back(clean_database: Driver, reader: Reader) -> None:
    streams = [copying(f"q{n}", f"t{n}", f"t{n + 1}") for n in range(5)]
    write(clean_database, *streams)
    one = trace(reader, Offsets("t0", 0, 5, 6))
    assert (one.total, one.truncated) == (1, True)
    found = trace(reader, Offsets("t0", 0, 5, 6), depth=None)
    assert [(each.step.query_name, each.depth, each.after) for each in found.hops] == [
        (f"q{n}", n + 1, (n,) if n else ()) for n in range(5)
    ]
    assert {each.overall for each in found.hops} == {EXACT}
    back = trace(reader, Offsets("t5", 0, 5, 6), direction=BACK, depth=None)
    assert [each.step.query_name for each in back.hops] == ["q4", "q3", "q2", "q1", "q0"]
    assert spans(part(back.hops[-1].inputs, "t0")) == [(0, 0, 10), (1, 0, 10)]
    assert [end.dataset.name for end in back.ends] == ["t0"]


def test_what_was_not_read_yet_is_reported(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, copying("copy", "in", "out"))
    found = trace(reader, Offsets("in", 0, 205, 206))
    assert found.hops == ()
    assert found.notes == (
        ("Not read yet: copy's latest known micro-batch (19) ends at offset 200, before offset 205 of partition 0."),
    )
    assert [end.dataset.name for end in found.ends] == ["in"]


def test_a_record_that_two_runs_read_is_a_step_of_each(clean_database: Driver, reader: Reader) -> None:
    """The second start begins ten offsets before the end of the first; neither makes the other less certain."""
    stream = copying("copy", "in", "out", batches=4)
    for batch in range(4, 8):
        ranges: Ranges = {0: (batch * 10 - 10, batch * 10)}
        outputs = (kafka_use("out", {0: (batch * 10, batch * 10 + 10)}, EXACT),)
        stream.entries.append(Entry(batch, (kafka_use("in", ranges, EXACT),), outputs, run=7))
    write(clean_database, stream)
    found = trace(reader, Offsets("in", 0, 35, 36))
    one, other = found.hops
    first, second = stream.run_id(0), stream.run_id(7)
    assert [(each.step.first_batch, each.step.last_batch, each.certainty) for each in found.hops] == [
        (3, 3, EXACT),
        (4, 4, EXACT),
    ]
    assert [[(run.run_id, run.first_batch) for run in each.step.runs] for each in found.hops] == [
        [(first, 3)],
        [(second, 4)],
    ]
    assert f"Batch 4 of run {second} read offset 35 of partition 0, too." in one.why
    assert f"Batch 3 of run {first} read offset 35 of partition 0, too." in other.why
    assert spans(part(other.outputs, "out")) == [(0, 40, 50)]


def test_a_restart_is_another_step(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, copying("copy", "in", "out"))
    found = trace(reader, Offsets("in", 0, 85, 115))
    assert [(each.step.first_batch, each.step.last_batch) for each in found.hops] == [(8, 9), (10, 11)]
    assert [len(each.step.runs) for each in found.hops] == [1, 1]


def test_a_missing_batch_may_have_read_it(clean_database: Driver, reader: Reader) -> None:
    stream = copying("copy", "in", "out", batches=6)
    del stream.entries[2:4]
    write(clean_database, stream, copying("on", "out", "end", batches=6))
    found = trace(reader, Offsets("in", 0, 27, 28))
    [only] = found.hops
    assert (only.step.kind, only.step.first_batch, only.step.last_batch) == (StepKind.MISSING, 2, 3)
    assert (only.step.query_name, only.step.runs, only.certainty) == ("copy", (), UPPER_BOUND)
    assert only.why.startswith(
        "No known micro-batch of copy read offset 27 of partition 0. The graph lacks micro-batches 2..4 between "
        f"batch 1 (run {stream.run_id(0)}) and batch 4 (run {stream.run_id(0)}): one of these may have read this part."
    )
    written = part(only.outputs, "out")
    assert (spans(written), written.certainty) == ([(0, 20, 40), (1, 20, 40)], UPPER_BOUND)
    assert found.notes == ()
    on = hop(trace(reader, Offsets("in", 0, 27, 28), depth=None), "on")
    assert (on.step.first_batch, on.step.last_batch, on.certainty, on.overall) == (2, 3, EXACT, UPPER_BOUND)
    [back] = trace(reader, Offsets("out", 1, 30, 31), direction=BACK).hops
    assert (back.step.kind, spans(part(back.inputs, "in"))) == (StepKind.MISSING, [(0, 20, 40), (1, 20, 40)])


def test_before_the_first_known_batch_and_where_ids_go_on(clean_database: Driver, reader: Reader) -> None:
    """Between batches with ids in a row, offsets that neither read are a gap: no batch is missing there."""
    stream = copying("copy", "in", "out", batches=6)
    del stream.entries[:2]
    stream.entries[2].inputs = (kafka_use("in", {0: (45, 50), 1: (40, 50)}, EXACT),)
    write(clean_database, stream)
    [only] = trace(reader, Offsets("in", 0, 5, 6)).hops
    assert (only.step.kind, only.step.first_batch, only.step.last_batch) == (StepKind.MISSING, 0, 1)
    assert "before batch 2" in only.why
    assert part(only.outputs, "out").kind is PartKind.UNKNOWN
    found = trace(reader, Offsets("in", 0, 42, 43))
    assert found.hops == ()
    assert found.notes == ("No known micro-batch of copy read offset 42 of partition 0.",)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_a_random_pipeline_as_by_naive_scans(clean_database: Driver, reader: Reader, seed: int) -> None:
    """Forwards to the ends and backwards to the beginnings: the same batches and the same offsets."""
    rng = random.Random(f"pipeline {seed}")
    odd = Oddities(gap=0.05, left_out=0.1, rewind=0.03, overlap=0.3 * (seed % 2))
    topics = [f"t{n}" for n in range(4)]
    streams = [
        random_stream(f"q{a}{b}", topics[a], topics[b], rng, batches=40, odd=odd)
        for a, b in ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))
    ]
    write(clean_database, *streams)
    for _ in range(3):
        for direction, start in ((TraceDirection.FORWARD, "t0"), (BACK, "t3")):
            uses = [
                (stream.winners()[batch].inputs if start == "t0" else stream.winners()[batch].outputs)
                for stream in streams
                for batch in stream.winners()
            ]
            ends = [(p, end) for each in uses for p, (_, end) in ranges_of(each, start).items() if end]
            partition, end = rng.choice(ends)
            wanted: Ranges = {partition: (max(0, end - rng.choice([1, 30])), end)}
            span = Offsets(start, partition, *wanted[partition])
            found = trace(reader, span, direction=direction, depth=None, limit=1_000)
            assert not found.truncated
            expected = naive_closure(streams, start, wanted, produced=direction is BACK)
            assert used(found) == {name: offsets for name, offsets in expected.items() if offsets}


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_lost_where_batches_are_missing(clean_database: Driver, reader: Reader, seed: int) -> None:
    """Found micro-batches hold at least everything that all of them used, those included of which nothing is known."""
    rng = random.Random(f"missing {seed}")
    topics = [f"t{n}" for n in range(3)]
    streams = [
        random_stream(f"q{a}{b}", topics[a], topics[b], rng, batches=30, odd=Oddities(new_partition=0.0))
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    known = [
        replace(
            stream,
            entries=[
                entry for entry in stream.entries if entry.batch in (0, len(stream.entries) - 1) or rng.random() < 0.8
            ],
        )
        for stream in streams
    ]
    write(clean_database, *known)
    for direction, start in ((TraceDirection.FORWARD, "t0"), (BACK, "t2")):
        lost = next(
            entry
            for stream, kept in zip(streams, known, strict=True)
            for entry in stream.entries
            if entry not in kept.entries
            and any(a < b for a, b in ranges_of((entry.inputs if start == "t0" else entry.outputs), start).values())
        )
        ranges = ranges_of(lost.inputs if start == "t0" else lost.outputs, start)
        partition, (first, end) = next((p, (a, b)) for p, (a, b) in ranges.items() if a < b)
        first = max(0, first - 10)
        found = trace(reader, Offsets(start, partition, first, end), direction=direction, depth=None, limit=1_000)
        assert StepKind.MISSING in {each.step.kind for each in found.hops}
        expected = naive_closure(streams, start, {partition: (first, end)}, produced=direction is BACK)
        assert_nothing_lost(found, expected)


def offsets_in(of: Part) -> set[tuple[int, int]]:
    return {(span.partition, offset) for span in of.offsets for offset in range(span.start, span.end)}


def used(found: Trace) -> dict[str, set[tuple[int, int]]]:
    """Offsets of each topic that the steps used, on the side that the trace came from."""
    out: dict[str, set[tuple[int, int]]] = {}
    for step in found.hops:
        for of in step.outputs if found.direction is BACK else step.inputs:
            out.setdefault(of.dataset.name, set()).update(offsets_in(of))
    return out


def assert_nothing_lost(found: Trace, expected: dict[str, set[tuple[int, int]]]) -> None:
    got = used(found)
    assert {name: left for name, offsets in expected.items() if (left := offsets - got.get(name, set()))} == {}


def naive_closure(
    streams: list[Stream], start: str, wanted: Ranges, *, produced: bool
) -> dict[str, set[tuple[int, int]]]:
    """Every offset that some batch used on the way, by topic, from looking at all of them again and again."""
    tainted: dict[str, set[tuple[int, int]]] = {start: {(p, o) for p, (a, b) in wanted.items() for o in range(a, b)}}
    used: dict[str, set[tuple[int, int]]] = {}
    growing = True
    while growing:
        growing = False
        for stream in streams:
            for entry in stream.variants():
                near, far = (entry.outputs, entry.inputs) if produced else (entry.inputs, entry.outputs)
                name = near[0].dataset.name
                mine = {(p, o) for p, (a, b) in ranges_of(near, name).items() for o in range(a, b)}
                if both := mine & tainted.get(name, set()):
                    used.setdefault(name, set()).update(both)
                    other = far[0].dataset.name
                    new = {(p, o) for p, (a, b) in ranges_of(far, other).items() for o in range(a, b)}
                    if not new <= tainted.setdefault(other, set()):
                        tainted[other] |= new
                        growing = True
    return used


def stateful(*, rows: int = 50, empty: int | None = None) -> Stream:
    """Windows written to files; the watermark moves an hour a batch, two hours behind."""
    stream = Stream("windows")
    for batch in range(12):
        stream.entries.append(
            Entry(
                batch,
                (kafka_use("in", {0: (batch * 10, batch * 10 + 10)}, EXACT),),
                (files_use("/lake/windows", [f"part-{batch}"]),),
                state_rows=0 if batch == empty else rows,
                watermark_before=BEGIN + timedelta(hours=batch - 1) if batch else None,
                watermark_after=BEGIN + timedelta(hours=batch),
            )
        )
    return stream


def test_state_widens_to_the_batches_that_the_watermark_bounds(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, stateful())
    # Two hours of delay and windows of an hour: what batch 2 read, by 02:00, is gone once a batch ran with 05:00.
    found = trace(reader, Offsets("in", 0, 25, 26), horizon=timedelta(hours=3))
    [only] = found.hops
    step = only.step
    assert (step.first_batch, step.last_batch, step.spread_first_batch, step.spread_last_batch) == (2, 2, 2, 7)
    assert (step.keeps_state, only.certainty) == (True, UPPER_BOUND)
    [files] = only.outputs
    assert files.files == tuple(f"file:/lake/windows/part-{batch}" for batch in range(2, 8))
    assert "The watermark passed 2025-01-01 05:00:00 in batch 7" in only.why

    back = trace(reader, Path("/lake/windows/part-7"), direction=BACK, horizon=timedelta(hours=3))
    [only] = back.hops
    step = only.step
    assert (step.first_batch, step.last_batch, step.spread_first_batch, step.spread_last_batch) == (7, 7, 2, 7)
    assert spans(part(only.inputs, "in")) == [(0, 20, 80)]
    assert only.certainty is UPPER_BOUND

    # The newest batch has no later one that its watermark could bound.
    [only] = trace(reader, Offsets("in", 0, 115, 116), horizon=timedelta(hours=3)).hops
    assert (only.step.spread_first_batch, only.step.spread_last_batch) == (11, 11)
    assert "The watermark hasn't passed 2025-01-01 14:00:00 by the last known batch, 11" in only.why

    # State of unknown length spreads to the end.
    [only] = trace(reader, Offsets("in", 0, 25, 26)).hops
    assert (only.step.spread_first_batch, only.step.spread_last_batch, only.certainty) == (2, 11, UPPER_BOUND)
    assert "The time that the query keeps a record is unknown" in only.why


def reported(run: str, facet: str | None) -> LineageEvent:
    """A start of `stateful()`, with what capture reports of its event time."""
    body = RunEvent(
        type=RunEventType.START,
        processing_type=ProcessingType.STREAMING,
        query_id=stateful().query_id,
        run_facets={} if facet is None else {"headwater_eventTime": facet},
    )
    return lineage_event(body, job=JobRef("jobs", "windows"), run=RunRef(run), producer="urn:test", event_time=BEGIN)


HORIZONS: list[tuple[list[str | None], int]] = [
    (['{"stateHorizonMs": 10800000}'], 7),
    (['{"stateHorizonMs": 7200000}', '{"stateHorizonMs": 10800000}'], 7),
    (['{"stateHorizonMs": 10800000}', '{"statefulOperators": ["Join"]}'], 11),
    (['{"stateHorizonMs": 10800000}', None], 11),
    (['{"policy": "max", "stateHorizonMs": 10800000, "watermarks": [{}, {}]}'], 7),
    # The watermark is that of the slower input; records of the other one may be later by any time.
    (['{"policy": "min", "stateHorizonMs": 10800000, "watermarks": [{}, {}]}'], 11),
    (["nothing"], 11),
]


def test_the_horizon_is_what_every_start_of_the_query_reported(
    subtests: pytest.Subtests, clean_database: Driver, reader: Reader
) -> None:
    for facets, last in HORIZONS:
        with subtests.test(facets=facets):
            delete_nodes(clean_database)
            write(
                clean_database,
                stateful(),
                events=[reported(stateful().run_id(number), facet) for number, facet in enumerate(facets)],
            )
            [only] = trace(reader, Offsets("in", 0, 25, 26)).hops
            assert (only.step.spread_first_batch, only.step.spread_last_batch) == (2, last)


def test_an_empty_state_ends_the_spread(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, stateful(empty=5))
    [only] = trace(reader, Offsets("in", 0, 25, 26)).hops
    assert (only.step.spread_first_batch, only.step.spread_last_batch) == (2, 5)
    assert "After batch 5 the state was empty." in only.why
    [only] = trace(reader, Offsets("in", 0, 55, 56)).hops
    assert (only.step.spread_last_batch, only.certainty) == (5, EXACT), "nothing was kept of it"
    [only] = trace(reader, Path("file:///lake/windows/part-8"), direction=BACK).hops
    assert (only.step.spread_first_batch, only.step.spread_last_batch) == (6, 8)


def test_two_incarnations_of_a_topic(clean_database: Driver, reader: Reader) -> None:
    stream = Stream("copy")
    for batch in range(8):
        start = batch % 4 * 10
        use = kafka_use("in", {0: (start, start + 10)}, EXACT, "old" if batch < 4 else "new")
        stream.entries.append(Entry(batch, (use,), (kafka_use("out", {0: (batch, batch + 1)}, EXACT),)))
    write(clean_database, stream)
    both = trace(reader, Offsets("in", 0, 15, 16))
    assert [each.step.first_batch for each in both.hops] == [1, 5]
    assert [each.why.rsplit(". ", 1)[1] for each in both.hops] == [
        "These offsets are of topic id old, an earlier incarnation: the latest is new.",
        "These offsets are of topic id new, the latest incarnation.",
    ]
    assert [part.topic_id for hop in both.hops for part in hop.inputs] == ["old", "new"]
    assert both.notes == ()
    for topic_id, batch in (("old", 1), ("new", 5)):
        [only] = trace(reader, Offsets("in", 0, 15, 16, topic_id)).hops
        assert only.step.first_batch == batch


def test_records_of_a_topic_that_was_made_anew_and_that_nobody_read(clean_database: Driver, reader: Reader) -> None:
    stream = Stream("copy")
    for batch, (start, end, topic_id) in enumerate([(0, 5, "old"), (5, 8, "new")]):
        use = kafka_use("in", {0: (start, end)}, EXACT, topic_id)
        stream.entries.append(Entry(batch, (use,), (kafka_use("out", {0: (start, end)}, EXACT),)))
    write(clean_database, stream)
    old = trace(reader, Offsets("in", 0, 2, 3))
    assert [(each.step.first_batch, each.inputs[0].topic_id) for each in old.hops] == [(0, "old")]
    assert "an earlier incarnation: the latest is new." in old.hops[0].why
    (note,) = old.notes
    assert note.endswith("no known micro-batch read offset 2 of partition 0 of its latest incarnation, new.")
    new = trace(reader, Offsets("in", 0, 6, 7))
    assert [(each.step.first_batch, each.inputs[0].topic_id, new.notes) for each in new.hops] == [(1, "new", ())]
    assert new.hops[0].why.endswith("These offsets are of topic id new, the latest incarnation.")
    (first, second) = intervals(reader, job="copy").items
    assert (first.anew, second.anew, [(joint.start, joint.end) for joint in second.gaps]) == (False, True, [(0, 5)])
    (rule,) = check(reader, BEGIN, rules=[rule_named("broken-chains")]).rules
    assert [finding.message for finding in rule.findings] == [
        "Query copy is broken in 1 places: 1 partitions with a gap."
    ]


def test_a_batch_that_ran_again_with_other_offsets(clean_database: Driver, reader: Reader) -> None:
    stream = copying("copy", "in", "out", batches=5)
    stream.entries.append(
        Entry(
            4,
            (kafka_use("in", {0: (40, 44), 1: (40, 44)}, EXACT),),
            (kafka_use("out", {0: (50, 54)}, EXACT),),
            run=3,
            emitted=1,
        )
    )
    write(clean_database, stream)
    found = trace(reader, Offsets("in", 0, 47, 48))
    [only] = found.hops
    assert (only.step.kind, only.step.first_batch) == (StepKind.CONFLICT, 4)
    assert spans(part(only.outputs, "out")) == [(0, 40, 50), (1, 40, 50)]
    kinds = [each.step.kind for each in trace(reader, Offsets("in", 0, 42, 43)).hops]
    assert sorted(kinds) == [StepKind.CONFLICT, StepKind.MICRO_BATCHES]


def test_a_sink_that_does_not_say_what_it_wrote(clean_database: Driver, reader: Reader) -> None:
    """The trace goes on with what may have been read since: it doesn't end as if nothing came of it."""
    first, second = copying("first", "in", "between", batches=10), copying("second", "between", "out", batches=10)
    for entry in first.entries:
        entry.outputs = (kafka_use("between", None, UNKNOWN),)
    write(clean_database, first, second)
    found = trace(reader, Offsets("in", 0, 45, 46), depth=None)
    known, unknown = found.hops
    assert (known.step.first_batch, known.certainty) == (4, EXACT)
    assert part(known.outputs, "between").kind is PartKind.UNKNOWN
    assert (unknown.step.first_batch, unknown.step.last_batch) == (4, 9)
    assert (unknown.certainty, unknown.overall, unknown.after) == (UNKNOWN, UNKNOWN, (1,))


def test_silent_batches_between_others_are_named(clean_database: Driver, reader: Reader) -> None:
    stream = copying("copy", "in", "out", batches=10)
    for entry in stream.entries[4:6]:
        entry.outputs = (kafka_use("out", None, UNKNOWN),)
    write(clean_database, stream)
    [only] = trace(reader, Offsets("out", 0, 55, 56), direction=BACK).hops
    assert (only.step.first_batch, only.step.last_batch, only.certainty) == (4, 5, UPPER_BOUND)
    assert "no batch around it wrote these offsets" in only.why
    assert spans(part(only.inputs, "in")) == [(0, 40, 60), (1, 40, 60)]


def test_files_go_on_into_the_runs_that_list_them(clean_database: Driver, reader: Reader) -> None:
    windows = stateful(empty=2)
    listed = files_use("/lake/windows", [f"part-{batch}" for batch in range(6)])
    other = files_use("/lake/windows", ["part-9"])
    cut = files_use("/lake/windows", ["part-0"], count=500)
    report = DatasetUse(dataset=DatasetRef("file", "/lake/report"))
    write(
        clean_database,
        windows,
        events=[
            ran("report", (listed,), (report,), at=100),
            ran("other", (other,), (report,), at=100),
            ran("many", (cut,), (report,), at=100),
            ran("earlier", (cut,), (report,), at=2),
        ],
    )
    found = trace(reader, Offsets("in", 0, 25, 26), depth=None)
    assert hop(found, "report").certainty is EXACT
    assert part(hop(found, "report").inputs, "/lake/windows").files == ("file:/lake/windows/part-2",)
    assert (hop(found, "many").certainty, "of which 1 are listed" in hop(found, "many").why) == (UPPER_BOUND, True)
    assert {each.step.job.name for each in found.hops if each.step.job} == {"windows", "report", "many"}
    # And back: the report's runs, then the batches of each listed file.
    back = trace(reader, Path("/lake/report/part-00000-a.parquet"), direction=BACK, depth=2)
    assert back.notes
    by_run = {each.step.job.name: each for each in back.hops if each.step.job and each.depth == 1}
    assert by_run.keys() == {"report", "other", "many", "earlier"}
    assert {each.certainty for each in by_run.values()} == {UNKNOWN}


def snapshot(version: str, operation: str = "append", partitions: tuple[str, ...] = ()) -> DatasetUse:
    table = TableSnapshot(format="delta", snapshot_id=version, operation=operation, partitions=partitions)
    position = Position(table_snapshot=table)
    return DatasetUse(dataset=DatasetRef("file", "/lake/table"), position=position, certainty=EXACT)


def test_versions_of_a_table(clean_database: Driver, reader: Reader) -> None:
    stream = Stream("into")
    for batch in range(6):
        stream.entries.append(
            Entry(
                batch,
                (kafka_use("in", {0: (batch * 10, batch * 10 + 10)}, EXACT),),
                (snapshot(str(batch), partitions=(f"dt={batch}",)),),
            )
        )
    report = DatasetUse(dataset=DatasetRef("file", "/lake/report"))
    runs = [ran(f"at{version}", (snapshot(str(version)),), (report,), at=200) for version in (1, 3, 5)]
    write(clean_database, stream, events=runs)
    back = trace(reader, VersionOf("/lake/table", "3"), direction=BACK)
    [only] = back.hops
    assert (only.step.first_batch, only.certainty) == (3, EXACT)
    assert spans(part(only.inputs, "in")) == [(0, 30, 40)]
    [only] = trace(reader, Path("dt=3"), direction=BACK).hops
    assert (only.step.first_batch, only.certainty) == (3, EXACT)
    found = trace(reader, Offsets("in", 0, 35, 36), depth=None)
    assert (hop(found, "at3").certainty, hop(found, "at5").certainty) == (EXACT, UPPER_BOUND)
    assert "at1" not in {each.step.job.name for each in found.hops if each.step.job}
    with pytest.raises(NotFoundError, match="No version '99'"):
        trace(reader, VersionOf("/lake/table", "99"))


def adding(version: str, *names: str, count: int | None = None) -> DatasetUse:
    """A version of a table that added some files, of which these are listed."""
    paths = tuple(f"file:/lake/table/{name}" for name in names)
    return structs.replace(snapshot(version), facets=AddedFiles(count or len(names), paths).facets())


def test_a_file_of_a_table_is_a_part_of_the_version_that_added_it(clean_database: Driver, reader: Reader) -> None:
    stream = Stream("into")
    for batch in range(4):
        reads = kafka_use("in", {0: (batch * 10, batch * 10 + 10)}, EXACT)
        stream.entries.append(Entry(batch, (reads,), (adding(str(batch), f"dt={batch}/part-{batch}", f"x-{batch}"),)))
    source = files_use("/lake/changes", ["part-0"])
    runs = [
        ran("load", (source,), (adding("4", "part-a", "part-b", count=150),), at=100),
        ran("report", (snapshot("3"),), (files_use("/lake/report", ["part-0"]),), at=200),
        # The table was made anew.
        ran("again", (source,), (adding("2", "y-2"),), at=300),
    ]
    write(clean_database, stream, events=runs)
    for path in ("/lake/table/dt=2/part-2", "file:///lake/table/dt=2"):
        back = trace(reader, Path(path), direction=BACK)
        [only] = back.hops
        assert (only.step.first_batch, only.certainty) == (2, EXACT)
        assert spans(part(only.inputs, "in")) == [(0, 20, 30)]
        assert back.notes == (f"{path} was added to file:/lake/table by version 2.",)
    [run] = trace(reader, Path("/lake/table/part-b"), direction=BACK).hops
    assert (run.step.job.name if run.step.job else None, run.certainty) == ("load", EXACT)
    forward = trace(reader, Path("/lake/table/x-3"))
    assert hop(forward, "report").certainty is EXACT
    assert "trace it backwards (--back)" in trace(reader, Path("/lake/report/part-0")).notes[0]
    # The list of version 4 was cut: the file may be one of any version.
    unlisted = trace(reader, Path("/lake/table/part-z"), direction=BACK)
    assert {each.certainty for each in unlisted.hops} == {UNKNOWN}
    assert "Of more than 100 files, only the first 100 by name are listed." in unlisted.notes[0]


def test_what_several_ways_lead_to_is_counted_once(clean_database: Driver, reader: Reader) -> None:
    """Check the graph after MERGE, UPDATE and DELETE: the report read the last version, which may hold rows of each."""
    merged, updated, deleted = (snapshot(version) for version in "123")
    runs = [
        ran("merge", (files_use("/lake/changes", ["part-0"]),), (merged,), at=10),
        ran("update", (merged,), (updated,), at=20),
        ran("delete", (updated,), (deleted,), at=30),
        ran("report", (deleted,), (files_use("/lake/report", ["part-0"]),), at=40),
    ]
    write(clean_database, events=runs)
    found = trace(reader, Path("/lake/changes/part-0"), depth=None)
    reports = [each for each in found.hops if each.step.job and each.step.job.name == "report"]
    assert max(len(each.after) for each in reports) == 2
    for each in reports:
        [written] = each.outputs
        assert (written.files, written.file_count) == (("file:/lake/report/part-0",), 1)


def test_what_was_read_at_a_time(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, copying("copy", "in", "out"))
    at = BEGIN + timedelta(seconds=75)
    found = trace(reader, Times("in", 1, at, at, read=True))
    assert [spans(each) for each in found.start] == [[(1, 70, 80)]]
    [only] = found.hops
    assert (only.step.first_batch, only.step.last_batch) == (7, 7)
    found = trace(reader, Times("out", None, at, at + timedelta(seconds=30), read=True), direction=BACK)
    assert [spans(each) for each in found.start] == [[(0, 70, 110), (1, 70, 110)]]
    batches = [(each.step.first_batch, each.step.last_batch, each.step.batches) for each in found.hops]
    assert batches == [(7, 9, 3), (10, 10, 1)], "the query was started again before batch 10"


def test_what_a_batch_run_read_at_a_time(clean_database: Driver, reader: Reader) -> None:
    read, wrote = kafka_use("in", {0: (10, 20), 1: (0, 5)}, EXACT), files_use("/lake/report", ["part-0"])
    write(clean_database, events=[ran("report", (read,), (wrote,), at=100)])
    at = BEGIN + timedelta(seconds=102)
    found = trace(reader, Times("in", 0, at, at, read=True))
    assert [spans(each) for each in found.start] == [[(0, 10, 20)]]
    assert hop(found, "report").certainty is EXACT
    before = trace(reader, Times("in", 0, BEGIN, BEGIN + timedelta(seconds=99), read=True))
    assert (before.start, before.hops) == ((), ())
    assert before.notes == ("No run or micro-batch that read kafka://k/in is known in this time.",)


def test_what_was_read_at_a_time_may_have_been_read_before(clean_database: Driver, reader: Reader) -> None:
    run = ran("report", [kafka_use("in", {1: (0, 200)}, EXACT)], [files_use("/lake/report", ["part-0"])], at=-100)
    write(clean_database, copying("copy", "in", "out"), events=[run])
    at = BEGIN + timedelta(seconds=75)
    assert hop(trace(reader, Times("in", 1, at, at, read=True)), "report").certainty is EXACT


def test_an_incarnation_that_nothing_reports(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, copying("copy", "in", "out"))
    found = trace(reader, Offsets("in", 0, 5, 6, topic_id="some id"))
    assert found.notes == ("copy doesn't record which incarnation of the topic it read.",)
    assert trace(reader, Offsets("in", 0, 5, 6)).notes == ()


def test_a_cycle_ends(clean_database: Driver, reader: Reader) -> None:
    there, back = copying("there", "a", "b"), copying("back", "b", "a")
    write(clean_database, there, back)
    found = trace(reader, Offsets("a", 0, 5, 6), depth=None)
    assert not found.truncated
    assert len(found.hops) == 3, "there, back, and there with what hadn't been followed yet"


def test_what_can_not_be_asked(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, copying("copy", "flights.in", "out"))
    with pytest.raises(NotFoundError) as raised:
        trace(reader, Offsets("flights.inn", 0, 0, 1))
    assert any("flights.in" in name for name in raised.value.nearest)
    with pytest.raises(QuestionError, match="greater than its start"):
        trace(reader, Offsets("out", 0, 5, 5))
    with pytest.raises(QuestionError, match="at least 1"):
        trace(reader, Offsets("out", 0, 5, 6), depth=0)
    with pytest.raises(NotFoundError):
        trace(reader, Path("/nowhere/at/all"))
    with pytest.raises(QuestionError, match="by its path"):
        trace(reader, Path(" "))


def test_what_has_no_offsets(clean_database: Driver, reader: Reader) -> None:
    of_files = lineage_event(
        DatasetEvent(dataset=DatasetRef("file", "/lake/files"), type="FILE"), producer="test", event_time=BEGIN
    )
    write(clean_database, events=[of_files])
    with pytest.raises(QuestionError, match="/lake/files is a FILE: only topics have offsets"):
        trace(reader, Offsets("files", 0, 5, 6))
    # A name in place of a path is as good: nothing lists its files, so it may be any of them.
    [start] = trace(reader, Path("files"), direction=BACK).start
    assert (start.dataset.name, start.kind) == ("/lake/files", PartKind.UNKNOWN)


@pytest.mark.parametrize("batches", first_in_gate(1, [40, 400]))
def test_micro_batches_that_say_no_time_may_have_run_at_any(
    clean_database: Driver, reader: Reader, batches: int
) -> None:
    """Reconciled ones: in a row at the time asked for, and scattered where the search by halves would meet them."""
    stream = copying("copy", "in", "out", batches=batches)
    silent = {*range(11, 20), *range(22, batches - 1)}
    stream.entries = [replace(each, reconciled=each.batch in silent) for each in stream.entries]
    write(clean_database, stream)

    def read_at(batch: int) -> list[tuple[int, int, int]]:
        at = stream.time(batch) + timedelta(seconds=1)
        return spans(part(trace(reader, Times("in", 0, at, at, read=True)).start, "in"))

    assert read_at(10) == [(0, 100, 200)]
    assert read_at(15) == [(0, 110, 200)], "batch 10 had ended by then, and batch 20 hadn't begun"
    assert read_at(20) == [(0, 200, 210)]
    assert read_at(21) == [(0, 210, (batches - 1) * 10)]


@pytest.mark.nightly
def test_a_hop_is_one_statement(reader: Reader, clean_database: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["in", "one", "two", "three", "four"]
    write(clean_database, *(copying(f"to-{sink}", source, sink) for source, sink in pairwise(names)))
    asked: list[str] = []
    rows = Transaction.rows

    def noted(tx: Transaction, name: str, /, **parameters: Any) -> Any:
        asked.append(name)
        return rows(tx, name, **parameters)

    monkeypatch.setattr(Transaction, "rows", noted)
    for direction, topic in ((TraceDirection.FORWARD, "in"), (BACK, "four")):
        asked.clear()
        found = trace(reader, Offsets(topic, 0, 55, 56), direction=direction, depth=None)
        assert [each.depth for each in found.hops] == [1, 2, 3, 4]
        assert asked.count("trace/prefetch") == 5, "before the first hop, and after each"
        assert {name for name in asked if name.startswith("trace/")} <= {"trace/prefetch", "trace/runs"}


def test_a_record_that_a_filter_may_have_dropped(
    clean_database: Driver, reader: Reader, subtests: pytest.Subtests
) -> None:
    """It was read; whether it is in the output depends on what the plan drops, of that output alone."""
    source, target, other = (DatasetRef("kafka://k", name) for name in ("in", "out", "all"))
    for kind, complete, expected in (
        (TransformationKind.FILTER_DEPENDENCY, True, "It isn't recorded whether a record passed the job's filter."),
        (TransformationKind.JOIN_DEPENDENCY, True, "It isn't recorded whether a record passed the job's join."),
        (TransformationKind.SORT_DEPENDENCY, True, None),
        (None, False, "It isn't recorded whether a record passed the job's operators that its plan doesn't show."),
    ):
        edges = (
            ()
            if kind is None
            else (ColumnEdge(output=1, input=0, input_field="x", type=TransformationType.INDIRECT, kind=kind),)
        )
        plan = ColumnLineage(
            datasets=(source, target, other),
            edges=edges,
            complete=complete,
            incomplete_reason=None if complete else "an RDD",
        )
        digest = plan_digest(plan)
        query = Stream("query")
        read = kafka_use("in", {0: (0, 10)}, EXACT)
        wrote = (kafka_use("out", {0: (0, 5)}, EXACT), kafka_use("all", {0: (0, 10)}, EXACT))
        query.entries.append(Entry(0, (read,), wrote, plan_digest=digest))
        described = lineage_event(plan, job=JobRef("jobs", "query"), producer="test", event_time=BEGIN)
        run = ran("report", (kafka_use("in", {0: (0, 10)}, EXACT),), wrote, at=100)
        assert run.run_event is not None
        run = structs.replace(run, run_event=structs.replace(run.run_event, plan_digest=digest))
        of_run = lineage_event(plan, job=JobRef("jobs", "report"), producer="test", event_time=BEGIN)
        delete_nodes(clean_database)
        write(clean_database, query, events=[described, run, of_run])
        found = trace(reader, Offsets("in", 0, 3, 4))
        for name in ("query", "report"):
            with subtests.test(kind=kind, of=name):
                step = hop(found, name)
                assert (step.certainty, step.overall) == (EXACT, EXACT), "that it was read is certain"
                out, every = part(step.outputs, "out"), part(step.outputs, "all")
                maybe = UPPER_BOUND if expected else EXACT
                assert (out.certainty, out.possible) == (maybe, expected is not None)
                assert every.possible is not complete
                assert ("whether a record passed" in step.why) is (expected is not None)
                assert expected is None or step.why.endswith(expected)
    back = trace(reader, Offsets("out", 0, 3, 4), direction=BACK)
    assert not any(each.possible for each in hop(back, "query").inputs)


def test_records_by_the_time_when_they_arrived(
    clean_database: Driver, reader: Reader, subtests: pytest.Subtests
) -> None:
    """Kafka knows it, for all partitions at once. Without Kafka nothing is guessed from when they were read."""
    query = Stream("query")
    for batch in range(3):
        ranges = {0: (batch * 10, batch * 10 + 10), 1: (batch * 5, batch * 5 + 5)}
        query.entries.append(Entry(batch, (kafka_use("in", ranges, EXACT, "id"),), (kafka_use("out", ranges, EXACT),)))
    described = lineage_event(
        DatasetEvent(dataset=DatasetRef("kafka://k", "in"), symlinks=(kafka_symlink("cluster", "in"),)),
        producer="test",
        event_time=BEGIN,
    )
    write(clean_database, query, events=[described])
    at = BEGIN + timedelta(hours=1)
    asked = Times("in", None, at, at + timedelta(seconds=15))

    def kafka(*ranges: ArrivedRange, by_broker: bool = True) -> Arrivals:
        def arrived(
            names: Sequence[DatasetRef], cluster_ids: Collection[str], start: datetime, end: datetime
        ) -> ArrivedRecords:
            assert (list(names), set(cluster_ids)) == ([DatasetRef("kafka://k", "in")], {"cluster"})
            assert (start, end) == (at, at + timedelta(seconds=15))
            return ArrivedRecords(ranges, "id", by_broker)

        return arrived

    with pytest.raises(ArrivalsUnknownError, match="no Kafka is configured here"):
        trace(reader, asked)
    nothing_read = trace(reader, replace(asked, read=True))
    assert nothing_read.hops == ()
    cases = [
        (
            "both partitions",
            kafka(ArrivedRange(0, 0, 12, 18), ArrivedRange(1, 0, 4, 6)),
            EXACT,
            [(0, 12, 18), (1, 4, 6)],
        ),
        ("of one none", kafka(ArrivedRange(0, 0, 12, 18), ArrivedRange(1, 0, 9, 9)), EXACT, [(0, 12, 18)]),
        ("times of producers", kafka(ArrivedRange(0, 0, 12, 18), by_broker=False), INFERRED, [(0, 12, 18)]),
        ("deleted since", kafka(ArrivedRange(0, 14, 14, 18)), UPPER_BOUND, [(0, 0, 18)]),
        ("all of it deleted", kafka(ArrivedRange(0, 14, 14, 14)), UPPER_BOUND, [(0, 0, 14)]),
    ]
    for title, arrivals, certainty, expected in cases:
        with subtests.test(title):
            found = trace(reader, asked, arrivals=arrivals)
            [start] = found.start
            assert (spans(start), start.certainty, start.topic_id) == (expected, certainty, "id")
            assert spans(part(hop(found, "query").inputs, "in")) == expected
            assert any("producers" in note for note in found.notes) is (certainty is INFERRED)
            assert any("has deleted" in note for note in found.notes) is (certainty is UPPER_BOUND)
    found = trace(reader, asked, arrivals=kafka(ArrivedRange(0, 0, 12, 12)))
    assert (found.start, found.hops, found.notes) == (
        (),
        (),
        ("Kafka has no record of kafka://k/in that arrived in this time.",),
    )
    with pytest.raises(ArrivalsUnknownError, match="no partition 7"):
        trace(reader, replace(asked, partition=7), arrivals=kafka(ArrivedRange(0, 0, 12, 18)))


def test_several_ranges_and_all_partitions_at_once(clean_database: Driver, reader: Reader) -> None:
    query = Stream("query")
    for batch in range(4):
        ranges = dict.fromkeys(range(2 if batch < 3 else 3), (batch * 10, batch * 10 + 10))
        query.entries.append(Entry(batch, (kafka_use("in", ranges, EXACT),), (kafka_use("out", ranges, EXACT),)))
    write(clean_database, query)
    several = trace(reader, (Offsets("in", 0, 5, 6), Offsets("in", 1, 35, 36), Offsets("in", 0, 3, 6)))
    [start] = several.start
    assert spans(start) == [(0, 3, 6), (1, 35, 36)]
    assert [(each.step.first_batch, each.step.last_batch) for each in several.hops] == [(0, 3)]
    everywhere = trace(reader, Offsets("in", None, 35, 36))
    assert spans(part(everywhere.start, "in")) == [(0, 35, 36), (1, 35, 36), (2, 35, 36)]
    [step] = everywhere.hops
    assert spans(part(step.inputs, "in")) == [(0, 35, 36), (1, 35, 36), (2, 35, 36)]
    with pytest.raises(QuestionError):
        trace(reader, ())
