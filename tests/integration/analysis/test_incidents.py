"""Reach of incidents on small graphs: parts of a scope, and repairs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.declaring.files import read_file
from headwater_analysis.incidents.actions import GivenAction, action
from headwater_analysis.incidents.answers import GivenPart, IncidentReach
from headwater_analysis.incidents.questions import incident
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.trace import Part, PartKind
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IncidentAction,
    IncidentClock,
    IncidentScope,
    JobEvent,
    JobRef,
    LineageEvent,
    OffsetRange,
    Owner,
    ParentRun,
    Position,
    ProcessingType,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.ranges import MOST_OFFSET
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
    topic,
    write,
)
from support.analysis.incident_events import INCIDENT, LATER, act, offsets, opened, recorded, repaired

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

EXACT, INFERRED, UPPER_BOUND, UNKNOWN = (
    Certainty.EXACT,
    Certainty.INFERRED,
    Certainty.UPPER_BOUND,
    Certainty.UNKNOWN,
)
IN, MID, FILES, REPORT = (
    topic("in"),
    topic("mid"),
    DatasetRef("file", "/lake/files"),
    DatasetRef("file", "/lake/report"),
)
DAYS = DatasetRef("file", "/lake/days")


def seconds(number: int) -> datetime:
    return BEGIN + timedelta(seconds=number)


AFTER = int((LATER - BEGIN + timedelta(minutes=1)).total_seconds())
"""Seconds, for a run after the opening."""


def reach(reader: Reader, of: str = INCIDENT) -> IncidentReach:
    found = incident(reader, of).reach
    assert found is not None
    return found


def units(part: Part) -> list[Any]:
    """Ranges of a topic, names of files, or the kind of a part that isn't known more exactly."""
    if part.kind is PartKind.OFFSETS:
        return [(span.partition, span.start, span.end) for span in part.offsets]
    return [path.rpartition("/")[2] for path in part.files] if part.kind is PartKind.FILES else [str(part.kind)]


def listed(parts: tuple[Part, ...]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part in parts:
        found.setdefault(part.dataset.name, []).extend(units(part))
    return found


def tainted(found: IncidentReach) -> dict[str, list[Any]]:
    """Parts that are still bad, by dataset; an empty list where nothing is left."""
    return {each.dataset.name: [unit for part in each.parts for unit in units(part)] for each in found.blast.tainted}


def start(found: IncidentReach) -> dict[str, list[Any]]:
    return listed(found.blast.start)


PIPELINE = (in_tens("first", "in", "mid"), in_tens("second", "mid", "/lake/files"))
"""Batch n of `first` reads and writes offsets 10n..10n+10, that of `second` writes part-n of them; both take from 10n s
to 10n+9 s. Batches 0 to 4 are of run 0 and code v0, the others of run 1 and code v1."""
REPORTED = ran("report", [files_use("/lake/files", ["part-2", "part-3"])], [replacing(REPORT)], 200)


@pytest.fixture
def pipeline(clean_database: Driver) -> Driver:
    write(clean_database, *PIPELINE, events=[REPORTED])
    return clean_database


def test_offsets(pipeline: Driver, reader: Reader) -> None:
    """Offset 25 was read by batch 2 of `first`, which wrote 20..30; batch 2 of `second` made part-2 of these."""
    write(pipeline, events=[opened(offsets(IN, 25, 26))])
    found = reach(reader)
    assert start(found) == {"in": [(0, 25, 26)]}
    assert tainted(found) == {"mid": [(0, 20, 30)], "/lake/files": ["part-2"], "/lake/report": ["UNKNOWN"]}
    [part] = found.scope
    assert (part.certainty, part.hops, found.complete) == (EXACT, (), True)
    certainties = {each.dataset.name: each.certainty for each in found.blast.tainted}
    assert certainties == {"mid": EXACT, "/lake/files": EXACT, "/lake/report": UNKNOWN}, "which part isn't reported"
    assert ({hop.overall for hop in found.blast.hops}, found.spreading) == ({EXACT}, ()), "no query keeps state"


CONSUMERS = """\
set: s
namespace: file
consumers:
  - {name: a page, reads: [/lake/files]}
  - {name: b board, reads: [/lake/files], criticality: tier-1, notice: 14d}
  - {name: c export, reads: [/lake/report], criticality: high, notice: 2d}
  - {name: d model, reads: [/lake/files], criticality: low, notice: 1d}
  - {name: e report, reads: [/lake/files], notice: 30d}
"""


def test_consumers_are_in_the_order_in_which_to_notify_them(pipeline: Driver, reader: Reader) -> None:
    """The most critical first, then the shortest notice, then the name."""
    declared = read_file("s.yaml", CONSUMERS).events(1, tenant="default", event_time=BEGIN)
    write(pipeline, events=[*declared, opened(offsets(IN, 25, 26))])
    names = ["c export", "b board", "d model", "e report", "a page"]
    assert [each.name for each in reach(reader).blast.consumers] == names


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the statements that are run from now on."""
    asked: list[str] = []
    rows = Transaction.rows

    def recording(tx: Transaction, name: str, /, **given: Any) -> list[Any]:
        asked.append(name)
        return rows(tx, name, **given)

    monkeypatch.setattr(Transaction, "rows", recording)
    return asked


OWNERS = """\
set: s
namespace: file
datasets:
  - {name: /lake/files, owners: [team:files, ann]}
jobs:
  - {namespace: jobs, name: second, owners: [team:second]}
"""


def test_owners_of_datasets_and_jobs_on_the_way(
    pipeline: Driver, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Declared owners, else owners that events report; each job once. One statement reads all reported owners."""
    declared = read_file("s.yaml", OWNERS).events(1, tenant="default", event_time=BEGIN)
    runs = [
        ran(job, [files_use("/lake/files", ["part-2"])], [replacing(DatasetRef("file", f"/lake/{job}"))], at)
        for job, at in (("again", 300), ("again", 310))
    ]
    owned = lineage_event(
        JobEvent(owners=(Owner(name="team:first"),)), job=JobRef("jobs", "first"), producer="test", event_time=BEGIN
    )
    write(pipeline, events=[*declared, *runs, owned, opened(offsets(IN, 25, 26), offsets(IN, 35, 36))])
    asked = counted(monkeypatch)
    found = reach(reader)
    names = {each.dataset.name: [owner.name for owner in each.owners] for each in found.owners}
    assert names == {
        "in": [],
        "mid": [],
        "/lake/files": ["ann", "team:files"],
        "/lake/again": [],
        "/lake/report": [],
    }
    assert [(each.job.name, each.depth, [owner.name for owner in each.owners]) for each in found.jobs] == [
        ("first", 1, ["team:first"]),
        ("second", 2, ["team:second"]),
        ("again", 3, []),
        ("report", 3, []),
    ]
    nearest = {hop.number: hop.step.job for hop in found.blast.hops}
    assert [nearest[each.hop] for each in found.jobs] == [each.job for each in found.jobs]
    assert ({each.certainty for each in found.jobs}, found.jobs_unknown) == ({EXACT}, 0)
    assert asked.count("declared/owners") == 1


RATES = DatasetRef("file", "/lake/rates")


def rates(version: int) -> DatasetUse:
    position = Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=str(version)))
    return DatasetUse(dataset=RATES, position=position, certainty=EXACT)


def test_business_versions_of_the_runs_on_the_way(
    pipeline: Driver, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions of declared reference data, each with the reached datasets that runs computed with it."""
    declared = read_file("s.yaml", "set: s\nnamespace: file\ndatasets: [{name: /lake/rates, reference: true}]\n")
    part = files_use("/lake/files", ["part-2"])
    good = files_use("/lake/files", ["part-7"])
    revenue, plain = DatasetUse(dataset=DatasetRef("file", "/lake/revenue")), DatasetRef("file", "/lake/plain")
    runs = [
        ran("revenue", [part, rates(41)], [revenue], 300),
        ran("revenue", [part, rates(41)], [revenue], 310),
        ran("revenue", [part, rates(42)], [revenue], 320),
        ran("revenue", [good, rates(43)], [revenue], 330),
        ran("plain", [part, rates(41)], [DatasetUse(dataset=plain, inputs=(part.dataset,))], 340),
    ]
    events = declared.events(1, tenant="default", event_time=BEGIN)
    write(pipeline, events=[*events, *runs, opened(offsets(IN, 25, 26))])
    asked = counted(monkeypatch)
    found = reach(reader)
    assert {"revenue", "plain"} <= {each.job.name for each in found.jobs}
    versions = [
        (each.reference.version, [output.name for output in each.outputs], each.run_ids, each.runs)
        for each in found.business_versions
    ]
    assert versions == [
        ("41", ["/lake/revenue"], ("revenue 300", "revenue 310"), 2),
        ("42", ["/lake/revenue"], ("revenue 320",), 1),
    ]
    assert (asked.count("runs/read_by_runs"), asked.count("runs/references_of_runs")) == (1, 1)


def span(since: int, until: int, **of: Any) -> IncidentScope:
    return IncidentScope(since=seconds(since), until=seconds(until), clock=IncidentClock.PROCESSING, **of)


FIRST = PIPELINE[0].query_id
SCOPES: dict[str, tuple[IncidentScope, list[Any], list[int], Certainty]] = {
    "offsets beyond the end": (offsets(IN, 500, 600), [(0, 500, 600)], [], EXACT),
    "a file": (IncidentScope(dataset=FILES, files=("file:/lake/files/part-3",)), ["part-3"], [], EXACT),
    "a file that nobody read": (
        IncidentScope(dataset=FILES, files=("file:/lake/files/part-7",)),
        ["part-7"],
        [],
        EXACT,
    ),
    "a topic": (IncidentScope(dataset=MID), [(0, 0, MOST_OFFSET)], [*range(10)], EXACT),
    "a folder": (IncidentScope(dataset=FILES), ["UNKNOWN"], [], UPPER_BOUND),
    # Batch 2 runs from 20 s to 29 s. One that ran at other times, too, may have written then; and whoever else wrote
    # is only known to Kafka.
    "all of a batch's time": (span(20, 30, dataset=MID), [(0, 20, 30)], [2], INFERRED),
    "its last seconds": (span(25, 30, dataset=MID), [(0, 20, 30)], [2], UPPER_BOUND),
    "its last second": (span(29, 30, dataset=MID), [(0, 20, 30)], [2], UPPER_BOUND),
    "a time in two batches": (span(25, 31, dataset=MID), [(0, 20, 40)], [2, 3], UPPER_BOUND),
    "the next second": (span(30, 31, dataset=MID), [(0, 30, 40)], [3], UPPER_BOUND),
    # The first start ran batches 0 to 4.
    "a run of a query": (IncidentScope(run=PIPELINE[0].run_id(0)), [], [*range(5)], EXACT),
    "micro-batches": (IncidentScope(query=FIRST, from_batch=2, to_batch=3), [], [2, 3], EXACT),
    "micro-batches of a time": (span(29, 30, query=FIRST), [], [2], EXACT),
    "a consumer": (IncidentScope(consumer="team"), [], [], EXACT),
    "an unknown dataset": (IncidentScope(dataset=topic("unknown")), ["UNKNOWN"], [], UNKNOWN),
    "an unknown run": (IncidentScope(run="unknown"), [], [], UNKNOWN),
    "an unknown job": (IncidentScope(job=JobRef("jobs", "unknown")), [], [], UNKNOWN),
    "an unknown query": (IncidentScope(query="unknown"), [], [], UNKNOWN),
}
"""Part of a scope ⇒ parts of its dataset, batches of `second` that read bad records, and certainty of these facts."""


def test_scopes(pipeline: Driver, reader: Reader, subtests: pytest.Subtests) -> None:
    for title, (scope, begun, batches, certainty) in SCOPES.items():
        with subtests.test(title):
            write(pipeline, events=[opened(scope, of=title)])
            found = reach(reader, title)
            [part] = found.scope
            is_of_report = title in ("a file", "a folder")
            assert (part.certainty, found.complete) == (certainty, certainty is not UNKNOWN)
            assert bool(found.blast.hops) == (bool(batches) or is_of_report)
            assert [unit for units_ in start(found).values() for unit in units_] == begun
            made = tainted(found)
            assert made.get("/lake/files", []) == [f"part-{batch}" for batch in batches]
            assert ("/lake/report" in made) == (bool({2, 3} & {*batches}) or is_of_report)
            if batches and not begun:
                assert made["mid"] == [(0, batches[0] * 10, batches[-1] * 10 + 10)]
                assert (part.hops, found.blast.hops[0].depth) == ((1,), 0)
            assert bool(part.why) or certainty is not UNKNOWN


def days() -> Stream:
    """Batch n writes two files of day n."""
    out = Stream("days")
    for n in range(3):
        use = files_use("/lake/days", [f"dt={n}/a-{n}", f"dt={n}/b-{n}"])
        out.entries.append(Entry(n, (kafka_use("in", {0: (n * 10, n * 10 + 10)}, EXACT),), (use,)))
    return out


def test_partition(clean_database: Driver, reader: Reader) -> None:
    """Day 1 has a-1 and b-1. One run read both; another one read a file of day 2."""
    runs = [
        ran("one", [files_use("/lake/days", ["dt=1/a-1", "dt=1/b-1"])], [files_use("/lake/one", ["x"])], 100),
        ran("two", [files_use("/lake/days", ["dt=2/a-2"])], [files_use("/lake/two", ["y"])], 100),
    ]
    write(clean_database, days(), events=[*runs, opened(IncidentScope(dataset=DAYS, partition="dt=1"))])
    found = reach(reader)
    assert start(found) == {"/lake/days": ["a-1", "b-1"]}
    assert tainted(found) == {"/lake/one": ["x"]}
    assert (found.scope[0].certainty, found.complete) == (EXACT, True)


def test_partition_of_which_one_file_was_read(clean_database: Driver, reader: Reader) -> None:
    """Nobody has read b-1 yet: it is as bad as a-1."""
    run = ran("one", [files_use("/lake/days", ["dt=1/a-1"])], [files_use("/lake/one", ["x"])], 100)
    write(clean_database, days(), events=[run, opened(IncidentScope(dataset=DAYS, partition="dt=1"))])
    assert start(reach(reader)) == {"/lake/days": ["a-1", "b-1"]}


def test_processing_time_of_a_topic_that_nobody_known_writes(pipeline: Driver, reader: Reader) -> None:
    """Without Kafka, what was read then counts: by batch 2 alone, from 20 s to 29 s."""
    span = IncidentScope(dataset=IN, since=seconds(22), until=seconds(24), clock=IncidentClock.PROCESSING)
    write(pipeline, events=[opened(span)])
    found = reach(reader)
    assert start(found) == {"in": [(0, 20, 30)]}
    assert (found.scope[0].certainty, "no Kafka is configured" in found.scope[0].why) == (INFERRED, True)


def windows(
    batches: int = 20,
    *,
    runs: int = 1,
    name: str = "windows",
    source: str = "in",
    sink: str = "/lake/windows",
    reads: int | None = None,
) -> Stream:
    """Windows of an hour, to files or a topic; the watermark is half an hour behind and moves 15 minutes a batch.

    Batch n reads offsets 10n..10n+10, and writes as many or a file; those from `reads` on read another topic.
    """
    stream = Stream(name)
    for n in range(batches):
        ranges = {0: (n * 10, n * 10 + 10)}
        read = source if reads is None or n < reads else "other"
        written = files_use(sink, [f"part-{n}"]) if sink.startswith("/") else kafka_use(sink, ranges, EXACT)
        stream.entries.append(
            Entry(
                n,
                (kafka_use(read, ranges, EXACT),),
                (written,),
                run=n * runs // batches,
                state_rows=50,
                watermark_before=BEGIN + timedelta(minutes=15 * (n - 1)) if n else None,
                watermark_after=BEGIN + timedelta(minutes=15 * n),
            )
        )
    return stream


def starts(stream: Stream, *, minutes: int | None = None, runs: int = 1) -> list[LineageEvent]:
    """Starts of a query; of one with state, they report its delay plus the length of its windows."""
    events = []
    facets = {} if minutes is None else {"headwater_eventTime": f'{{"stateHorizonMs": {minutes * 60_000}}}'}
    for run in range(runs):
        first = next(entry.batch for entry in stream.entries if entry.run == run)
        body = RunEvent(
            type=RunEventType.START,
            processing_type=ProcessingType.STREAMING,
            query_id=stream.query_id,
            started_at=stream.time(first),
            versions=Versions(code=f"v{run}"),
            run_facets=facets,
        )
        job, start = JobRef("jobs", stream.name), RunRef(stream.run_id(run))
        events.append(lineage_event(body, job=job, run=start, producer="test", event_time=stream.time(first)))
    return events


def test_event_time_of_a_topic(clean_database: Driver, reader: Reader) -> None:
    """Records of 02:00 to 02:15.

    Such a record raises the watermark to 01:30 or more: at first after batch 6. It falls into the window from 02:00 to
    03:00, so it is used until the watermark reaches 03:00: batch 12 runs with 02:45, batch 13 with 03:00. What is read
    from batch 6 to 12 must be in the answer; more of it may be.
    """
    span = IncidentScope(
        dataset=IN,
        since=BEGIN + timedelta(minutes=120),
        until=BEGIN + timedelta(minutes=135),
        clock=IncidentClock.EVENT,
    )
    stream = windows()
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(span)])
    found = reach(reader)
    [(partition, first, end)] = start(found)["in"]
    assert partition == 0
    assert first <= 60, "batch 6 read such records"
    assert end >= 130, "batch 12 read such records"
    assert (first, end) != (0, 200), "the watermark bounds it"
    assert found.scope[0].certainty is UPPER_BOUND
    assert {f"part-{n}" for n in range(6, 20)} <= set(tainted(found)["/lake/windows"])


def test_event_time_beside_micro_batches_without_a_watermark(clean_database: Driver, reader: Reader) -> None:
    """Batches 1 to 3 come from a checkpoint. Any of them may have raised the watermark to 00:30; batch 0 didn't."""
    span = IncidentScope(dataset=IN, since=BEGIN + timedelta(minutes=120), clock=IncidentClock.EVENT)
    stream = windows()
    for n in range(1, 4):
        stream.entries[n] = replace(stream.entries[n], reconciled=True, watermark_before=None, watermark_after=None)
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(span)])
    assert start(reach(reader))["in"] == [(0, 10, 200)]


def test_a_repaired_start_of_a_query(clean_database: Driver, reader: Reader) -> None:
    """Batch 5 comes from the checkpoint: it may belong to the start that is repaired, or to the one after it."""
    stream = in_tens("query", "in", "/lake/files")
    for n in range(5, 10):
        stream.entries[n] = replace(stream.entries[n], run=1, reconciled=n == 5)
    scope = IncidentScope(run=stream.run_id(0))
    write(clean_database, stream, events=[*starts(stream, runs=2), opened(scope)])
    before = reach(reader)
    assert tainted(before)["/lake/files"] == [*(f"part-{n}" for n in range(5)), "part-5"]
    assert (before.scope[0].certainty, len(before.scope[0].hops)) == (UPPER_BOUND, 2)
    write(clean_database, events=[repaired(scope)])
    assert tainted(reach(reader))["/lake/files"] == ["part-5"]


def test_event_time_of_one_of_two_topics_under_one_watermark(clean_database: Driver, reader: Reader) -> None:
    """A record of either topic raises the watermark, so it bounds both."""
    span = IncidentScope(
        dataset=IN,
        since=BEGIN + timedelta(minutes=120),
        until=BEGIN + timedelta(minutes=135),
        clock=IncidentClock.EVENT,
    )
    stream = windows()
    for entry in stream.entries:
        entry.inputs = (*entry.inputs, kafka_use("other", {0: (entry.batch, entry.batch + 1)}, EXACT))
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(span)])
    [(_, first, end)] = start(reach(reader))["in"]
    assert 0 < first <= 60
    assert 130 <= end < 200


def test_event_time_of_records_that_were_written_and_read_before_the_query_read_them(
    clean_database: Driver, reader: Reader
) -> None:
    """They are there since the run that wrote them, not since the query read them."""
    span = IncidentScope(dataset=IN, since=BEGIN + timedelta(hours=2), clock=IncidentClock.EVENT)
    records = [kafka_use("in", {0: (0, 200)}, EXACT)]
    runs = [ran("load", [], records, -100), ran("copy", records, [files_use("/lake/copy", ["x"])], -50)]
    stream = windows()
    write(clean_database, stream, events=[*runs, *starts(stream, minutes=90), opened(span)])
    found = reach(reader)
    assert tainted(found)["/lake/copy"] == ["x"]
    [since] = found.since
    assert since.first_bad is not None
    assert since.first_bad.run_id == "load -100"


def test_whole_topic_of_which_the_last_batch_read_one_partition(clean_database: Driver, reader: Reader) -> None:
    """Batch 0 read partition 1, which had nothing new for batch 1."""
    query = Stream("query")
    for n, ranges in enumerate(({0: (0, 10), 1: (0, 5)}, {0: (10, 20)})):
        query.entries.append(Entry(n, (kafka_use("in", ranges, EXACT),), (files_use("/lake/files", [f"part-{n}"]),)))
    write(clean_database, query, events=[opened(IncidentScope(dataset=IN))])
    found = reach(reader)
    assert start(found) == {"in": [(0, 0, MOST_OFFSET), (1, 0, MOST_OFFSET)]}
    assert tainted(found) == {"/lake/files": ["part-0", "part-1"]}


def test_whole_topic_whose_offsets_are_not_all_recorded(clean_database: Driver, reader: Reader) -> None:
    """Batch 4 comes from the checkpoint, which doesn't have the partitions that it wrote."""
    stream = in_tens("first", "in", "mid")
    stream.entries[4] = replace(stream.entries[4], reconciled=True, outputs=(kafka_use("mid", None, UNKNOWN),))
    write(clean_database, stream, events=[opened(IncidentScope(dataset=MID))])
    found = reach(reader)
    assert start(found) == {"mid": [(0, 0, MOST_OFFSET), "UNKNOWN"]}
    assert found.scope[0].certainty is UPPER_BOUND


def test_whole_topic_that_batch_runs_read_too(clean_database: Driver, reader: Reader) -> None:
    """The query reads partition 0; a batch run read partition 1."""
    run = ran("copy", [kafka_use("in", {1: (0, 5)}, EXACT)], [files_use("/lake/copy", ["x"])], 50)
    write(clean_database, in_tens("first", "in", "mid"), events=[run, opened(IncidentScope(dataset=IN))])
    assert tainted(reach(reader)) == {"mid": [(0, 0, 100)], "/lake/copy": ["x"]}


def test_run_and_the_runs_that_it_started(clean_database: Driver, reader: Reader) -> None:
    parent = ParentRun("app 0", JobRef("jobs", "app"))
    runs = [
        ran("app", [], [], 0),
        ran("child", [], [files_use("/lake/a", ["x"])], 10, parent=parent),
        ran("child", [], [files_use("/lake/a", ["y"])], 20, parent=parent),
        ran("other", [], [files_use("/lake/a", ["z"])], 30),
        ran("reader", [files_use("/lake/a", ["y"])], [files_use("/lake/b", ["r"])], 40),
    ]
    write(clean_database, events=[*runs, opened(IncidentScope(run="app 0"))])
    found = reach(reader)
    assert tainted(found) == {"/lake/a": ["x", "y"], "/lake/b": ["r"]}
    assert (len(found.scope[0].hops), found.complete) == (2, True)


def test_code_version_of_a_job(pipeline: Driver, reader: Reader) -> None:
    """Code v1 is that of batches 5 to 9; of a batch job with two versions, one run is of v1."""
    runs = [
        ran("load", [], [files_use("/lake/a", [name])], at, versions=Versions(code=name))
        for at, name in ((10, "v1"), (20, "v2"))
    ]
    scope = [IncidentScope(job=JobRef("jobs", name), code_version="v1") for name in ("first", "load")]
    started = starts(PIPELINE[0], runs=2)
    write(pipeline, events=[*runs, *started, opened(*scope)])
    found = reach(reader)
    assert tainted(found) == {
        "mid": [(0, 50, 100)],
        "/lake/files": [f"part-{n}" for n in range(5, 10)],
        "/lake/a": ["v1"],
    }


def test_job_of_which_batches_are_known_by_the_checkpoint_alone(clean_database: Driver, reader: Reader) -> None:
    """Batches 0 and 1 ran before Headwater did, and belong to no known run: they are the job's as well."""
    first = in_tens("first", "in", "mid")
    first.entries[:2] = [replace(entry, reconciled=True) for entry in first.entries[:2]]
    write(clean_database, first, events=[opened(IncidentScope(job=JobRef("jobs", "first")))])
    assert tainted(reach(reader)) == {"mid": [(0, 0, 100)]}


def checked() -> Stream:
    """Batches 0 to 3 are good, 4 is bad, and later ones weren't checked."""
    first = in_tens("first", "in", "mid")
    for entry in first.entries[:5]:
        entry.quality = (QualityResult(assertion="few", passed=entry.batch < 4),)
    return first


@pytest.mark.parametrize("of", ["query", "dataset"])
def test_since_the_last_good_micro_batch(clean_database: Driver, reader: Reader, of: str) -> None:
    first = checked()
    part = (
        IncidentScope(query=first.query_id, since_last_good=True)
        if of == "query"
        else IncidentScope(dataset=MID, since_last_good=True)
    )
    write(clean_database, first, in_tens("second", "mid", "/lake/files"), events=[opened(part)])
    found = reach(reader)
    bad = [(0, 40, 100)]
    assert (start(found).get("mid") or tainted(found)["mid"]) == bad
    assert tainted(found)["/lake/files"] == [f"part-{n}" for n in range(4, 10)]
    assert found.complete


def test_since_the_last_good_run(clean_database: Driver, reader: Reader) -> None:
    """The run at 10 s was good, those at 20 s and 30 s weren't."""
    runs = [
        ran(
            "load",
            [],
            [files_use("/lake/a", [f"x-{at}"])],
            at,
            quality=(QualityResult(assertion="few", passed=at < 20),),
        )
        for at in (10, 20, 30)
    ]
    write(
        clean_database,
        events=[*runs, opened(IncidentScope(dataset=DatasetRef("file", "/lake/a"), since_last_good=True))],
    )
    assert start(reach(reader)) == {"/lake/a": ["x-20", "x-30"]}


def test_since_the_last_good_one_where_the_last_one_is_good(clean_database: Driver, reader: Reader) -> None:
    """The first bad one isn't known, so all counts, and the answer says that it may be less."""
    first = in_tens("first", "in", "mid")
    for entry in first.entries:
        entry.quality = (QualityResult(assertion="few", passed=entry.batch != 4),)
    write(clean_database, first, events=[opened(IncidentScope(dataset=MID, since_last_good=True))])
    found = reach(reader)
    assert start(found) == {"mid": [(0, 0, 100)]}
    assert found.scope[0].certainty is UPPER_BOUND


def test_two_parts_and_one_of_them_removed_again(pipeline: Driver, reader: Reader) -> None:
    """Offset 5 was read by batch 0; batch 8 of `second` wrote part-8 itself."""
    one, other = offsets(IN, 5, 6), IncidentScope(query=PIPELINE[1].query_id, from_batch=8, to_batch=8)
    write(pipeline, events=[opened(one, other)])
    found = reach(reader)
    assert start(found) == {"in": [(0, 5, 6)]}
    assert tainted(found) == {"mid": [(0, 0, 10)], "/lake/files": ["part-0", "part-8"]}
    assert {each.part.query: each.hops for each in found.scope} == {None: (), PIPELINE[1].query_id: (1,)}
    gone = act(IncidentAction.SCOPE_CHANGED, removed=(one,), at=LATER + timedelta(minutes=1))
    write(pipeline, events=[gone])
    found = reach(reader)
    assert (start(found), tainted(found)) == ({}, {"/lake/files": ["part-8"]})


def test_a_good_rerun_clears_a_partition_of_the_scope(clean_database: Driver, reader: Reader) -> None:
    """Day 1 was written anew after its file was found to be bad: no bad data is left in the dataset."""
    bad = ran("daily", [], [files_use("/lake/days", ["dt=1/a", "dt=2/a"])], 100)
    used = ran("report", [files_use("/lake/days", ["dt=1/a"])], [files_use("/lake/report", ["r"])], 150)
    good = ran("daily", [], [overwriting(files_use("/lake/days", ["dt=1/b"]), "dt=1")], AFTER)
    scope = IncidentScope(dataset=DAYS, files=("file:/lake/days/dt=1/a",))
    write(clean_database, events=[bad, used, opened(scope)])
    before = incident(reader, INCIDENT)
    assert before.reach is not None
    write(clean_database, events=[good, recorded(before.reach, 1)])
    found = incident(reader, INCIDENT)
    assert found.recorded is not None
    assert [(each.dataset, each.change) for each in found.recorded.changes] == [("file:/lake/days", "CLEARED")]


def test_declared_repairs(pipeline: Driver, reader: Reader, subtests: pytest.Subtests) -> None:
    """Bad is offset 25, and with it 20..30 of `mid`, part-2 and the report.

    A repair takes out what it covers. What was derived of it before stays.
    """
    everything = {"mid": [(0, 20, 30)], "/lake/files": ["part-2"], "/lake/report": ["UNKNOWN"]}
    run = PIPELINE[0].run_id(0)
    query = PIPELINE[0].query_id
    for title, part, dataset, rest in (
        ("run", IncidentScope(run="report 200"), "/lake/report", []),
        ("run of a query", IncidentScope(run=run), "mid", []),
        ("offsets", offsets(MID, 20, 25), "mid", [(0, 25, 30)]),
        ("offsets of another partition", offsets(MID, 20, 25, partition=1), "mid", [(0, 20, 30)]),
        ("files", IncidentScope(dataset=FILES, files=("file:/lake/files/part-2",)), "/lake/files", []),
        ("whole dataset", IncidentScope(dataset=REPORT), "/lake/report", []),
        ("column", IncidentScope(dataset=MID, column="a"), "mid", [(0, 20, 30)]),
        ("job", IncidentScope(job=JobRef("jobs", "second")), "/lake/files", []),
        ("other code", IncidentScope(job=JobRef("jobs", "second"), code_version="v1"), "/lake/files", ["part-2"]),
        ("micro-batches", IncidentScope(query=query, from_batch=1, to_batch=2), "mid", []),
        ("other micro-batches", IncidentScope(query=query, from_batch=3), "mid", [(0, 20, 30)]),
    ):
        with subtests.test(title):
            name = f"INC {title}"
            write(pipeline, events=[opened(offsets(IN, 25, 26), of=name), repaired(part, of=name)])
            found = reach(reader, name)
            assert tainted(found) == everything | {dataset: rest}
            assert start(found) == {"in": [(0, 25, 26)]}


def test_a_run_after_a_declared_repair_read_good_data(pipeline: Driver, reader: Reader) -> None:
    """The report is written again from part-2: once after this was declared repaired, once before."""
    fixed = IncidentScope(dataset=FILES, files=("file:/lake/files/part-2",))
    after = int((LATER - BEGIN + timedelta(hours=2)).total_seconds())
    for name, at, left in (("before", after - 7_200, ["UNKNOWN"]), ("after", after, [])):
        rerun = ran("report", [files_use("/lake/files", ["part-2"])], [replacing(REPORT)], at)
        write(pipeline, events=[opened(offsets(IN, 25, 26), of=name), repaired(fixed, of=name), rerun])
        assert tainted(reach(reader, name))["/lake/report"] == left, name


def test_bad_data_behind_repaired_data(clean_database: Driver, reader: Reader) -> None:
    """`mart` reads `joined`, into which good data of `/lake/fixed` came, and bad data of `/lake/bad` by more steps."""
    fixed, bad, staged, joined, mart = (
        DatasetRef("file", f"/lake/{each}") for each in ("fixed", "bad", "staged", "joined", "mart")
    )
    after = int((LATER - BEGIN + timedelta(hours=2)).total_seconds())
    write(
        clean_database,
        events=[
            ran("load", [], [fixed, bad], 100),
            opened(IncidentScope(dataset=fixed), IncidentScope(dataset=bad)),
            repaired(IncidentScope(dataset=fixed)),
            ran("join-fixed", [fixed], [joined], after),
            ran("stage", [bad], [staged], after + 100),
            ran("join-bad", [staged], [joined], after + 200),
            ran("build", [joined], [mart], after + 300),
        ],
    )
    found = reach(reader)
    assert set(tainted(found)) == {"/lake/staged", "/lake/joined", "/lake/mart"}
    assert {hop.step.job.name for hop in found.blast.hops if hop.step.job} == {"stage", "join-bad", "build"}


def test_a_part_that_is_cut_after_an_overwrite(clean_database: Driver, reader: Reader) -> None:
    """Two files are in the scope, the folder is overwritten, and then one of the files leaves the scope."""
    both = ("file:/lake/files/a", "file:/lake/files/b")
    write(
        clean_database,
        events=[
            ran("load", [], [files_use("/lake/files", ["a", "b"])], 10),
            opened(IncidentScope(dataset=FILES, files=both)),
            ran("load", [], [replacing(files_use("/lake/files", ["c"]))], AFTER),
        ],
    )
    assert start(reach(reader)) == {"/lake/files": ["a", "b"]}
    assert reach(reader).bad_datasets == []
    given = GivenAction(
        action=IncidentAction.SCOPE_CHANGED, removed=(GivenPart(dataset="file:/lake/files", files=both[1:]),)
    )
    prepared = action(reader, INCIDENT, given, by="test", now=LATER + timedelta(hours=1))
    write(clean_database, events=prepared.events)
    assert start(reach(reader)) == {"/lake/files": ["a"]}
    assert reach(reader).bad_datasets == []


def test_a_repaired_partition(clean_database: Driver, reader: Reader) -> None:
    """Offsets 5 and 15 are bad: they went into the files of days 0 and 1."""
    parts = IncidentScope(dataset=IN, offsets=(OffsetRange(0, 5, 6), OffsetRange(0, 15, 16)))
    write(clean_database, days(), events=[opened(parts), repaired(IncidentScope(dataset=DAYS, partition="dt=1"))])
    found = reach(reader)
    assert tainted(found) == {"/lake/days": ["a-0", "b-0"]}
    [gone] = [each for one in found.blast.tainted for each in one.superseded]
    assert (units(gone.part), gone.why) == (["a-1", "b-1"], "Declared repaired by test.")


def test_a_repair_before_it_was_written(pipeline: Driver, reader: Reader) -> None:
    """Batch 2 of `second` ended at 29 s."""
    early = act(IncidentAction.REPAIRED, IncidentScope(dataset=FILES), at=seconds(15))
    write(pipeline, events=[opened(offsets(IN, 25, 26)), early])
    assert tainted(reach(reader))["/lake/files"] == ["part-2"]


def test_a_repaired_run_whose_state_another_run_went_on_with(clean_database: Driver, reader: Reader) -> None:
    """Batch 3 of the first start read offset 35, and the state keeps it until batch 10.

    The watermark after batch 3 is 00:45; with 90 minutes of horizon the first batch that runs with more than 02:15 is
    batch 11 (02:30). The first start ends with batch 9: what batches 10 and 11 wrote is the second one's.
    """
    stream = windows(runs=2)
    events = [*starts(stream, minutes=90, runs=2), opened(offsets(IN, 35, 36))]
    write(clean_database, stream, events=events)
    assert tainted(reach(reader)) == {"/lake/windows": sorted(f"part-{n}" for n in range(3, 12))}
    write(clean_database, events=[repaired(IncidentScope(run=stream.run_id(0)))])
    assert tainted(reach(reader))["/lake/windows"] == ["part-10", "part-11"]
    write(clean_database, events=[repaired(IncidentScope(job=JobRef("jobs", "windows"), code_version="v1"))])
    assert tainted(reach(reader))["/lake/windows"] == []


def test_state_that_a_batch_of_the_checkpoint_alone_took_in(clean_database: Driver, reader: Reader) -> None:
    """Batch 3 is reconciled, without a count of its state: the batches around it show that the query keeps state."""
    stream = windows()
    stream.entries[3] = replace(
        stream.entries[3], reconciled=True, state_rows=None, watermark_before=None, watermark_after=None
    )
    write(clean_database, stream, events=[*starts(stream, minutes=90), opened(offsets(IN, 35, 36))])
    found = reach(reader)
    assert {f"part-{n}" for n in range(3, 11)} <= set(tainted(found)["/lake/windows"])
    assert [each.query_name for each in found.spreading] == ["windows"]
