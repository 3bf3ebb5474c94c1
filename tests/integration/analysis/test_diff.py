"""Differences in lineage, compared with a naive reading of the events that made the graph."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.diff import Diff, Point, diff
from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.reader import Reader
from headwater_analysis.runs import Role
from headwater_analysis.schemas import DiffChange
from headwater_schemas.events import RunEventType, TransformationKind
from support.analysis.history import BEGIN, LOAD, ORDERS, REPAIR, History, Run
from support.analysis.paging import pages
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

Stated = frozenset[tuple["TransformationKind", str]]
Edges = dict[tuple[str | None, str], Stated]


@pytest.fixture
def history(neo4j_driver: Driver) -> History:
    made = History(5)
    hold(neo4j_driver, "a history", made.events())
    return made


def latest(history: History, time: datetime) -> Run | None:
    """The run of the load job that began last by then."""
    return max(
        (run for run in history.runs if run.job == LOAD and run.began <= time), key=lambda run: run.began, default=None
    )


def since_complete(history: History, time: datetime) -> list[Run]:
    """The load job's last run that was complete by then, and those begun since: their plans hold."""
    begun = [run for run in history.runs if run.job == LOAD and run.began <= time]
    complete = [run.began for run in begun if run.state is RunEventType.COMPLETE and run.ended <= time]
    return [run for run in begun if not complete or run.began >= max(complete)]


def edges_of(runs: Iterable[Run]) -> Edges:
    out: dict[tuple[str | None, str], set[tuple[TransformationKind, str]]] = {}
    for output, source, kind, text in (edge for run in runs for edge in run.edges):
        out.setdefault((source, output), set()).add((kind, text))
    return {ends: frozenset(stated) for ends, stated in out.items()}


def naive(
    before: Iterable[Run], after: Iterable[Run]
) -> dict[tuple[str | None, str], tuple[DiffChange, Stated, Stated]]:
    was, is_ = edges_of(before), edges_of(after)
    out = {}
    for ends in was.keys() | is_.keys():
        sides = was.get(ends, frozenset()), is_.get(ends, frozenset())
        if sides[0] != sides[1]:
            out[ends] = (
                DiffChange.CHANGED if all(sides) else DiffChange.ADDED if sides[1] else DiffChange.REMOVED,
                *sides,
            )
    return out


def stated(answer: Diff) -> dict[tuple[str | None, str], tuple[DiffChange, Stated, Stated]]:
    return {
        (edge.source.column if edge.source else None, edge.target.column or ""): (
            edge.change,
            frozenset((one.kind, one.expression or "") for one in edge.before),
            frozenset((one.kind, one.expression or "") for one in edge.after),
        )
        for edge in answer.edges
    }


def test_two_times(subtests: pytest.Subtests, reader: Reader, history: History) -> None:
    for days in ((-1, 3), (3, 8), (8, 14), (14, 8), (14, 23), (11, 13)):
        with subtests.test(days=days):
            times = [BEGIN + timedelta(days=day, hours=1) for day in days]
            runs = latest(history, times[0]), latest(history, times[1])
            answer = diff(reader, Point(time=times[0]), Point(time=times[1]), job=LOAD.name)
            assert stated(answer) == naive(*(since_complete(history, time) for time in times))
            assert answer.edges_total == len(answer.edges)
            reads = [{ref.name for ref in run.inputs} if run else set() for run in runs]
            changed = {(one.change, one.dataset.name) for one in answer.datasets if one.role is Role.READ}
            assert changed == {(DiffChange.REMOVED, name) for name in reads[0] - reads[1]} | {
                (DiffChange.ADDED, name) for name in reads[1] - reads[0]
            }


def test_until_now(reader: Reader, history: History) -> None:
    since = BEGIN + timedelta(days=8, hours=1)
    answer = diff(reader, Point(time=since), Point(), job=LOAD.name)
    assert stated(answer) == naive(since_complete(history, since), since_complete(history, BEGIN + timedelta(days=99)))
    old, new = edges_of([history.runs[1]]), edges_of([history.runs[13]])
    none: Stated = frozenset()
    total, note, currency, loaded_by = (
        ("value.total", "total"), ("value.note", "note"), ("value.currency", "total"), (None, "loaded_by"),
    )  # fmt: skip
    assert stated(answer) == {
        total: (DiffChange.CHANGED, old[total], new[total]),
        note: (DiffChange.REMOVED, old[note], none),
        currency: (DiffChange.ADDED, none, new[currency]),
        loaded_by: (DiffChange.ADDED, none, new[loaded_by]),
    }
    names = {(one.change, one.column.column) for one in answer.columns if one.column.name == ORDERS.name}
    assert names == {(DiffChange.ADDED, "loaded_by"), (DiffChange.REMOVED, "note")}


def test_two_runs_and_two_code_versions(reader: Reader, history: History) -> None:
    old, new = history.runs[1], history.runs[13]
    by_run = diff(reader, Point(run=old.run_id), Point(run=new.run_id))
    by_code = diff(reader, Point(code_version="v1"), Point(code_version="v2"), job=LOAD.name)
    assert stated(by_run) == stated(by_code) == naive([old], [new]) != {}
    back = diff(reader, Point(code_version="v2"), Point(code_version="v1"), job=LOAD.name)
    assert stated(back) == naive([new], [old])
    for answer in (by_run, by_code):
        assert (DiffChange.ADDED, "/data/rates") in {(one.change, one.dataset.name) for one in answer.datasets}
        assert {job.name for job in answer.jobs} == {LOAD.name}
    again = diff(reader, Point(run=old.run_id), Point(run=old.run_id))
    assert (again.edges_total, again.datasets_total, again.columns_total) == (0, 0, 0)


def test_all_jobs_and_a_dataset(reader: Reader, history: History) -> None:
    times = Point(time=BEGIN + timedelta(days=8, hours=1)), Point(time=BEGIN + timedelta(days=14, hours=1))
    whole = diff(reader, *times)
    of_load = diff(reader, *times, job=LOAD.name)
    of_orders = diff(reader, *times, dataset="warehouse/orders")
    assert stated(whole) == stated(of_load) == stated(of_orders) != {}
    assert {job.name for job in of_orders.jobs} == {LOAD.name, REPAIR.name}
    assert {one.column.column for one in of_orders.columns} == {"note", "loaded_by"}


def test_pages(reader: Reader, history: History) -> None:
    sides = Point(code_version="v1"), Point(code_version="v2")
    whole = diff(reader, *sides, job=LOAD.name)
    found = pages(diff, reader, *sides, job=LOAD.name, limit=1)
    assert {page.edges_total for page in found} == {whole.edges_total} == {4}
    assert tuple(edge for page in found for edge in page.edges) == whole.edges


def test_what_cannot_be_asked(reader: Reader, history: History) -> None:
    with pytest.raises(NotFoundError) as raised:
        diff(reader, Point(code_version="v3"), Point(code_version="v1"), job=LOAD.name)
    assert raised.value.nearest == ("v2", "v1")
    for wrong in (
        lambda: Point(time=BEGIN, run="x"),
        lambda: diff(reader, Point(), Point()),
        lambda: diff(reader, Point(time=BEGIN), Point(run="x")),
        lambda: diff(reader, Point(code_version="v1"), Point(code_version="v2")),
        lambda: diff(reader, Point(time=BEGIN), Point(), job=LOAD.name, dataset="warehouse/orders"),
        lambda: diff(reader, Point(run=history.runs[0].run_id), Point(run=history.runs[1].run_id)),
    ):
        with pytest.raises(QuestionError):
            wrong()
