"""Verdicts on deletion: each reason to keep something has a case that holds and one that nearly does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from headwater_analysis.deletion import DeletionQuestion, MayDelete, Verdict, may_delete
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    LineageEvent,
    Position,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
    TransformationKind,
    TransformationType,
    build,
)
from headwater_schemas.identity import plan_digest
from headwater_schemas.reasons import EXPAND, too_large, unknown_operator
from support.analysis.declared_graph import declare
from support.gate import first_in_gate
from support.graph.emptying import delete_nodes

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

DAY = datetime(2026, 1, 1, tzinfo=UTC)
SINCE = DAY + timedelta(days=10)
YES, NO, UNKNOWN = Verdict.YES, Verdict.NO, Verdict.UNKNOWN


def use(name: str, version: int | None = None) -> DatasetUse:
    position = None
    if version is not None:
        snapshot = TableSnapshot(format="delta", snapshot_id=str(version), parent_id=str(version - 1))
        position = Position(table_snapshot=snapshot)
    return DatasetUse(dataset=DatasetRef("n", name), position=position)


def ran(
    name: str, reads: Sequence[DatasetUse], writes: Sequence[DatasetUse], day: int, *, incomplete: str | None = None
) -> list[LineageEvent]:
    """A run of a job whose column lineage is known."""
    at, job = DAY + timedelta(days=day), JobRef("n", name)
    datasets = tuple(each.dataset for each in (*reads, *writes))
    edges = tuple(
        ColumnEdge(
            output=len(reads) + number,
            output_field="c",
            input=0,
            input_field="c",
            type=TransformationType.DIRECT,
            kind=TransformationKind.COPY,
        )
        for number in range(len(writes))
        if reads
    )
    plan = ColumnLineage(datasets=datasets, edges=edges, complete=incomplete is None, incomplete_reason=incomplete)
    body = RunEvent(
        type=RunEventType.COMPLETE,
        inputs=tuple(reads),
        outputs=tuple(writes),
        plan_digest=plan_digest(plan),
        started_at=at,
        ended_at=at,
    )
    return [
        build.lineage_event(plan, job=job, producer="t", event_time=at),
        build.lineage_event(body, job=job, run=RunRef(f"{name}-{day}"), producer="t", event_time=at),
    ]


LOADED = ran("load", [use("source")], [use("orders")], 1)


def asked(reader: Reader, dataset: str = "orders", **more: Any) -> MayDelete:
    return may_delete(reader, DeletionQuestion(dataset, SINCE, **more))


def test_nothing_needs_it(clean_database: Driver, reader: Reader) -> None:
    declare(clean_database, "", more=LOADED)
    assert asked(reader).verdict is YES


@pytest.mark.parametrize(("day", "verdict"), [(10, NO), (9, YES)])
def test_a_job_that_read_it_lately(clean_database: Driver, reader: Reader, day: int, verdict: Verdict) -> None:
    declare(clean_database, "", more=[*LOADED, *ran("report", [use("orders")], [use("totals")], day)])
    found = asked(reader)
    assert (found.verdict, [(each.job.name, each.needs) for each in found.jobs]) == (verdict, [("report", day == 10)])


def test_a_job_that_is_declared_to_read_it(clean_database: Driver, reader: Reader) -> None:
    declare(clean_database, "jobs: [{name: sheet, inputs: [orders], outputs: [xlsx]}]", more=LOADED)
    assert asked(reader).verdict is NO


@pytest.mark.parametrize(("marked", "verdict"), [(["t1", "t2"], YES), (["t1"], NO)])
def test_a_job_that_writes_tests_alone(
    clean_database: Driver, reader: Reader, marked: list[str], verdict: Verdict
) -> None:
    tests = ", ".join(f"{{name: {name}, marks: [test]}}" for name in marked)
    trial = ran("trial", [use("orders")], [use("t1"), use("t2")], 11)
    declare(clean_database, f"datasets: [{tests}]", more=[*LOADED, *trial])
    assert asked(reader).verdict is verdict


SPREADS: list[tuple[str, str, Verdict]] = [
    ("raw", "DOWNSTREAM", YES),
    ("raw", "UPSTREAM", NO),
    ("raw", "NONE", NO),
    ("shown", "UPSTREAM", YES),
    ("shown", "DOWNSTREAM", NO),
    # What is read itself: all that is made from it is a test.
    ("orders", "DOWNSTREAM", YES),
    ("orders", "NONE", NO),
]


@pytest.mark.nightly
def test_a_mark_of_tests_spreads(subtests: pytest.Subtests, clean_database: Driver, reader: Reader) -> None:
    """raw and orders go into t1, which goes into shown."""
    for marked, spread, verdict in SPREADS:
        with subtests.test(marked=marked, spread=spread):
            delete_nodes(clean_database)
            trial = ran("trial", [use("orders"), use("raw")], [use("t1")], 11)
            later = ran("later", [use("t1")], [use("shown")], 11)
            text = f"datasets: [{{name: {marked}, marks: [{{mark: test, spread: {spread}}}]}}]"
            declare(clean_database, text, more=[*LOADED, *trial, *later])
            assert asked(reader).verdict is verdict


def test_a_mark_of_tests_on_a_version_is_none_of_the_dataset(clean_database: Driver, reader: Reader) -> None:
    trial = ran("trial", [use("orders")], [use("t1", 1)], 11)
    text = "datasets: [{name: t1, marks: [{mark: test, version: '1'}]}]"
    declare(clean_database, text, more=[*LOADED, *trial])
    assert asked(reader).verdict is NO


def test_a_consumer(clean_database: Driver, reader: Reader) -> None:
    declare(clean_database, "consumers: [{name: board, reads: [orders]}]", more=LOADED)
    assert asked(reader).verdict is NO
    assert [each.name for each in asked(reader).consumers] == ["board"]
    assert asked(reader, "source").consumers == ()


def test_a_streaming_query_however_long_ago(clean_database: Driver, reader: Reader) -> None:
    entry = IntervalEntry(batch_id=0, inputs=(use("orders"),), outputs=(use("live"),), processing_time=DAY)
    body = IntervalEvent(query_id="q1", query_name="enrich", checkpoint_location="s3://c/enrich", entries=(entry,))
    event = build.lineage_event(body, job=JobRef("n", "enrich"), run=RunRef("r"), producer="t", event_time=DAY)
    declare(clean_database, "", more=[*LOADED, event])
    found = asked(reader)
    assert found.verdict is NO
    assert [(each.query_name, each.checkpoint) for each in found.queries] == [("enrich", "s3://c/enrich")]
    assert asked(reader, "live").queries == ()


OWN_MARKS: list[tuple[str, Sequence[str], Verdict]] = [
    ("legal-hold", (), NO),
    ("critical", (), NO),
    ("test", (), YES),
    ("gold", (), YES),
    ("gold", ("gold",), NO),
]


def test_its_own_marks(subtests: pytest.Subtests, clean_database: Driver, reader: Reader) -> None:
    for mark, hold, verdict in OWN_MARKS:
        with subtests.test(mark=mark, hold=hold):
            delete_nodes(clean_database)
            declare(clean_database, f"datasets: [{{name: orders, marks: [{mark}]}}]", more=LOADED)
            found = asked(reader, holding=frozenset({"critical", "legal-hold", *hold}))
            assert (found.verdict, [each.mark for each in found.marks]) == (verdict, [mark])


CHAIN = [*LOADED, *ran("report", [use("orders")], [use("totals")], 2)]


HELD: list[tuple[str, str, set[str]]] = [
    ("totals", "UPSTREAM", {"totals", "orders", "source"}),
    ("totals", "DOWNSTREAM", {"totals"}),
    ("source", "DOWNSTREAM", {"source", "orders", "totals"}),
    ("source", "UPSTREAM", {"source"}),
    ("orders", "NONE", {"orders"}),
]


@pytest.mark.parametrize("case", first_in_gate(3, HELD))
def test_a_mark_spreads_as_it_is_declared_to(
    clean_database: Driver, reader: Reader, case: tuple[str, str, set[str]]
) -> None:
    marked, spread, held = case
    mark = f"{{mark: legal-hold, spread: {spread}, reason: Case 11}}"
    declare(clean_database, f"datasets: [{{name: {marked}, marks: [{mark}]}}]", more=CHAIN)
    found = {name: asked(reader, name) for name in ("source", "orders", "totals")}
    assert {name for name, each in found.items() if each.marks} == held
    for name in held:
        (one,) = found[name].marks
        assert (one.of.name, one.spread, one.reason) == (marked, "NONE" if name == marked else spread, "Case 11")


def test_a_mark_of_a_version_holds_that_version_and_the_whole(clean_database: Driver, reader: Reader) -> None:
    versions = [*ran("load", [], [use("orders", 1)], 1), *ran("load", [], [use("orders", 2)], 2)]
    versions += ran("load", [], [use("orders", 3)], 3)
    text = "datasets: [{name: orders, marks: [{mark: legal-hold, version: '2'}]}]"
    declare(clean_database, text, more=versions)
    assert {name: asked(reader, version=name).verdict for name in "123"} == {"1": YES, "2": NO, "3": YES}
    assert asked(reader).verdict is NO


def test_a_version_that_is_read(clean_database: Driver, reader: Reader) -> None:
    versions = [*ran("load", [], [use("orders", 1)], 1), *ran("load", [], [use("orders", 2)], 2)]
    reads = [*ran("audit", [use("orders", 1)], [use("audited")], 11), *ran("old", [use("orders", 2)], [use("x")], 3)]
    declare(clean_database, "consumers: [{name: board, reads: [orders]}]", more=[*versions, *reads])
    first = asked(reader, version="1")
    assert (first.newest, first.verdict, [each.job.name for each in first.jobs]) == (False, NO, ["audit"])
    # What reads the dataset reads its newest version.
    newest = asked(reader, version="2")
    assert (newest.newest, [each.name for each in newest.consumers]) == (True, ["board"])
    assert asked(reader, version="1").consumers == ()
    with pytest.raises(NotFoundError):
        asked(reader, version="9")


def test_a_version_that_several_begin_with(clean_database: Driver, reader: Reader) -> None:
    versions = [*ran("load", [], [use("orders", 71)], 1), *ran("load", [], [use("orders", 72)], 2)]
    declare(clean_database, "", more=versions)
    with pytest.raises(AmbiguousError):
        asked(reader, version="7")
    assert asked(reader, version="71").version == "71"


OPERATOR = unknown_operator("Fancy")


INCOMPLETE: list[tuple[str | None, str, str, str | None]] = [
    # Of the gate. Its inputs may not all be known; an operator that isn't known may read by itself; it touches what is
    # asked about; what it reads is known, and that isn't it.
    ("a", "b", "what a LogicalRDD reads isn't known", "1 job has unknown inputs and may read it, too: n/other."),
    ("a", "b", OPERATOR, "1 job has unknown inputs and may read it, too: n/other."),
    ("a", "orders", OPERATOR, "1 job that uses it or data derived from it may also read it in other ways"),
    ("a", "b", EXPAND, None),
    # Of the nightly run.
    ("a", "b", f"{OPERATOR}; what a Scan reads isn't known", "1 job has unknown inputs"),
    (None, "b", EXPAND, "1 job has unknown inputs"),
    ("a", "b", f"{EXPAND}; {OPERATOR}", "1 job has unknown inputs"),
    ("a", "totals", OPERATOR, "1 job that uses it or data derived from it"),
    ("totals", "b", OPERATOR, "1 job that uses it or data derived from it"),
    ("source", "b", f"{EXPAND}; {too_large(9)}", None),
]


@pytest.mark.parametrize("case", first_in_gate(4, INCOMPLETE))
def test_incomplete_lineage_is_no_yes_where_it_may_hide_a_reader(
    clean_database: Driver, reader: Reader, case: tuple[str | None, str, str, str | None]
) -> None:
    reads, writes, reason, unknown = case
    other = ran("other", [use(reads)] if reads else [], [use(writes)], 1, incomplete=reason)
    declare(clean_database, "", more=[*CHAIN, *other])
    found = asked(reader)
    assert found.verdict is (YES if unknown is None else UNKNOWN)
    assert asked(reader, incomplete=True).verdict is YES
    if unknown is None:
        known = "incomplete column lineage, but known inputs, which don't include this dataset"
        assert found.notes == (f"1 job has {known}: n/other.",)
    else:
        assert found.notes == ()
        assert found.unknown[0].startswith(unknown)


@pytest.mark.parametrize(("day", "verdict"), [(10, UNKNOWN), (9, YES)])
def test_an_incomplete_plan_behind_a_complete_one_counts_while_it_is_used(
    clean_database: Driver, reader: Reader, day: int, verdict: Verdict
) -> None:
    other = ran("other", [use("a")], [use("b")], day, incomplete="what a Scan reads isn't known")
    other += ran("other", [use("a")], [use("c")], 12)
    declare(clean_database, "", more=[*LOADED, *other])
    assert asked(reader).verdict is verdict


def test_a_job_without_a_plan_is_taken_by_what_it_reports(clean_database: Driver, reader: Reader) -> None:
    bodies = [
        RunEvent(type=RunEventType.COMPLETE, inputs=inputs, outputs=(use("b"),), started_at=DAY, ended_at=DAY)
        for inputs in ((use("a"),), ())
    ]
    runs = [
        build.lineage_event(body, job=JobRef("n", name), run=RunRef(name), producer="t", event_time=DAY)
        for name, body in zip(("reports", "silent"), bodies, strict=True)
    ]
    declare(clean_database, "", more=[*LOADED, *runs])
    found = asked(reader)
    assert (found.verdict, found.unknown) == (UNKNOWN, ("1 job has unknown inputs and may read it, too: n/silent.",))
    assert [note.endswith(": n/reports.") for note in found.notes] == [True]


def test_a_dataset_that_nothing_captured_uses(clean_database: Driver, reader: Reader) -> None:
    declare(clean_database, "datasets: [{name: bare}]", more=LOADED)
    assert asked(reader, "bare").unknown == (
        "No event reports a job that reads or writes n/bare: its users aren't captured.",
    )


def test_the_command(clean_database: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str]) -> None:
    name = r'"bad\e[2J\nname \u202e"'
    text = f"datasets: [{{name: orders, marks: [{{mark: {name}, reason: {name}}}]}}]\n"
    text += f"jobs: [{{name: {name}, inputs: [orders]}}]\nconsumers: [{{name: {name}, reads: [orders]}}]"
    declare(clean_database, text, more=LOADED)
    assert main(["may-delete", "orders"]) == 5
    printed = capsys.readouterr().out
    assert printed.count(r"bad\x1b[2J") >= 4
    assert not {"\x1b", "\u202e"} & set(printed)
    assert main(["may-delete", "source", "--within", "36500d"]) == 5
    assert main(["may-delete", "source", "--within", "1s"]) == 0
    assert main(["may-delete", "source", "--within", "0d"]) == 0
    assert main(["may-delete", "source", "--within", "900000d"]) == 2
    assert main(["may-delete", "nothing"]) == 3
