"""Blast radii on graphs made of events: what is tainted, and what was replaced since."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from headwater_analysis.blast import BadBatches, BadRun, Blast, Offsets, Tainted, blast
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.trace import PartKind, TraceDirection, trace
from headwater_schemas.events import (
    Certainty,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    LifecycleChange,
    LineageEvent,
    ParentRun,
    Position,
    ProcessingType,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
)
from headwater_schemas.events.build import lineage_event
from support.analysis.chains import (
    BEGIN,
    Entry,
    Stream,
    files_use,
    in_tens,
    kafka_use,
    overwriting,
    ran,
    replacing,
    write,
)
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

EXACT = Certainty.EXACT
REPORT = DatasetRef("file", "/lake/report")


def tainted(found: Blast, name: str) -> Tainted:
    [only] = [each for each in found.tainted if each.dataset.name == name]
    return only


def snapshot(version: int, operation: str, partitions: tuple[str, ...]) -> DatasetUse:
    table = TableSnapshot(format="delta", snapshot_id=str(version), operation=operation, partitions=partitions)
    return DatasetUse(
        dataset=DatasetRef("file", "/lake/table"), position=Position(table_snapshot=table), certainty=EXACT
    )


def reading(use: DatasetUse, *partitions: str) -> DatasetUse:
    """The use as a read of these partitions."""
    named = [{"identifier": each} for each in partitions]
    condition = {"type": "partition", "partitions": named}
    return msgspec.structs.replace(use, facets={"subset": json.dumps({"inputCondition": condition})})


def test_from_offsets_and_from_the_batches_that_read_them(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, in_tens("first", "in", "mid"), in_tens("second", "mid", "/lake/files"))
    found = blast(reader, Offsets("in", 0, 25, 35))
    assert [(each.dataset.name, each.depth) for each in found.tainted] == [("mid", 0), ("/lake/files", 1)]
    [part] = tainted(found, "mid").parts
    assert [(span.partition, span.start, span.end) for span in part.offsets] == [(0, 20, 40)]
    [part] = tainted(found, "/lake/files").parts
    assert part.files == ("file:/lake/files/part-2", "file:/lake/files/part-3")
    totals = found.totals
    assert (totals.datasets, totals.offsets, totals.files, totals.steps) == (2, 20, 2, 2)
    same = blast(reader, BadBatches("first", 2, 3))
    assert same.tainted == found.tainted
    assert [(hop.depth, hop.step.query_name) for hop in same.hops] == [(0, "first"), (1, "second")]


@pytest.mark.nightly
def test_what_is_known_in_two_ways_counts_once(clean_database: Driver, reader: Reader) -> None:
    """Records that came by an exactly known path, and by one of which only the time is known."""
    first, second = in_tens("first", "in", "mid"), in_tens("second", "mid", "out")
    silent = Stream(
        "silent",
        [
            Entry(n, (kafka_use("in", None, EXACT),), (use,), 0)
            for n, use in enumerate(kafka_use("mid", {0: (at * 10, at * 10 + 10)}, EXACT) for at in range(10))
        ],
    )
    write(clean_database, first, second, silent)
    found = blast(reader, Offsets("in", 0, 25, 26))
    parts = [(part.certainty, [(s.start, s.end) for s in part.offsets]) for part in tainted(found, "mid").parts]
    assert parts == [(EXACT, [(20, 30)]), (Certainty.UNKNOWN, [(0, 20), (30, 100)])]
    assert found.totals.offsets == 200


@pytest.mark.nightly
def test_micro_batches_that_wrote_nothing_taint_nothing(clean_database: Driver, reader: Reader) -> None:
    idle = Stream("idle", [Entry(0, (kafka_use("in", {0: (0, 0)}, EXACT),), (kafka_use("mid", {0: (0, 0)}, EXACT),))])
    write(clean_database, idle)
    found = blast(reader, BadBatches("idle", 0, 0))
    assert (found.tainted, found.totals.datasets) == ((), 0)


def started(of: Stream, run: int, batch: int) -> LineageEvent:
    """A start of a query, of which no end is known, just before a batch."""
    body = RunEvent(
        type=RunEventType.START,
        processing_type=ProcessingType.STREAMING,
        started_at=of.time(batch),
        query_id=of.query_id,
    )
    job, start = JobRef("jobs", of.name), RunRef(of.run_id(run))
    return lineage_event(body, job=job, run=start, producer="test", event_time=of.time(batch))


def test_each_start_of_a_streaming_query(clean_database: Driver, reader: Reader) -> None:
    """Batch 4 comes from a checkpoint alone: it may belong to either start."""
    first = in_tens("first", "in", "mid")
    first.entries[4] = replace(first.entries[4], reconciled=True)
    write(clean_database, first, events=[started(first, 0, 0), started(first, 1, 5)])
    for run_number, begin, end in ((0, 0, 3), (1, 5, 9)):
        found = blast(reader, BadRun(first.run_id(run_number)))
        steps = [(hop.step.first_batch, hop.step.last_batch, hop.certainty) for hop in found.hops]
        assert sorted(steps) == sorted([(begin, end, EXACT), (4, 4, Certainty.UPPER_BOUND)])
        assert [hop.number for hop in found.hops] == [1, 2]
        parts = [(part.certainty, span) for part in tainted(found, "mid").parts for span in part.offsets]
        assert [(certainty, span.start, span.end) for certainty, span in parts] == [
            (EXACT, begin * 10, end * 10 + 10),
            (Certainty.UPPER_BOUND, 40, 50),
        ]


def test_a_start_of_which_no_micro_batch_was_observed(clean_database: Driver, reader: Reader) -> None:
    """All of its micro-batches may belong to it, those of the start after it don't."""
    first = in_tens("first", "in", "mid")
    for n in (5, 6):
        first.entries[n] = replace(first.entries[n], reconciled=True)
    for n in (7, 8, 9):
        first.entries[n] = replace(first.entries[n], run=2)
    write(clean_database, first, events=[started(first, 0, 0), started(first, 1, 5), started(first, 2, 7)])
    [hop] = blast(reader, BadRun(first.run_id(1))).hops
    assert (hop.step.first_batch, hop.step.last_batch, hop.certainty) == (5, 6, Certainty.UPPER_BOUND)


def in_hundreds(write_of: Callable[[int], DatasetUse]) -> Stream:
    """A query of 100 micro-batches: so many that an answer reads only the first and the last of them."""
    stream = Stream("query")
    for n in range(100):
        stream.entries.append(Entry(n, (kafka_use("in", {0: (n, n + 1)}, EXACT),), (write_of(n),)))
    return stream


def spans_of_70(reader: Reader) -> list[tuple[int, int, int]]:
    """Partition, start and end of the output of batches 10 to 79."""
    [part] = tainted(blast(reader, BadBatches("query", 10, 79)), "mid").parts
    assert part.certainty is Certainty.UPPER_BOUND
    return [(span.partition, span.start, span.end) for span in part.offsets]


def test_many_micro_batches_that_wrote_to_other_partitions(clean_database: Driver, reader: Reader) -> None:
    """Batch n writes to partition n % 7; the first and the last one write to partition 3 and 2."""
    write(clean_database, in_hundreds(lambda n: kafka_use("mid", {n % 7: (n // 7, n // 7 + 1)}, EXACT, "id")))
    # Partition 3 from batch 10 on, partition 2 up to batch 79; of the others, what batches 0 to 99 wrote.
    expected = {p: (0, 15 if p < 2 else 14) for p in (0, 1, 4, 5, 6)} | {3: (1, 14), 2: (0, 12)}
    assert spans_of_70(reader) == [(p, *expected[p]) for p in range(7)]


def test_many_micro_batches_with_a_topic_made_anew_among_them(clean_database: Driver, reader: Reader) -> None:
    """The offsets begin again at 0 in batch 60, which the last one's don't show; nor is a topic id recorded."""
    write(clean_database, in_hundreds(lambda n: kafka_use("mid", {0: (n % 60, n % 60 + 1)}, EXACT)))
    assert spans_of_70(reader) == [(0, 0, 60)]


def test_many_micro_batches_of_which_one_lacks_its_offsets(clean_database: Driver, reader: Reader) -> None:
    stream = in_hundreds(lambda n: kafka_use("mid", {0: (n, n + 1)}, EXACT))
    stream.entries[50] = replace(
        stream.entries[50], reconciled=True, outputs=(kafka_use("mid", None, Certainty.UNKNOWN),)
    )
    write(clean_database, stream)
    [part] = tainted(blast(reader, BadBatches("query", 10, 79)), "mid").parts
    assert part.kind is PartKind.UNKNOWN


def test_partitions_of_a_topic_whose_offsets_are_not_all_recorded(clean_database: Driver, reader: Reader) -> None:
    """Batches write to partition 0 and 1 in turn; batch 50 comes from a checkpoint."""
    stream = in_hundreds(lambda n: kafka_use("mid", {n % 2: (n // 2, n // 2 + 1)}, EXACT))
    stream.entries[50] = replace(
        stream.entries[50], reconciled=True, outputs=(kafka_use("mid", None, Certainty.UNKNOWN),)
    )
    write(clean_database, stream)
    found = trace(reader, Offsets("mid", None, 20, 21), direction=TraceDirection.BACKWARD)
    [part] = found.start
    assert [(span.partition, span.start, span.end) for span in part.offsets] == [(0, 20, 21), (1, 20, 21)]


def test_what_a_later_run_overwrote_is_gone(clean_database: Driver, reader: Reader) -> None:
    files = in_tens("files", "in", "/lake/files")
    bad = ran("report", [files_use("/lake/files", ["part-2"])], [replacing(REPORT)], 200)
    write(clean_database, files, events=[bad])
    before = blast(reader, Offsets("in", 0, 25, 26))
    assert [part.kind for part in tainted(before, "/lake/report").parts] == [PartKind.UNKNOWN]
    assert before.totals.unknown == 1

    good = ran("report", [files_use("/lake/files", ["part-9"])], [replacing(REPORT)], 400)
    write(clean_database, events=[good])
    after = blast(reader, Offsets("in", 0, 25, 26))
    report = tainted(after, "/lake/report")
    assert report.parts == ()
    [gone] = report.superseded
    assert gone.why == "The dataset was overwritten later."
    assert gone.by is not None
    assert gone.by.runs[0].run_id == "report 400"
    assert gone.at == BEGIN + timedelta(seconds=405)
    assert (after.totals.datasets, after.totals.clean_again) == (1, 1)
    assert blast(reader, BadRun("report 400")).totals.datasets == 1, "nothing came after it"


def test_an_overwriting_run_that_read_tainted_data_is_tainted_itself(clean_database: Driver, reader: Reader) -> None:
    files = in_tens("files", "in", "/lake/files")
    uses = [files_use("/lake/files", ["part-2"])], [replacing(REPORT)]
    write(clean_database, files, events=[ran("report", *uses, at) for at in (200, 400)])
    report = tainted(blast(reader, Offsets("in", 0, 25, 26)), "/lake/report")
    assert len(report.parts) == 1
    assert len(report.superseded) == 1


def test_partitions_that_a_later_version_replaced(clean_database: Driver, reader: Reader) -> None:
    table = Stream("table")
    for batch in range(3):
        use = snapshot(batch, "append", ("dt=1", "dt=2"))
        table.entries.append(Entry(batch, (kafka_use("in", {0: (batch, batch + 1)}, EXACT),), (use,)))
    changed = ran("changed", [], [snapshot(8, "overwrite", ("dt=1",))], 290)  # a MERGE, say
    repair = ran("repair", [], [overwriting(snapshot(9, "overwrite", ("dt=2",)), "dt=2")], 300)
    write(clean_database, table, events=[changed, repair])
    found = tainted(blast(reader, Offsets("in", 0, 1, 2)), "/lake/table")
    assert [(part.version, part.partitions) for part in found.parts] == [("1", ("dt=1",))]
    assert [(gone.part.partitions, gone.why) for gone in found.superseded] == [
        (("dt=2",), "Partition dt=2 was overwritten later.")
    ]


@pytest.mark.nightly
def test_files_of_partitions_that_a_rerun_overwrote(clean_database: Driver, reader: Reader) -> None:
    files = in_tens("files", "in", "/lake/files", batches=2)
    both = files_use("/lake/days", ["dt=1/part-0", "dt=2/part-0"])
    first = ran("daily", [files_use("/lake/files", ["part-1"])], [both], 200)
    overwritten = overwriting(files_use("/lake/days", ["dt=2/b"]), "dt=2")
    repair = ran("daily", [files_use("/lake/other", ["x"])], [overwritten], 300)
    write(clean_database, files, events=[first, repair])
    found = blast(reader, Offsets("in", 0, 15, 16))
    days = tainted(found, "/lake/days")
    assert [part.files for part in days.parts] == [("file:/lake/days/dt=1/part-0",)]
    assert [(gone.part.files, gone.why) for gone in days.superseded] == [
        (("file:/lake/days/dt=2/part-0",), "Partition dt=2 was overwritten later.")
    ]
    assert (found.totals.files, found.notes) == (2, ())

    some = ran("daily", [], [overwriting(files_use("/lake/days", [], count=1))], 400)
    write(clean_database, events=[some])
    found = blast(reader, Offsets("in", 0, 15, 16))
    assert [part.files for part in tainted(found, "/lake/days").parts] == [("file:/lake/days/dt=1/part-0",)]
    [note] = found.notes
    assert note.startswith("Run daily 400 overwrote a part of file:/lake/days later; the partitions aren't recorded")


def test_runs_that_read_other_partitions_are_clean(
    clean_database: Driver, reader: Reader, subtests: pytest.Subtests
) -> None:
    """Each run read one day, whatever it knows of the files."""
    days = Stream("days")
    for n, day in enumerate((24, 25, 26)):
        use = files_use("/lake/days", [f"dt={day}/part-{n}"])
        days.entries.append(Entry(n, (kafka_use("in", {0: (n * 10, n * 10 + 10)}, EXACT),), (use,)))
    unlisted = files_use("/lake/days", [], count=1)
    nothing = DatasetUse(dataset=unlisted.dataset)
    for title, read in (("files that aren't listed", unlisted), ("no position", nothing)):
        runs = [ran(f"{title} {day}", [reading(read, f"dt={day}")], [REPORT], 200 + day) for day in (24, 25, 26)]
        write(clean_database, days, events=runs)
        with subtests.test(read=title):
            found = blast(reader, Offsets("in", 0, 25, 26))
            jobs = [hop.step.job.name for hop in found.hops if hop.step.job is not None and hop.step.job.name != "days"]
            assert [name for name in jobs if name.startswith(title)] == [f"{title} 26"]


def test_a_dataset_that_was_dropped_and_a_topic_made_anew(clean_database: Driver, reader: Reader) -> None:
    first = in_tens("first", "in", "/lake/files")
    second = Stream("second")
    for batch, topic_id in enumerate(("old", "new")):
        use = kafka_use("mid", {0: (0, 10)}, EXACT, topic_id)
        second.entries.append(Entry(batch, (use,), (kafka_use("out", {0: (batch, batch + 1)}, EXACT),)))
    writer = Stream("writer")
    writer.entries.append(
        Entry(0, (kafka_use("in", {0: (0, 100)}, EXACT),), (kafka_use("mid", {0: (0, 10)}, EXACT, "old"),))
    )
    dropped = lineage_event(
        DatasetEvent(dataset=DatasetRef("file", "/lake/files"), lifecycle=LifecycleChange.DROP),
        producer="test",
        event_time=BEGIN + timedelta(hours=1),
    )
    write(clean_database, first, second, writer, events=[dropped])
    found = blast(reader, Offsets("in", 0, 5, 6))
    assert [gone.why for gone in tainted(found, "/lake/files").superseded] == ["The dataset was dropped later."]
    [gone] = tainted(found, "mid").superseded
    assert gone.why.startswith("The topic was recreated")
    assert [(s.start, s.end) for part in tainted(found, "out").parts for s in part.offsets] == [(0, 1)]


def test_a_query_that_stopped_before_the_topic_was_made_anew_shows_nothing_of_it(
    clean_database: Driver, reader: Reader
) -> None:
    stopped = Stream("stopped")
    read, out = kafka_use("mid", {0: (0, 10)}, EXACT, "old"), kafka_use("out", {0: (0, 1)}, EXACT)
    stopped.entries.append(Entry(0, (read,), (out,)))
    writer = Stream("writer")
    for batch, topic_id in enumerate(("old", "old", "new")):
        read = kafka_use("in", {0: (batch * 10, batch * 10 + 10)}, EXACT)
        writer.entries.append(Entry(batch, (read,), (kafka_use("mid", {0: (0, 10)}, EXACT, topic_id),)))
    write(clean_database, stopped, writer)
    found = tainted(blast(reader, Offsets("in", 0, 25, 26)), "mid")
    assert ([part.topic_id for part in found.parts], found.superseded) == (["new"], ())


@pytest.mark.nightly
def test_a_missing_batch_may_have_read_the_bad_records(clean_database: Driver, reader: Reader) -> None:
    """Check that nothing is reported as untainted where something may be tainted."""
    broken = in_tens("first", "in", "mid")
    del broken.entries[3]
    write(clean_database, broken)
    [mid] = blast(reader, Offsets("in", 0, 35, 36)).tainted
    assert (mid.certainty, [(s.start, s.end) for part in mid.parts for s in part.offsets]) == (
        Certainty.UPPER_BOUND,
        [(30, 40)],
    )
    found = blast(reader, BadBatches("first", 2, 4))
    [mid] = found.tainted
    assert (mid.certainty, [(s.start, s.end) for part in mid.parts for s in part.offsets]) == (
        Certainty.UPPER_BOUND,
        [(20, 50)],
    )
    assert "The graph has no record of batch 3:" in found.hops[0].why


def test_what_can_not_be_asked(clean_database: Driver, reader: Reader) -> None:
    application = ParentRun("app 0", JobRef("jobs", "app"))
    runs = [ran("app", [], [], 0), *(ran("report", [], [REPORT], at, parent=application) for at in (10, 20))]
    write(clean_database, in_tens("first", "in", "mid"), events=runs)
    with pytest.raises(AmbiguousError, match="wrote nothing itself, but started 2 runs") as several:
        blast(reader, BadRun("app 0"))
    assert several.value.candidates == ("report 20", "report 10")
    with pytest.raises(NotFoundError, match="No run has the id"):
        blast(reader, BadRun("nothing"))
    with pytest.raises(NotFoundError, match="No streaming query"):
        blast(reader, BadBatches("nothing", 0, 1))
    with pytest.raises(NotFoundError, match=r"the graph has its batches 0\.\.10"):
        blast(reader, BadBatches("first", 50, 60))
    with pytest.raises(QuestionError, match="range of batches is invalid"):
        blast(reader, BadBatches("first", 3, 2))


@pytest.mark.parametrize("plan_digest", [None, "0123456789abcdef"])
def test_many_runs_take_no_more_statements_than_few(
    reader: Reader, clean_database: Driver, monkeypatch: pytest.MonkeyPatch, plan_digest: str | None
) -> None:
    asked: list[str] = []
    run = Transaction._run

    def counted(tx: Transaction, name: str, parameters: dict[str, Any]) -> Any:
        asked.append(name)
        return run(tx, name, parameters)

    monkeypatch.setattr(Transaction, "_run", counted)
    counts = []
    for width in (2, 12):
        delete_nodes(clean_database)
        made = ran("first", [], [files_use("/lake/a", ["a"])], 0)
        wide = [
            event
            for n in range(width)
            for event in (
                ran(
                    f"copy{n}",
                    [files_use("/lake/a", ["a"])],
                    [files_use(f"/lake/b{n}", ["b"])],
                    10,
                    plan_digest=plan_digest,
                ),
                ran(f"sum{n}", [files_use(f"/lake/b{n}", ["b"])], [files_use(f"/lake/c{n}", ["c"])], 20),
            )
        ]
        write(clean_database, events=[made, *wide])
        asked.clear()
        found = blast(reader, BadRun("first 0"))
        assert len(found.tainted) == 1 + 2 * width
        counts.append(len(asked))
    assert counts[0] == counts[1]
