"""Columns that a fault reached, by kind of fault and by use of the column; first bad and last good runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from headwater_analysis.incidents import columns
from headwater_analysis.incidents.answers import BadSince, IncidentReach, ReachedColumn, UnknownColumns
from headwater_analysis.incidents.fault_effects import FaultEffect
from headwater_analysis.incidents.questions import incident
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IncidentClock,
    IncidentScope,
    IncidentType,
    JobRef,
    LineageEvent,
    ProcessingType,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from support.analysis import incident_events as events
from support.analysis.chains import BEGIN, Stream, files_use, in_tens, ran, topic, write
from support.analysis.incident_events import offsets
from support.analysis.written import plan, table

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

TAINTS, MAY_TAINT, DEGRADES, WARNS = FaultEffect
T = IncidentType
ORDERS = DatasetRef("w", "orders")
AT = 1_000
"""Second of the first run that reads bad data."""


def opened(*parts: IncidentScope, type_: IncidentType | None = None, cause: str | None = None) -> LineageEvent:
    return events.opened(*parts, at=BEGIN.replace(year=2026), type=type_, cause=cause)


def column(name: str, of: DatasetRef = ORDERS) -> IncidentScope:
    return IncidentScope(dataset=of, column=name)


def run_of(
    job: str,
    planned: LineageEvent | None,
    reads: Sequence[str],
    writes: Sequence[str],
    at: int,
    state: RunEventType = RunEventType.COMPLETE,
) -> LineageEvent:
    """A run of 5 s that used a plan."""
    began = BEGIN + timedelta(seconds=at)
    uses = [tuple(DatasetUse(dataset=DatasetRef("w", name)) for name in names) for names in (reads, writes)]
    body = RunEvent(
        type=state,
        processing_type=ProcessingType.BATCH,
        inputs=uses[0],
        outputs=uses[1],
        started_at=began,
        ended_at=began + timedelta(seconds=5),
        plan_digest=planned.plan_event.digest if planned is not None and planned.plan_event is not None else None,
    )
    return lineage_event(
        body,
        job=JobRef("j", job),
        run=RunRef(f"{job} {at}"),
        producer="test",
        event_time=began + timedelta(seconds=5),
    )


def made(job: str, *edges: str, at: int = AT, complete: bool = True) -> list[LineageEvent]:
    """A plan, and a run of it that read and wrote the datasets of its edges."""
    planned = plan(job, *edges, complete=complete)
    ends = [edge.split() for edge in edges]
    reads = sorted({each[0].partition(".")[0] for each in ends})
    writes = sorted({each[2].partition(".")[0] for each in ends})
    return [planned, run_of(job, planned, reads, writes, at)]


def reach(driver: Driver, reader: Reader, *events: LineageEvent) -> IncidentReach:
    orders = table("orders", ["id", "amount", "customer", "note"])
    write(driver, events=[orders, run_of("load", None, [], ["orders"], 0), *events])
    found = incident(reader, "INC-1").reach
    assert found is not None
    return found


def effects(found: IncidentReach) -> dict[str, FaultEffect]:
    return {f"{each.dataset.name}.{each.column}": each.effect for each in found.columns}


def one(found: IncidentReach, name: str) -> ReachedColumn:
    [each] = [each for each in found.columns if f"{each.dataset.name}.{each.column}" == name]
    return each


EVERY_USE = (
    "orders.amount > report.copied COPY",
    "orders.amount > report.total AGGREGATE sum(amount)",
    "orders.amount > report.top AGGREGATE max(amount)",
    "orders.note > report.note COPY",
)
"""A row by row use, an aggregate of which each row counts, one that repeated rows don't change; another column."""
USED_BY_ROWS = (
    "orders.amount > report.* {}",
    "customers.name > report.name COPY",
    "orders.amount > report.copied COPY",
)


@pytest.mark.parametrize(
    ("type_", "cause", "expected"),
    [
        (T.MISSING_DATA, None, {"copied": DEGRADES, "total": TAINTS, "top": TAINTS}),
        (T.BAD_RECORDS, None, {"copied": TAINTS, "total": TAINTS, "top": TAINTS}),
        (T.BAD_RECORDS, "assertion REFERENTIAL on amount", {"copied": TAINTS, "total": TAINTS, "top": TAINTS}),
        (T.LATE, None, {"copied": DEGRADES, "total": DEGRADES, "top": DEGRADES}),
        (T.SCHEMA, None, {"copied": WARNS, "total": WARNS, "top": WARNS}),
        (T.PRIVACY, None, {"copied": TAINTS, "total": TAINTS, "top": TAINTS}),
        (T.WRONG_CODE, None, {"copied": TAINTS, "total": TAINTS, "top": TAINTS}),
        (None, None, {"copied": TAINTS, "total": TAINTS, "top": TAINTS}),
        # A repeated key is a repeated row: every column of the row is repeated.
        (T.DUPLICATES, None, {"copied": TAINTS, "total": TAINTS, "note": TAINTS}),
    ],
)
def test_a_fault_of_a_column(
    clean_database: Driver,
    reader: Reader,
    type_: IncidentType | None,
    cause: str | None,
    expected: dict[str, FaultEffect],
) -> None:
    """Only what is made from the column is listed, by the kind of the fault and of the use."""
    found = reach(
        clean_database, reader, *made("report", *EVERY_USE), opened(column("amount"), type_=type_, cause=cause)
    )
    assert effects(found) == {f"report.{name}": effect for name, effect in expected.items()}
    assert (found.columns_unknown, found.columns_truncated, found.all_columns) == ((), False, None)
    assert found.restricts is (type_ is T.PRIVACY)


@pytest.mark.parametrize(
    ("type_", "cause", "kind", "whole"),
    [
        (T.MISSING_DATA, None, "JOIN_DEPENDENCY", TAINTS),
        (T.MISSING_DATA, None, "FILTER_DEPENDENCY", DEGRADES),
        (T.DUPLICATES, None, "JOIN_DEPENDENCY", TAINTS),
        (T.DUPLICATES, None, "FILTER_DEPENDENCY", None),
        (T.BAD_RECORDS, "assertion REFERENTIAL on amount of w/orders", "JOIN_DEPENDENCY", TAINTS),
        (T.BAD_RECORDS, None, "JOIN_DEPENDENCY", MAY_TAINT),
        (T.BAD_RECORDS, "assertion VALIDITY on amount", "FILTER_DEPENDENCY", MAY_TAINT),
        (T.LATE, None, "JOIN_DEPENDENCY", DEGRADES),
        (T.SCHEMA, None, "SORT_DEPENDENCY", WARNS),
    ],
)
def test_a_column_that_decides_on_rows(
    clean_database: Driver,
    reader: Reader,
    type_: IncidentType,
    cause: str | None,
    kind: str,
    whole: FaultEffect | None,
) -> None:
    """The name is made from another dataset: it is concerned because rows are joined, filtered or sorted."""
    edges = [edge.format(kind) for edge in USED_BY_ROWS]
    found = reach(clean_database, reader, *made("report", *edges), opened(column("amount"), type_=type_, cause=cause))
    assert effects(found).get("report.name") is whole


@pytest.mark.parametrize(
    ("type_", "effect"), [(T.LATE, DEGRADES), (T.BAD_RECORDS, TAINTS), (T.SCHEMA, WARNS), (None, TAINTS)]
)
def test_without_a_column_all_of_them_may_be_concerned(
    clean_database: Driver, reader: Reader, type_: IncidentType | None, effect: FaultEffect
) -> None:
    found = reach(
        clean_database, reader, *made("report", *EVERY_USE), opened(IncidentScope(dataset=ORDERS), type_=type_)
    )
    assert (found.all_columns, found.columns, found.columns_unknown) == (effect, (), ())


WAYS: dict[str, tuple[list[LineageEvent], IncidentScope, IncidentType, dict[str, FaultEffect]]] = {
    "missing rows: their number is wrong, and copies are right, only fewer": (
        made("report", "orders.* > report.number AGGREGATE count(1)", "orders.note > report.note COPY"),
        IncidentScope(dataset=ORDERS),
        *(T.MISSING_DATA, {"report.number": TAINTS, "report.note": DEGRADES}),
    ),
    "missing values leave the number of rows": (
        made("report", "orders.* > report.number AGGREGATE count(1)", "orders.note > report.note COPY"),
        *(column("note"), T.MISSING_DATA, {"report.note": DEGRADES}),
    ),
    "missing rows of a run, which wrote all columns": (
        made("report", "orders.amount > report.total AGGREGATE sum(amount)"),
        *(IncidentScope(run="load 0"), T.MISSING_DATA, {"report.total": TAINTS}),
    ),
    "a job that groups may remove duplicates": (
        made(
            "report",
            "orders.id > report.id COPY",
            "orders.id > report.* GROUP_DEPENDENCY",
            "orders.amount > report.top AGGREGATE max(amount)",
            "orders.amount > report.total AGGREGATE sum(amount)",
        ),
        *(column("id"), T.DUPLICATES, {"report.id": MAY_TAINT, "report.total": TAINTS}),
    ),
    "a copy of repeated rows: a sum is wrong, the greatest value isn't": (
        [
            *made("clean", "orders.amount > clean.amount RENAME"),
            *made(
                "report",
                "clean.amount > report.total AGGREGATE sum(amount)",
                "clean.amount > report.top AGGREGATE max(amount)",
                "clean.* > report.number AGGREGATE count(1)",
                at=AT + 10,
            ),
        ],
        *(column("id"), T.DUPLICATES, {"clean.amount": TAINTS, "report.total": TAINTS, "report.number": TAINTS}),
    ),
    "a copy of rows that may be wrong may be wrong, not more": (
        [
            *made("clean", "orders.amount > clean.* FILTER_DEPENDENCY", "orders.note > clean.note COPY"),
            *made("report", "clean.note > report.note COPY", "clean.* > report.number AGGREGATE count(1)", at=AT + 10),
        ],
        *(column("amount"), T.BAD_RECORDS),
        {"clean.note": MAY_TAINT, "report.note": MAY_TAINT, "report.number": MAY_TAINT},
    ),
    "a renamed column": (
        made("clean", "orders.amount > clean.price RENAME", "orders.note > clean.amount COPY"),
        *(column("amount"), T.BAD_RECORDS, {"clean.price": TAINTS}),
    ),
}


@pytest.mark.parametrize("title", WAYS)
def test_a_fault_on_its_way(clean_database: Driver, reader: Reader, title: str) -> None:
    jobs, part, type_, expected = WAYS[title]
    assert effects(reach(clean_database, reader, *jobs, opened(part, type_=type_))) == expected


def test_a_fault_changes_on_its_way(clean_database: Driver, reader: Reader) -> None:
    """The sum of repeated rows is a wrong value, and so is the greatest one of these sums."""
    events = [
        *made("daily", "orders.amount > daily.total AGGREGATE sum(amount)"),
        *made("yearly", "daily.total > yearly.top AGGREGATE max(total)", at=AT + 10),
    ]
    found = reach(clean_database, reader, *events, opened(column("id"), type_=T.DUPLICATES))
    assert effects(found) == {"daily.total": TAINTS, "yearly.top": TAINTS}
    top = one(found, "yearly.top")
    assert (top.depth, top.via) == (2, ("daily: AGGREGATE sum", "yearly: AGGREGATE max"))
    assert top.why == "Aggregated from w/daily#total: wrong values go into it."


@pytest.mark.parametrize("text", ["", "my_own(amount)"])
def test_an_aggregate_whose_function_is_not_known(clean_database: Driver, reader: Reader, text: str) -> None:
    found = reach(
        clean_database,
        reader,
        *made("report", f"orders.amount > report.figure AGGREGATE {text}"),
        opened(column("id"), type_=T.DUPLICATES),
    )
    assert effects(found) == {"report.figure": TAINTS}
    figure = one(found, "report.figure")
    assert figure.why.endswith("The aggregate's function isn't known, so the stronger effect counts.")
    assert figure.via == ("report: AGGREGATE",)


def test_code_that_lineage_cannot_look_into(clean_database: Driver, reader: Reader) -> None:
    found = reach(
        clean_database,
        reader,
        *made("report", "orders.amount > report.score EXTERNAL"),
        opened(column("amount"), type_=T.MISSING_DATA),
    )
    score = one(found, "report.score")
    assert score.effect is TAINTS
    assert "perhaps it doesn't use the column" in score.why
    assert score.certainty is not Certainty.EXACT


def test_a_job_outside_the_reach_is_not_followed(clean_database: Driver, reader: Reader) -> None:
    """The other job read the orders before the bad ones came, and a third one is only known by its plan."""
    events = [
        *made("report", "orders.amount > report.total AGGREGATE sum(amount)", at=AT),
        *made("earlier", "orders.amount > earlier.total AGGREGATE sum(amount)", at=AT - 500),
        plan("planned", "orders.amount > planned.total AGGREGATE sum(amount)"),
    ]
    bad = IncidentScope(
        dataset=ORDERS,
        column="amount",
        since=BEGIN + timedelta(seconds=AT - 100),
        clock=IncidentClock.PROCESSING,
    )
    found = reach(
        clean_database,
        reader,
        run_of("load", None, [], ["orders"], AT - 50),
        *events,
        opened(bad, type_=T.BAD_RECORDS),
    )
    assert {each.dataset.name for each in found.blast.tainted} == {"report"}
    assert effects(found) == {"report.total": TAINTS}


def test_incomplete_lineage_on_the_way_is_named(clean_database: Driver, reader: Reader) -> None:
    """Some columns of the report are known; that there is no other isn't, and neither is it of what comes of it."""
    events = [
        *made("report", "orders.amount > report.total AGGREGATE sum(amount)", complete=False),
        *made("board", "report.other > board.other COPY", at=AT + 10),
        *made("whole", "orders.note > whole.note COPY"),
    ]
    found = reach(clean_database, reader, *events, opened(column("amount"), type_=T.BAD_RECORDS))
    assert effects(found) == {"report.total": TAINTS}
    assert unknown(found.columns_unknown) == {
        "report": "The column lineage of report to this dataset is missing or incomplete.",
        "board": "The dataset is derived from w/report, where other columns may be bad.",
    }


def unknown(found: Sequence[UnknownColumns]) -> dict[str, str]:
    return {each.dataset.name: each.why for each in found}


@pytest.mark.parametrize(
    "jobs",
    [
        # The bad data may have been written by the earlier plan.
        [
            *made("report", "orders.note > report.note COPY", complete=False),
            *made("report", "orders.note > report.note COPY", at=AT + 100),
        ],
        [run_of("report", None, ["orders"], ["report"], AT)],
    ],
    ids=["an earlier plan that was incomplete", "a run without column lineage"],
)
def test_lineage_that_is_missing(clean_database: Driver, reader: Reader, jobs: list[LineageEvent]) -> None:
    found = reach(clean_database, reader, *jobs, opened(column("amount"), type_=T.BAD_RECORDS))
    assert (effects(found), list(unknown(found.columns_unknown))) == ({}, ["report"])


def test_no_column_is_concerned(clean_database: Driver, reader: Reader) -> None:
    """The report holds bad data, in none of its columns, and that is known for certain."""
    found = reach(
        clean_database,
        reader,
        *made("report", "orders.note > report.note COPY"),
        opened(column("amount"), type_=T.BAD_RECORDS),
    )
    assert [each.dataset.name for each in found.blast.tainted] == ["report"]
    assert (found.columns, found.columns_unknown, found.columns_truncated) == ((), (), False)


def test_a_column_that_the_graph_does_not_have(clean_database: Driver, reader: Reader) -> None:
    found = reach(clean_database, reader, *made("report", *EVERY_USE), opened(column("gone"), type_=T.BAD_RECORDS))
    assert (found.columns, list(unknown(found.columns_unknown))) == ((), ["orders", "report"])


def test_a_limit_is_named(clean_database: Driver, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_COLUMNS", 2)
    found = reach(clean_database, reader, *made("report", *EVERY_USE), opened(column("amount"), type_=T.BAD_RECORDS))
    assert (len(found.columns), found.columns_truncated) == (2, True)
    monkeypatch.setattr(columns, "MOST_COLUMNS", 3)
    again = incident(reader, "INC-1").reach
    assert again is not None
    assert (len(again.columns), again.columns_truncated) == (3, False)


# First bad and last good run.

MID = topic("mid")
PIPELINE = (in_tens("first", "in", "mid"), in_tens("second", "mid", "/lake/files"))
"""Batch n of `first` writes offsets 10n..10n+10. Batches 0 to 4 are of run 0 and code v0, the others of code v1."""


def since(
    driver: Driver,
    reader: Reader,
    *parts: IncidentScope,
    events: Sequence[LineageEvent] = (),
    streams: Sequence[Stream] = PIPELINE,
) -> list[BadSince]:
    write(driver, *streams, events=[*events, opened(*parts)])
    found = incident(reader, "INC-1").reach
    assert found is not None
    return list(found.since)


def batches(found: BadSince) -> tuple[Any, ...]:
    """Batch and code of the first bad and of the last good micro-batch."""
    return tuple(
        None if step is None else (step.batch_id, step.code_version) for step in (found.first_bad, found.last_good)
    )


def runs(found: BadSince) -> tuple[str | None, str | None]:
    return tuple(None if step is None else step.run_id for step in (found.first_bad, found.last_good))  # type: ignore[return-value]


def test_since_another_version_of_the_code(clean_database: Driver, reader: Reader) -> None:
    """Offset 55 is of batch 5, the first one after a restart with code v1."""
    [found] = since(clean_database, reader, offsets(MID, 55, 70))
    assert batches(found) == ((5, "v1"), (4, "v0"))
    assert found.first_bad is not None
    assert (found.first_bad.at, found.first_bad.query_name) == (PIPELINE[0].time(5), "first")
    assert (found.of.name, found.certainty, found.why) == (
        "mid",
        Certainty.EXACT,
        "Since code version v1; before it v0.",
    )


@pytest.mark.parametrize(
    ("part", "expected", "why"),
    [
        (offsets(MID, 65, 66), ((6, "v1"), (5, "v1")), "The code version is the same as before."),
        (offsets(MID, 5, 6), ((0, "v0"), None), "No micro-batch before the first bad one is known to be good."),
        (offsets(topic("in"), 5, 6), (None, None), "No known run or micro-batch wrote the bad data."),
        (
            IncidentScope(dataset=MID),
            (None, None),
            "The whole dataset counts as bad, so the first bad run isn't known.",
        ),
    ],
)
def test_since(
    clean_database: Driver, reader: Reader, part: IncidentScope, expected: tuple[Any, ...], why: str
) -> None:
    [found] = since(clean_database, reader, part)
    assert (batches(found), found.why) == (expected, why)
    assert found.first_bad is not None or found.certainty is Certainty.UNKNOWN


def test_a_micro_batch_of_another_part_is_not_good(clean_database: Driver, reader: Reader) -> None:
    """Batches 3 and 4 are bad by another part; so 2 is the last good one before 5."""
    query = IncidentScope(query=PIPELINE[0].query_id, from_batch=3, to_batch=4)
    found = {each.of.name: each for each in since(clean_database, reader, offsets(MID, 55, 60), query)}
    assert batches(found["mid"]) == ((5, "v1"), (2, "v0"))
    assert batches(found["first"]) == ((3, "v0"), (2, "v0"))


def test_a_micro_batch_with_a_failed_assertion_is_not_good(clean_database: Driver, reader: Reader) -> None:
    first = in_tens("first", "in", "mid")
    first.entries[5].quality = (QualityResult(assertion="few", passed=False),)
    [found] = since(clean_database, reader, offsets(MID, 65, 66), streams=[first])
    assert batches(found) == ((6, "v1"), (4, "v0"))


def failed(job: str, at: int) -> LineageEvent:
    """A run that failed after it had written."""
    event = ran(job, [], [files_use("/lake/a", [f"x-{at}"])], at)
    assert event.run_event is not None
    body = msgspec.structs.replace(event.run_event, type=RunEventType.FAIL)
    return lineage_event(body, job=event.job, run=event.run, producer="test", event_time=event.event_time)


def load(at: int, *, code: str | None = None, folder: str = "/lake/a", **body: Any) -> LineageEvent:
    versions = None if code is None else Versions(code=code)
    return ran("load", [], [files_use(folder, [f"x-{at}"])], at, versions=versions, **body)


def file(at: int) -> IncidentScope:
    return IncidentScope(dataset=DatasetRef("file", "/lake/a"), files=(f"file:/lake/a/x-{at}",))


def test_a_chain_of_batch_runs(clean_database: Driver, reader: Reader) -> None:
    """Before the bad run at 50 s: one of another dataset, one that failed, one with a failed assertion, a good one."""
    failing = (QualityResult(assertion="few", passed=False),)
    events = [
        load(10, code="v0"),
        load(20, code="v1"),
        load(25, code="v2", quality=failing),
        failed("load", 30),
        load(40, code="v2", folder="/lake/b"),
        load(50, code="v3"),
        load(60, code="v3"),
    ]
    [found] = since(clean_database, reader, file(60), file(50), events=events, streams=())
    assert runs(found) == ("load 50", "load 20")
    assert found.why == "Since code version v3; before it v1."


def test_a_bad_run(clean_database: Driver, reader: Reader) -> None:
    [found] = since(clean_database, reader, IncidentScope(run="load 20"), events=[load(10), load(20)], streams=())
    assert (found.of.name, runs(found)) == ("load", ("load 20", "load 10"))
    assert found.why == "It isn't known whether the code changed in between."


def test_runs_of_a_time_that_report_no_part(clean_database: Driver, reader: Reader) -> None:
    """Nobody knows which part of the orders a run wrote: the runs of the time count, with certainty UNKNOWN."""
    part = IncidentScope(dataset=ORDERS, since=BEGIN + timedelta(seconds=16), clock=IncidentClock.PROCESSING)
    loads = [run_of("load", None, [], ["orders"], at) for at in (0, 10, 20, 30)]
    [found] = since(clean_database, reader, part, events=loads, streams=())
    assert (runs(found), found.certainty) == (("load 20", "load 10"), Certainty.UNKNOWN)


def test_no_run_was_good(clean_database: Driver, reader: Reader) -> None:
    [found] = since(clean_database, reader, file(10), events=[failed("load", 5), load(10)], streams=())
    assert runs(found) == ("load 10", None)
    assert found.why == "None of the job's last 200 complete runs before the first bad one is known to be good."
