"""Column lineage in force, as a story: a job's code changes, and is changed back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from headwater.commands.lineage import summary
from headwater_analysis.lineage import Lineage, LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobEvent,
    JobRef,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    TransformationKind,
    TransformationType,
    build,
)
from headwater_schemas.identity import plan_digest
from support.graph.writing import hold, store

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

IN, OUT = DatasetRef("n", "in"), DatasetRef("n", "out")
JOB, OTHER = JobRef("f", "report"), JobRef("f", "other")
DAY = datetime(2025, 1, 1, tzinfo=UTC)


def plan(source: str | None, target: str = "x") -> ColumnLineage:
    copy = ColumnEdge(
        output=1,
        output_field=target,
        input=None if source is None else 0,
        input_field=source,
        type=TransformationType.DIRECT,
        kind=TransformationKind.CONSTANT if source is None else TransformationKind.COPY,
    )
    return ColumnLineage(datasets=(IN, OUT), edges=(copy,))


def reported(lineage_: ColumnLineage, job: JobRef, *days: int) -> list[LineageEvent]:
    """The plan, and a run of an hour that uses it on each of these days."""
    events = [build.lineage_event(lineage_, job=job, producer="p", event_time=day(days[0]))]
    for number in days:
        for kind, hour in ((RunEventType.START, 0), (RunEventType.COMPLETE, 1)):
            body = RunEvent(type=kind, plan_digest=plan_digest(lineage_))
            run = RunRef(f"{job.name} {number}")
            events.append(
                build.lineage_event(
                    body, job=job, run=run, producer="p", event_time=day(number) + timedelta(hours=hour)
                )
            )
    return events


def day(number: float) -> datetime:
    return DAY + timedelta(days=number)


def upstream(reader: Reader, column: str = "x", as_of: float | None = None, since: float | None = None) -> set[str]:
    question = LineageQuestion(
        "out",
        LineageDirection.UPSTREAM,
        column,
        as_of=None if as_of is None else day(as_of),
        since=None if since is None else day(since),
    )
    return {str(item.asset.column) for item in lineage(reader, question).items}


@pytest.fixture
def graph(neo4j_driver: Driver, reader: Reader) -> Reader:
    events = [
        *reported(plan("a"), JOB, 1, 2, 6),
        *reported(plan("b"), JOB, 3, 4),
        *reported(plan(None), JOB, 5),
        *reported(plan("c", "y"), JOB, 1),
        *reported(plan("g", "z"), JOB, 1, 6),
        *reported(plan("d"), OTHER, 2),
        build.lineage_event(JobEvent(lineage=plan("e")), job=JobRef("f", "declares"), producer="p", event_time=day(1)),
    ]
    hold(neo4j_driver, "plans", events)
    return reader


def test_now_it_is_the_plan_that_ran_last_of_each_job_and_what_is_declared(graph: Reader) -> None:
    assert upstream(graph) == {"a", "d", "e"}


SOURCES_AT: list[tuple[float, set[str]]] = [
    (0.5, set()),
    (1.5, {"a"}),
    (2.5, {"a", "d"}),
    (3.5, {"b", "d"}),
    (5.5, {"d"}),
    (6.5, {"a", "d"}),
]


def test_at_a_time_it_is_the_one_that_had_run_last_by_then(subtests: pytest.Subtests, graph: Reader) -> None:
    for when, sources in SOURCES_AT:
        with subtests.test(when=when):
            assert upstream(graph, as_of=when) == sources


def test_a_column_that_the_last_complete_run_didnt_write_has_no_lineage_but_a_note(graph: Reader) -> None:
    answer = lineage(graph, LineageQuestion("out", LineageDirection.UPSTREAM, "y"))
    assert not answer.items
    derived = "The dataset of this column was observed to be derived from in"
    assert answer.notes == (f"{derived}, but no current plan has lineage for the column.",)
    assert upstream(graph, "y", as_of=1.5) == {"c"}


def test_what_two_plans_of_a_job_hold_alike_is_listed_once(clean_database: Driver, reader: Reader) -> None:
    both = ColumnLineage(datasets=(IN, OUT), edges=(*plan("a").edges, *plan("b", "y").edges))
    events = [*reported(plan("a"), JOB, 1), *reported(both, JOB, 1)]
    read, written = (DatasetUse(dataset=IN),), (DatasetUse(dataset=OUT),)
    for each in (plan("a"), both):
        body = RunEvent(type=RunEventType.COMPLETE, plan_digest=plan_digest(each), inputs=read, outputs=written)
        events.append(build.lineage_event(body, job=JOB, run=RunRef("again"), producer="p", event_time=day(1)))
    store(clean_database, events)
    answer = lineage(reader, LineageQuestion("out", LineageDirection.UPSTREAM, columns=True))
    (item,) = answer.items
    assert [(each.source, each.target) for each in item.columns] == [("a", "x"), ("b", "y")]
    assert item.columns_total == 2
    assert answer.complete


def test_an_answer_says_that_it_is_incomplete(clean_database: Driver, reader: Reader) -> None:
    partly = ColumnLineage(datasets=(IN, OUT), edges=plan("a").edges, complete=False, incomplete_reason="a UDF")
    store(clean_database, reported(partly, JOB, 1))
    for column in ("x", None):
        answer = lineage(reader, LineageQuestion("out", LineageDirection.UPSTREAM, column))
        assert not answer.complete
        assert "report is incomplete (a UDF)" in summary(answer).splitlines()[0]


def test_since_a_time_only_what_ran_later(graph: Reader) -> None:
    assert upstream(graph, since=4) == {"a", "e"}
    assert upstream(graph, "y", since=4) == set()


def test_since_a_time_and_until_another_only_what_ran_in_between(graph: Reader) -> None:
    """The plan of z ran before, and again later, and complete runs without it in between."""
    assert upstream(graph, "z", since=4) == {"g"}
    assert upstream(graph, "z", since=0, as_of=1.5) == {"g"}
    assert upstream(graph, "z", since=0, as_of=4) == set()
    assert upstream(graph, "z", since=2, as_of=4) == set()
    assert upstream(graph, since=3, as_of=5) == {"b"}, "a run that has only begun ends no plan"
    assert upstream(graph, since=3, as_of=5.5) == set()
    assert upstream(graph, since=3, as_of=4.5) == {"b"}


def test_nothing_of_later_is_in_an_answer_as_of_a_time(clean_database: Driver, reader: Reader) -> None:
    """Neither when a hop was last seen, nor that nothing is upstream of what wasn't there yet."""
    schema = SchemaDefinition((SchemaField(path="x"),))
    events = [
        build.lineage_event(
            RunEvent(
                type=RunEventType.COMPLETE,
                inputs=(DatasetUse(dataset=IN),),
                outputs=(DatasetUse(dataset=OUT),),
                plan_digest=plan_digest(plan("a")),
            ),
            job=JOB,
            run=RunRef(f"r{number}"),
            producer="p",
            event_time=day(number),
        )
        for number in (2, 4)
    ]
    events.append(build.lineage_event(DatasetEvent(dataset=OUT, schema=schema), producer="p", event_time=day(2)))
    store(clean_database, [*events, build.lineage_event(plan("a"), job=JOB, producer="p", event_time=day(2))])

    def asked(when: float, column: str | None = None) -> Lineage:
        return lineage(reader, LineageQuestion("out", LineageDirection.UPSTREAM, column, as_of=day(when), edges=True))

    for column in (None, "x"):
        assert [asked(when, column).unknown_until for when in (1, 2, 5)] == [day(2), None, None]
        for when, last in ((3, None), (4, day(4))):
            answer = asked(when, column)
            vias = [via for each in answer.items for via in each.via] + [
                via for each in answer.edges for via in each.via
            ]
            spans = {(via.first_seen, via.last_seen) for via in vias}
            assert spans == {(day(2), last)}
    text = summary(asked(1))
    assert text == "n/out wasn't known at 2025-01-02 00:00:00Z: it was first seen at 2025-01-03 00:00:00Z."
