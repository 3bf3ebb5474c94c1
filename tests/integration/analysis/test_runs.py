"""Runs, micro-batches and versions, compared with a naive reading of the events that made the graph."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from headwater.show import runs as show_runs
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.facets import contents
from headwater_analysis.known import estate_runs
from headwater_analysis.reader import Reader
from headwater_analysis.runs import (
    CONTEXT_NAMES,
    Quality,
    Role,
    RunFilter,
    intervals,
    last_good,
    open_runs,
    resolve_either,
    run,
    runs,
    uses,
    versions,
)
from headwater_graph.derive import Because
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    ParentRun,
    QualityResult,
    RunContext,
    RunEvent,
    RunEventType,
    RunRef,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from support.analysis.history import BEGIN, LOAD, REPAIR, TERMINAL, Batch, History, hold_history
from support.analysis.paging import all_items
from support.gate import first_in_gate
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

BAD = {RunEventType.FAIL, RunEventType.ABORT}


@pytest.fixture(params=first_in_gate(1, [1, 2, 3]))
def history(request: pytest.FixtureRequest, neo4j_driver: Driver, layout: str) -> History:
    return hold_history(neo4j_driver, request.param, layout)


def test_runs(reader: Reader, history: History) -> None:
    for job in (LOAD, REPAIR):
        page = runs(reader, job=job.name, limit=1_000)
        mine = [each for each in reversed(history.runs) if each.job == job]
        assert [(each.run_id, each.state, each.began) for each in page.items] == [
            (each.run_id, each.state, each.began) for each in mine
        ]
        assert all_items(runs, reader, job=job.name, limit=3) == list(page.items)
        assert page.total == len(mine)
    some = runs(
        reader, job=LOAD.name, states=[RunEventType.FAIL], since=history.runs[5].began, until=history.runs[20].began
    )
    assert [each.run_id for each in some.items] == [
        each.run_id for each in reversed(history.runs[5:20]) if each.job == LOAD and each.state is RunEventType.FAIL
    ]


# What the first run alone has, by what it is asked for by.
ITS_OWN = {
    "code": "0ab12",
    "config": "0cd34",
    "repository": "https://git.example.org/flights",
    "branch": "main",
    "package": "flights 1.4.2",
    "image": "registry.example.org/flights@sha256:5f0c",
    "user": "ann",
    "service": "flights/etl",
    "campaign": "backfill-7",
}
CONTEXTS = (
    RunContext(
        script="daily.py",
        statement="INSERT INTO t SELECT 1",
        **{name: value for name, value in ITS_OWN.items() if name not in {"code", "config"}},
    ),
    RunContext(script="daily.py", branch="fix", user="etl"),
    None,
)


QUALITY = (
    QualityResult(assertion="recent", passed=True),
    QualityResult(
        assertion="not_null",
        passed=False,
        column="id",
        value=0.5,
        dataset=DatasetRef("file", "/daily"),
        rule="COMPLETENESS",
        severity="error",
        suite="daily",
        suite_version="3",
    ),
)


def of_context(number: int) -> LineageEvent:
    day = BEGIN + timedelta(days=number)
    body = RunEvent(
        type=RunEventType.COMPLETE,
        outputs=(DatasetUse(dataset=DatasetRef("file", "/daily")),),
        started_at=day,
        nominal_start=day,
        nominal_end=day + timedelta(days=1) if number != 1 else None,
        versions=Versions(code=f"{number}ab12", config=f"{number}cd34"),
        context=CONTEXTS[number],
        rows_rejected=(None, 0, 3)[number],
        quality=QUALITY if number == 0 else (),
        run_facets={"headwater_nothingWritten": '{"reason": "none"}', "odd": "no json", "gone": ""},
    )
    run_id = f"0197c1de-0000-7bd1-9d55-00000000000{number}"
    return lineage_event(body, job=JobRef("flights", "daily"), run=RunRef(run_id), producer="p", event_time=day)


NOON = BEGIN + timedelta(hours=12)


FILTERS: list[tuple[RunFilter, list[int]]] = [
    (RunFilter(), [2, 1, 0]),
    (RunFilter(where=("script=daily.py",)), [1, 0]),
    (RunFilter(where=("script=daily.py", "branch=main")), [0]),
    *((RunFilter(where=(f"{name}={value}",)), [0]) for name, value in ITS_OWN.items()),
    (RunFilter(where=("branch=mai",)), []),
    (RunFilter(where=("code=1a",)), [1]),
    (RunFilter(where=("Campaign=backfill-7",)), [0]),
    (RunFilter(period=BEGIN), [0]),
    (RunFilter(period=NOON), [0]),
    (RunFilter(period=BEGIN + timedelta(days=1)), [1]),
    (RunFilter(period=NOON + timedelta(days=1)), []),
    (RunFilter(statement="insert INTO"), [0]),
    (RunFilter(rejected=True), [2]),
]


@pytest.fixture
def contexts(clean_database: Driver) -> None:
    store(clean_database, [of_context(number) for number in range(3)])


@pytest.mark.nightly
def test_runs_of_one_context(subtests: pytest.Subtests, reader: Reader, contexts: None) -> None:
    for only, expected in FILTERS:
        for question in (
            lambda **asked: runs(reader, job="daily", **asked),
            lambda **asked: runs(reader, dataset="/daily", **asked),
            lambda **asked: estate_runs(reader, **asked),
        ):
            with subtests.test(only=only):
                page = question(only=only)
                assert [int(each.run_id[-1]) for each in page.items] == expected
                assert page.total == len(expected)
                if len(expected) > 1:
                    first = question(only=only, limit=1)
                    second = question(only=only, limit=1, cursor=first.next_cursor)
                    paged = [each.run_id for each in (*first.items, *second.items)]
                    assert paged == [each.run_id for each in page.items[:2]]


def test_one_run_has_its_context(reader: Reader, contexts: None) -> None:
    found = run(reader, of_context(0).run.run_id)  # type: ignore[union-attr]
    assert (found.script, found.branch, found.statement) == ("daily.py", "main", "INSERT INTO t SELECT 1")
    about = ("file", "/daily", "COMPLETENESS", "error", "daily", "3")
    assert found.quality == (
        Quality("not_null", False, "id", "0.5", *about),
        Quality("recent", True, None, None),
    )
    assert contents(found.facets) == {"headwater_nothingWritten": {"reason": "none"}, "odd": "no json"}
    assert run(reader, of_context(2).run.run_id).rows_rejected == 3  # type: ignore[union-attr]


def test_each_word_of_a_context_is_tried() -> None:
    assert {*ITS_OWN, "script"} == set(CONTEXT_NAMES)


CONDITIONS: list[tuple[str, str]] = [
    ("branch", "isn't name=value"),
    ("branch=", "isn't name=value"),
    ("brunch=main", "did you mean branch"),
]


def test_a_condition_that_means_nothing(subtests: pytest.Subtests, reader: Reader) -> None:
    for condition, message in CONDITIONS:
        with subtests.test(condition), pytest.raises(QuestionError, match=message):
            runs(reader, job="daily", only=RunFilter(where=(condition,)))


def test_runs_of_a_dataset(reader: Reader, history: History) -> None:
    wrote = [each.run_id for each in reversed(history.runs) if each.snapshot is not None and each.state in TERMINAL]
    assert [each.run_id for each in runs(reader, dataset="warehouse/orders", limit=1_000).items] == wrote
    by_pages = all_items(runs, reader, dataset="warehouse/orders", limit=3)
    assert [each.run_id for each in by_pages] == wrote
    read = {each.run_id for each in history.runs} | {each.run for each in history.winners() if each.run}
    found = runs(reader, dataset="orders.raw", role=Role.READ, limit=1_000)
    assert {each.run_id for each in found.items} == read
    assert found.total == len(read)


def naive_faults(
    before: Batch | None, batch: Batch
) -> tuple[int, list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    if before is None:
        return batch.batch, [], []
    if missing := batch.batch - before.batch - 1:
        return missing, [], []
    ends = dict(before.ends)
    joints = [(partition, ends[partition], start) for partition, start, _ in batch.ranges]
    gaps = [(partition, end, start) for partition, end, start in joints if end < start]
    return 0, gaps, [(partition, start, end) for partition, end, start in joints if start < end]


def test_intervals(reader: Reader, history: History) -> None:
    winners = history.winners()
    before = dict(zip((each.batch for each in winners), [None, *winners[:-1]], strict=True))
    whole = intervals(reader, job="orders.clean", limit=1_000)
    assert [each.batch_id for each in whole.items] == [each.batch for each in winners]
    assert whole.total == len(winners)
    for item, batch in zip(whole.items, winners, strict=True):
        faults = (
            item.missing,
            *([(j.partition, j.start, j.end) for j in joints] for joints in (item.gaps, item.overlaps)),
        )
        assert faults == naive_faults(before[batch.batch], batch)
        assert (item.run_id, item.conflicts) == (batch.run, history.conflicts(batch.batch))
        assert item.processing_time == batch.time
        assert [(span.partition, span.start, span.end) for span in item.inputs[0].offsets] == sorted(batch.ranges)
        assert sorted((one.assertion, one.passed) for one in item.quality) == sorted(batch.quality)
        assert item.outputs[0].version == batch.manifest
    assert all_items(intervals, reader, job="orders.clean", limit=3) == list(whole.items)
    later = intervals(reader, job="orders.clean", from_batch=20, limit=1_000)
    assert list(later.items) == [item for item in whole.items if item.batch_id >= 20]


def test_intervals_of_a_run(reader: Reader, history: History) -> None:
    whole = intervals(reader, job="orders.clean", limit=1_000).items
    reported = {each.run for each in history.batches if each.run}
    for run_id in reported:
        mine = [item for item in whole if item.run_id == run_id]
        assert all_items(intervals, reader, run=run_id, limit=3) == mine
        details = run(reader, run_id)
        assert details.intervals == len(mine)
        batches = [each.batch for each in history.batches if each.run == run_id]
        assert (details.run.first_batch, details.run.last_batch) == (min(batches), max(batches))
        if mine:
            (use,) = uses(reader, run_id, Role.READ).items
            assert [span.start for span in use.offsets] == [span.start for span in mine[0].inputs[0].offsets]
            assert [span.end for span in use.offsets] == [span.end for span in mine[-1].inputs[0].offsets]


def test_versions(reader: Reader, history: History) -> None:
    made = [each for each in reversed(history.runs) if each.snapshot is not None and each.state in TERMINAL]
    page = versions(reader, "warehouse/orders", limit=1_000)
    assert [(each.version, each.produced_at, each.producers[0].run_id) for each in page.items] == [
        (each.snapshot, each.ended, each.run_id) for each in made
    ]
    assert [each.producers[0].job and each.producers[0].job.name for each in page.items] == [
        each.job.name for each in made
    ]
    assert all_items(versions, reader, "warehouse/orders", limit=3) == list(page.items)

    winners = {each.manifest for each in history.winners()}
    of_stream = versions(reader, "/data/clean", limit=1_000).items
    reported = {
        (each.version, each.producers[0].batch_id, each.producers[0].run_id, each.producers[0].conflict)
        for each in of_stream
    }
    assert reported == {(each.manifest, each.batch, each.run, each.manifest not in winners) for each in history.batches}
    assert {each.producers[0].job.name for each in of_stream if each.producers[0].job} == {"orders.clean"}
    assert all_items(versions, reader, "/data/clean", limit=3) == list(of_stream)


def naive_turn(history: History, of: Callable[[Any], bool]) -> tuple[str | None, str | None]:
    mine = [each for each in history.runs if of(each)]
    good = max((place for place, each in enumerate(mine) if each.state is RunEventType.COMPLETE), default=-1)
    bad = next((each.run_id for each in mine[good + 1 :] if each.state in BAD), None)
    return mine[good].run_id if good >= 0 else None, bad


def test_last_good_by_state(reader: Reader, history: History) -> None:
    wrote = lambda each: each.snapshot is not None and each.state in TERMINAL  # noqa: E731
    for turn, of in (
        (last_good(reader, job=LOAD.name), lambda each: each.job == LOAD),
        (last_good(reader, job=REPAIR.name), lambda each: each.job == REPAIR),
        (last_good(reader, dataset="warehouse/orders"), wrote),
    ):
        found = turn.last_good and turn.last_good.run_id, turn.first_bad and turn.first_bad.run_id
        assert found == naive_turn(history, of)


def test_last_good_by_quality(reader: Reader, history: History) -> None:
    judged = [each for each in history.winners() if each.quality]
    good = max((place for place, each in enumerate(judged) if all(passed for _, passed in each.quality)), default=-1)
    bad = next((each for each in judged[good + 1 :] if not all(passed for _, passed in each.quality)), None)
    for turn in (last_good(reader, job="orders.clean"), last_good(reader, dataset="/data/clean")):
        (quality,) = turn.quality
        assert (quality.last_good and quality.last_good.batch_id) == (judged[good].batch if good >= 0 else None)
        assert (quality.first_bad and quality.first_bad.batch_id) == (bad.batch if bad else None)
        assert (quality.first_bad_run and quality.first_bad_run.run_id) == (bad.run if bad else None)


def test_last_good_by_quality_of_batch_runs(reader: Reader, clean_database: Driver) -> None:
    orders, other = DatasetRef("n", "orders"), DatasetRef("n", "other")
    load, suite = JobRef("f", "load"), JobRef("f", "suite")

    def ran(job: JobRef, day: int, *results: QualityResult, **more: Any) -> LineageEvent:
        at = BEGIN + timedelta(days=day)
        body = RunEvent(type=more.pop("type", RunEventType.COMPLETE), ended_at=at, quality=results, **more)
        return lineage_event(body, job=job, run=RunRef(f"{job.name}-{day}"), producer="p", event_time=at)

    good, bad = (QualityResult(assertion="few", passed=passed) for passed in (True, False))
    of_other = QualityResult(assertion="fresh", passed=False, dataset=other)
    unique = QualityResult(assertion="unique", passed=False, dataset=orders, column="id")
    out = (DatasetUse(dataset=orders),)
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()

    def judged(*events: LineageEvent, **of: str) -> list[tuple[str | None, str | None, list[str]]]:
        for event in events:
            writer.apply(fold([event]))
        return [
            (
                turn.last_good_run.run_id if turn.last_good_run else None,
                turn.first_bad_run.run_id if turn.first_bad_run else None,
                [each.assertion for each in turn.failed],
            )
            for turn in last_good(reader, **of).quality
        ]

    # Nearly: a run without assertions is neither, and a failed write of which nothing was committed says nothing of it.
    before = [ran(load, 0, bad, outputs=out), ran(load, 1, good, outputs=out), ran(load, 2, outputs=out)]
    failed = ran(load, 3, bad, outputs=out, type=RunEventType.FAIL)
    assert judged(*before, failed, dataset="n/orders") == [("load-1", None, [])]
    assert judged(job="load") == [("load-1", "load-3", ["few"])]
    # What it asserts of another dataset counts for the job alone.
    assert judged(ran(load, 4, good, outputs=out), ran(load, 5, good, of_other, outputs=out), job="load") == [
        ("load-4", "load-5", ["fresh"])
    ]
    assert judged(dataset="n/orders") == [("load-5", None, [])]
    # Fires: the first of two bad ones; and a suite that reads it, beside.
    later = [ran(load, 6, good, bad, outputs=out), ran(load, 7, bad, outputs=out)]
    check = ran(suite, 8, unique, good, inputs=out)
    assert judged(*later, check, dataset="n/orders") == [("load-5", "load-6", ["few"]), (None, "suite-8", ["unique"])]
    assert last_good(reader, dataset="n/orders").quality[0].query_id is None
    text = io.StringIO()
    Console(file=text, width=200).print(show_runs.turn(last_good(reader, dataset="n/orders")))
    assert [line.split()[:3] for line in text.getvalue().splitlines() if line.startswith("quality")] == [
        ["quality", "last", "good"],
        ["quality", "first", "bad"],
        ["quality", "last", "good"],
        ["quality", "first", "bad"],
    ]
    assert "failed: unique of id" in text.getvalue()


def test_one_run(reader: Reader, history: History) -> None:
    reported = next(each for each in history.runs if each.state is RunEventType.COMPLETE and each.code == "v2")
    details = run(reader, reported.run_id)
    assert (details.run.code_version, details.run.ended_at) == ("v2", reported.ended)
    assert run(reader, details.run.key) == details
    assert [use.dataset.name for use in uses(reader, reported.run_id, Role.READ).items] == ["/data/rates", "orders.raw"]
    (written,) = uses(reader, reported.run_id, Role.WROTE).items
    assert (written.version, written.rows) == (reported.snapshot, 7)


def test_what_cannot_be_asked(reader: Reader, history: History) -> None:
    with pytest.raises(NotFoundError):
        run(reader, "nothing")
    with pytest.raises(NotFoundError):
        runs(reader, job="nothing")
    with pytest.raises(QuestionError):
        runs(reader)
    with pytest.raises(QuestionError):
        runs(reader, job=LOAD.name, dataset="warehouse/orders")
    with pytest.raises(QuestionError, match="isn't before"):
        runs(reader, job=LOAD.name, since=datetime(2025, 2, 1, tzinfo=UTC), until=datetime(2025, 1, 1, tzinfo=UTC))
    cursor = runs(reader, job=LOAD.name, limit=1).next_cursor
    with pytest.raises(QuestionError):
        runs(reader, job=REPAIR.name, limit=1, cursor=cursor)
    with pytest.raises(QuestionError):
        intervals(reader, job="orders.clean", cursor="no cursor")


KILLED = datetime(2026, 1, 1, tzinfo=UTC)
APP = JobRef("f", "flights")


def reported(
    job: str, run_id: str, minute: int, *, query: str | None = None, parent: str | None = None, kind: str = "START"
) -> LineageEvent:
    above = None if parent is None else ParentRun(parent, APP)
    body = RunEvent(type=RunEventType(kind), query_id=query, parent=above)
    at = KILLED + timedelta(minutes=minute)
    return lineage_event(body, job=JobRef("f", job), run=RunRef(run_id), producer="test", event_time=at)


@pytest.fixture
def killed(clean_database: Driver) -> GraphWriter:
    """An application was killed with a query and a write in flight; the query went on below another start of it."""
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    events = [
        *(
            reported("flights", "a1", 0),
            reported("enrich", "r1", 1, query="q", parent="a1"),
            reported("write", "w1", 2, parent="a1"),
        ),
        *(reported("flights", "a2", 60), reported("enrich", "r2", 61, query="q", parent="a2")),
        reported("enrich", "r2", 90, query="q", parent="a2", kind="RUNNING"),
        reported("nightly", "n1", 30),
    ]
    for event in reversed(events):
        writer.apply(fold([event]))
    return writer


def test_a_later_run_of_the_query_ends_the_runs_of_a_killed_driver(reader: Reader, killed: GraphWriter) -> None:
    for run_id, because, minute in (
        ("r1", Because.QUERY_CONTINUED, 1),
        ("a1", Because.CHILDREN_CONTINUED, 2),
        ("w1", Because.PARENT_ENDED, 2),
    ):
        found = run(reader, run_id).run
        assert (found.state, found.inferred_because, found.inferred_by) == (RunEventType.ABORT, because, "r2")
        assert found.ended_at == KILLED + timedelta(minutes=minute)
    aborted = runs(reader, job="enrich", states=[RunEventType.ABORT])
    assert ([each.run_id for each in aborted.items], aborted.total) == (["r1"], 1)
    assert [each.run_id for each in runs(reader, job="enrich", states=[RunEventType.START]).items] == []
    bad = last_good(reader, job="enrich").first_bad
    assert bad is not None
    assert bad.run_id == "r1"


def test_an_end_that_comes_late_holds(reader: Reader, killed: GraphWriter) -> None:
    killed.apply(fold([reported("enrich", "r1", 1, query="q", parent="a1", kind="COMPLETE")]))
    found = run(reader, "r1").run
    assert (found.state, found.inferred_because) == (RunEventType.COMPLETE, None)
    assert (run(reader, "a1").run.state, run(reader, "w1").run.state) == (RunEventType.START, RunEventType.START)


def test_open_runs_the_longest_unseen_first(reader: Reader, killed: GraphWriter) -> None:
    """The application is seen as its query is."""
    page = open_runs(reader)
    minutes = [(each.run.run_id, (each.last_seen - KILLED).total_seconds() / 60) for each in page.items]
    assert sorted(minutes) == [("a2", 90), ("n1", 30), ("r2", 90)]
    assert [minute for _, minute in minutes] == [30, 90, 90]
    assert (page.total, page.next_cursor) == (3, None)
    before = open_runs(reader, before=KILLED + timedelta(minutes=80))
    assert ([each.run.run_id for each in before.items], before.total) == (["n1"], 1)
    assert [each.run.run_id for each in open_runs(reader, job="flights").items] == ["a2"]
    assert tuple(all_items(open_runs, reader, limit=1)) == page.items


def test_a_job_and_a_dataset_of_one_name(reader: Reader, history: History) -> None:
    assert reader.read(lambda tx: resolve_either(tx, "load_orders")).name == "load_orders"
    with pytest.raises(NotFoundError) as raised:
        reader.read(lambda tx: resolve_either(tx, "lod_orders"))
    assert any("load_orders" in each for each in raised.value.nearest)


def test_names_are_reported_apart_by_kind(reader: Reader, clean_database: Driver) -> None:
    from headwater_schemas.events import DatasetRef, DatasetUse, JobRef, RunEvent, RunRef
    from headwater_schemas.events.build import lineage_event

    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    body = RunEvent(type=RunEventType.START, outputs=(DatasetUse(dataset=DatasetRef("d", "same")),))
    event = lineage_event(body, job=JobRef("j", "same"), run=RunRef("r"), producer="p", event_time=BEGIN)
    writer.apply(fold([event]))
    with pytest.raises(AmbiguousError):
        reader.read(lambda tx: resolve_either(tx, "same"))
