"""Rules that take bad data out: a restored version of a table, a rerun of other code; and what is evidence alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.blast import BadRun, blast
from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.incidents.planning.plan import plan
from headwater_analysis.incidents.planning.planned import RepairStep, RepairStepKind
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Part, PartKind
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IncidentAction,
    IncidentClock,
    IncidentScope,
    JobRef,
    LineageEvent,
    Position,
    TableSnapshot,
    Versions,
)
from integration.analysis.test_incidents import AFTER, reach, tainted
from support.analysis.chains import BEGIN, Entry, Stream, files_use, kafka_use, ran, replacing, topic, write
from support.analysis.incident_events import INCIDENT, act, offsets, opened, repaired

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

EXACT, UPPER_BOUND = Certainty.EXACT, Certainty.UPPER_BOUND
TABLE = DatasetRef("file", "/lake/t")


def version(
    number: int | str, operation: str = "WRITE", format_: str = "delta", certainty: Certainty = EXACT
) -> DatasetUse:
    snapshot = TableSnapshot(format=format_, snapshot_id=str(number), operation=operation)
    return DatasetUse(dataset=TABLE, position=Position(table_snapshot=snapshot), certainty=certainty)


def load(number: int | str, format_: str = "delta") -> LineageEvent:
    """Append of a version at ten times its number."""
    return ran("load", [], [version(number, format_=format_)], int(number) * 10)


def restore(to: int | None, at: int, makes: int = 7) -> LineageEvent:
    """RESTORE TABLE, as capture reports it: the table at the restored version is its input; None: not reported."""
    read = DatasetUse(dataset=TABLE) if to is None else version(to)
    return ran("maintenance", [read], [version(makes, "RESTORE")], at)


LOADS = [load(number) for number in (4, 5, 6)]
BAD = IncidentScope(run="load 50")
"""The run that appended version 5."""


def version_of(part: Part) -> str | None:
    return part.version if part.kind is PartKind.SNAPSHOT else None


def parts_left(found: IncidentReach) -> list[Part]:
    """Parts of the table with bad data now."""
    held = [part for each in found.tainted if each.dataset.name == TABLE.name for part in each.parts]
    return sorted(held, key=lambda part: version_of(part) or "")


def left(found: IncidentReach) -> list[tuple[str | None, Certainty]]:
    """Versions of the table with bad data now, whoever wrote them."""
    return [(part.version, part.certainty) for part in parts_left(found)]


def reasons(found: IncidentReach) -> list[str]:
    return [gone.why for each in found.tainted for gone in each.superseded]


RESTORES: dict[str, tuple[list[LineageEvent], list[tuple[str, Certainty]]]] = {
    "none": ([], [("5", EXACT)]),
    "before the bad write": ([restore(4, 45)], [("5", EXACT)]),
    "to the bad version": ([restore(5, 100)], [("5", EXACT), ("7", EXACT)]),
    # Whether version 6 still has the bad rows of 5 isn't recorded.
    "to a version upon the bad one": ([restore(6, 100)], [("5", EXACT), ("7", UPPER_BOUND)]),
    "to a good version, then to the bad one": ([restore(4, 100), restore(5, 200, makes=8)], [("8", EXACT)]),
    "at last to a good version": ([restore(4, 100), restore(5, 200, makes=8), restore(4, 300, makes=9)], []),
}


@pytest.mark.parametrize("title", RESTORES)
def test_a_restore(clean_database: Driver, reader: Reader, title: str) -> None:
    """The output of a restore of bad data is bad, too."""
    restored, expected = RESTORES[title]
    write(clean_database, events=[*LOADS, opened(BAD), *restored])
    found = reach(reader)
    assert left(found) == expected
    assert (reasons(found) == []) is (("5", EXACT) in expected)


def test_a_restore_to_a_version_before_the_bad_one(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[*LOADS, opened(BAD), restore(4, 100)])
    found = reach(reader)
    assert (left(found), found.complete, found.blast.notes) == ([], True, ())
    assert reasons(found) == ["The table was restored to version 4 by run maintenance 100."]
    [gone] = [each for one in found.tainted for each in one.superseded]
    assert gone.by is not None
    assert (gone.part.version, gone.by.runs[0].run_id) == ("5", "maintenance 100")
    of_blast = blast(reader, BadRun("load 50"))
    assert (of_blast.totals.datasets, of_blast.totals.clean_again) == (0, 1)


def test_a_run_that_read_the_table_after_the_restore(clean_database: Driver, reader: Reader) -> None:
    """The rows of version 7 aren't recorded: what was made of it may be bad, until that is declared repaired."""
    made = ran("report", [version(7)], [files_use("/lake/report", ["r"])], 200)
    write(clean_database, events=[*LOADS, opened(BAD), restore(4, 100), made])
    found = reach(reader)
    [report] = [each for each in found.tainted if each.dataset.name == "/lake/report"]
    assert (left(found), [part.certainty for part in report.parts]) == ([], [UPPER_BOUND])


def test_a_restore_to_a_version_that_is_not_known(clean_database: Driver, reader: Reader) -> None:
    """The bad data may be gone, so it is there as an upper bound, and a note says why."""
    write(clean_database, events=[*LOADS, opened(BAD), restore(None, 100)])
    found = reach(reader)
    assert ("5", UPPER_BOUND) in left(found)
    assert any("restored file:/lake/t to a version that isn't known" in note for note in found.blast.notes)


def test_a_restore_among_versions_without_an_order(clean_database: Driver, reader: Reader) -> None:
    """Ids of Iceberg's snapshots don't grow: nothing shows that 900 is older than the bad one."""
    runs = [load(number, "iceberg") for number in (9, 4)]
    back = ran("maintenance", [version(4, format_="iceberg")], [version(7, "RESTORE", "iceberg")], 200)
    write(clean_database, events=[*runs, back, opened(IncidentScope(run="load 90"))])
    assert ("9", UPPER_BOUND) in left(reach(reader))


def test_a_version_that_the_scope_names(clean_database: Driver, reader: Reader) -> None:
    """The bad data was there when the incident was opened: only a restore after that took it away."""
    named = IncidentScope(dataset=TABLE, version="5")
    write(clean_database, events=[*LOADS, opened(named), restore(4, 100)])
    assert left(reach(reader)) == [("5", EXACT)]
    write(clean_database, events=[restore(4, AFTER, makes=8)])
    assert left(reach(reader)) == []


def test_a_version_that_a_bad_path_leads_to(clean_database: Driver, reader: Reader) -> None:
    """It is known as an upper bound alone; but by the times it was written after version 4."""
    made = ran("made", [files_use("/lake/files", [], count=3)], [version(5)], 50)
    scope = IncidentScope(dataset=DatasetRef("file", "/lake/files"), files=("file:/lake/files/x",))
    source = ran("source", [], [files_use("/lake/files", ["x", "y", "z"])], 10)
    write(clean_database, events=[load(4), source, made, opened(scope)])
    [(found, certainty)] = left(reach(reader))
    assert found == "5"
    assert certainty is not EXACT
    write(clean_database, events=[restore(4, 100)])
    assert left(reach(reader)) == []


@pytest.mark.parametrize(("at", "is_left"), [(50, False), (43, True)])
def test_files_of_a_table(clean_database: Driver, reader: Reader, at: int, *, is_left: bool) -> None:
    """Version 4 was written from 40 s to 45 s: files of a run that began after that aren't in it.

    Which files it has isn't recorded, so of a run that began before, they may be in it, and in what was restored.
    """
    bad = ran("files", [], [files_use("/lake/t", ["x"])], at)
    write(clean_database, events=[load(4), bad, opened(IncidentScope(run=f"files {at}")), restore(4, 100)])
    found = reach(reader)
    held = [(part.files, version_of(part), part.certainty) for part in parts_left(found)]
    expected = [(("file:/lake/t/x",), None, UPPER_BOUND), ((), "7", Certainty.UNKNOWN)]
    assert held == (expected if is_left else [])
    assert any("perhaps written after that version" in note for note in found.blast.notes) is is_left


def test_a_version_that_a_micro_batch_wrote(clean_database: Driver, reader: Reader) -> None:
    """Batch n takes from 10n s to 10n+9 s, so version 4 was there at 49 s. The files came after that, or before."""
    stream = Stream("tables")
    for n in range(5):
        read = kafka_use("in", {0: (n * 10, n * 10 + 10)}, EXACT)
        stream.entries.append(Entry(n, (read,), (version(n),)))
    files = [ran("files", [], [files_use("/lake/t", [f"{at}"])], at) for at in (48, 50)]
    scope = [IncidentScope(run=f"files {at}") for at in (48, 50)]
    write(clean_database, stream, events=[*files, opened(*scope), restore(4, 100)])
    found = reach(reader)
    assert [(part.files, version_of(part)) for part in parts_left(found)] == [(("file:/lake/t/48",), None), ((), "7")]


RAW = [files_use("/lake/raw", ["a", "b"])]
CODE = IncidentScope(job=JobRef("jobs", "merge"), code_version="v1")
"""Everything that this code wrote."""


def merged(at: int, code: str, number: int, read: list[DatasetUse] | None = None) -> LineageEvent:
    uses = RAW if read is None else read
    return ran("merge", uses, [version(number, "MERGE")], at, versions=Versions(code=code))


def declared(reader: Reader) -> RepairStep:
    [step] = [each for each in plan(reader, INCIDENT).steps if each.kind is RepairStepKind.DECLARE]
    return step


EVIDENCE = (
    "Run merge 300 of code v2 read the same inputs as run merge 100 of code v1, and wrote file:/lake/t at "
    "2025-01-01T00:05:05Z. If its write replaced the bad rows, declare the dataset repaired."
)


def test_a_rerun_of_other_code_that_merges_is_evidence_alone(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[merged(100, "v1", 1), opened(CODE)])
    assert not any("same inputs" in note for note in declared(reader).notes)
    write(clean_database, events=[merged(300, "v2", 2)])
    assert left(reach(reader)) == [("1", EXACT)]
    step = declared(reader)
    assert step.notes[-1] == EVIDENCE
    assert step.commands == (
        "headwater runs show 'merge 300'",
        f"headwater incident repair {INCIDENT} --dataset file:/lake/t --version 1 --reason 'Written again.'",
    )


@pytest.mark.parametrize(
    ("title", "rerun"),
    [
        ("the same code", merged(300, "v1", 2)),
        ("fewer inputs", merged(300, "v2", 2, [files_use("/lake/raw", ["a"])])),
        ("inputs that aren't known", merged(300, "v2", 2, [files_use("/lake/raw", [], count=2)])),
        ("before", merged(50, "v2", 0)),
        ("another job", ran("other", RAW, [version(2, "MERGE")], 300, versions=Versions(code="v2"))),
        ("another dataset", ran("merge", RAW, [files_use("/lake/x", ["x"])], 300, versions=Versions(code="v2"))),
    ],
)
def test_a_rerun_that_is_no_evidence(clean_database: Driver, reader: Reader, title: str, rerun: LineageEvent) -> None:
    write(clean_database, events=[merged(100, "v1", 1), rerun, opened(CODE)])
    assert not any("same inputs" in note for step in plan(reader, INCIDENT).steps for note in step.notes), title


def test_a_rerun_on_bad_inputs_is_no_evidence(clean_database: Driver, reader: Reader) -> None:
    """The fault is in the input: other code made bad data of it again."""
    source = ran("source", [], RAW, 10)
    scope = IncidentScope(run="source 10")
    write(clean_database, events=[source, merged(100, "v1", 1), merged(300, "v2", 2), opened(scope)])
    assert not any("same inputs" in note for step in plan(reader, INCIDENT).steps for note in step.notes)


def test_a_rerun_of_other_code_that_overwrites(clean_database: Driver, reader: Reader) -> None:
    """The fault is the code: what its other version wrote over everything is good."""
    bad, good = (
        ran("merge", RAW, [replacing(version(number))], at, versions=Versions(code=code))
        for number, at, code in ((1, 100, "v1"), (2, 300, "v2"))
    )
    write(clean_database, events=[bad, opened(CODE)])
    assert left(reach(reader)) == [("1", EXACT)]
    write(clean_database, events=[good])
    found = reach(reader)
    assert (left(found), reasons(found)) == ([], ["The dataset was overwritten later."])
    assert plan(reader, INCIDENT).nothing_left


def test_a_rerun_of_the_bad_code_that_overwrites(clean_database: Driver, reader: Reader) -> None:
    runs = [
        ran("merge", RAW, [replacing(version(number))], at, versions=Versions(code="v1"))
        for number, at in ((1, 100), (2, 300))
    ]
    write(clean_database, events=[*runs, opened(CODE)])
    assert left(reach(reader)) == [("2", EXACT)]


def test_some_micro_batches_of_a_step_were_repaired(
    clean_database: Driver, reader: Reader, subtests: pytest.Subtests
) -> None:
    """Offsets 15 to 45 are bad: one step of batches 1 to 4, each of which wrote to a table, a topic and a folder.

    It isn't known whether batch 3 alone wrote its offsets. Two batches each wrote day-0 and day-1. Batch n began
    at 10n seconds.
    """
    stream = Stream("q")
    for n in range(6):
        ranges = {0: (n * 10, n * 10 + 10)}
        out = kafka_use("out", ranges, UPPER_BOUND if n == 3 else EXACT)
        files = files_use("/lake/files", [f"part-{n}", f"day-{n // 3}"])
        stream.entries.append(Entry(n, (kafka_use("in", ranges, EXACT),), (version(n), out, files)))
    write(clean_database, stream)
    after_20 = IncidentScope(
        job=JobRef("jobs", "q"), since=BEGIN + timedelta(seconds=20), clock=IncidentClock.PROCESSING
    )
    two_days = ["day-0", "day-1"]
    for title, repair, versions, spans, names in (
        (
            "none",
            IncidentScope(query=stream.query_id, from_batch=5),
            "1234",
            [(0, 10, 50)],
            [*two_days, *(f"part-{n}" for n in range(1, 5))],
        ),
        (
            "two",
            IncidentScope(query=stream.query_id, from_batch=2, to_batch=3),
            "14",
            [(0, 10, 20), (0, 30, 50)],
            [*two_days, "part-1", "part-4"],
        ),
        ("time", after_20, "1", [(0, 10, 20), (0, 30, 40)], ["day-0", "part-1"]),
    ):
        with subtests.test(title):
            name = f"INC {title}"
            write(clean_database, events=[opened(offsets(topic("in"), 15, 45), of=name), repaired(repair, of=name)])
            found = reach(reader, name)
            [hop] = found.blast.hops
            assert (hop.step.first_batch, hop.step.last_batch) == (1, 4)
            assert [version for version, _ in left(found)] == [*versions]
            assert tainted(found) | {TABLE.name: []} == {"out": spans, "/lake/files": names, TABLE.name: []}


def test_micro_batches_of_a_step_that_ran_after_the_repair(
    clean_database: Driver, reader: Reader, subtests: pytest.Subtests
) -> None:
    """The repair was declared after 35 seconds: during batch 3. Batch 2 has no time in the second graph."""
    for reconciled in (False, True):
        with subtests.test(reconciled=reconciled):
            stream, source = Stream(f"q {reconciled}"), f"in {reconciled}"
            for n in range(6):
                ranges = {0: (n * 10, n * 10 + 10)}
                entry = Entry(n, (kafka_use(source, ranges, EXACT),), (version(n),), reconciled=reconciled and n == 2)
                stream.entries.append(entry)
            name = f"INC {reconciled}"
            fixed = act(
                IncidentAction.REPAIRED,
                IncidentScope(query=stream.query_id),
                at=BEGIN + timedelta(seconds=35),
                of=name,
            )
            opening = opened(offsets(topic(source), 15, 45), at=BEGIN, of=name)
            write(clean_database, stream, events=[opening, fixed])
            assert {number for number, _ in left(reach(reader, name))} >= {"3", "4"}
            assert "1" not in {number for number, _ in left(reach(reader, name))}
