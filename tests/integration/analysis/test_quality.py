"""Results of the latest checks of datasets: of writes, suites of other tools, and micro-batches; and their display."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater.show import quality as show_quality
from headwater_analysis.blast import BadRun, blast
from headwater_analysis.known.dataset import dataset_details
from headwater_analysis.lineage import LineageDirection, LineageQuestion, lineage
from headwater_analysis.quality import AT_ONCE, Check, DatasetQuality, checks_of
from headwater_analysis.reader import Reader, statement
from headwater_graph.keys import dataset_key
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    LineageEvent,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)
from support.graph.plans import SORTS, operators, scans
from support.graph.writing import hold, store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("layout")]

DAY = datetime(2025, 1, 1, tzinfo=UTC)
RAW, ORDERS, REPORT, TOPIC = (DatasetRef("n", name) for name in ("raw", "orders", "report", "topic"))
LOAD, SUITE, STREAM, REPORTS = (JobRef("f", name) for name in ("load", "suite", "stream", "reports"))


def uses(*datasets: DatasetRef) -> tuple[DatasetUse, ...]:
    return tuple(DatasetUse(dataset=each) for each in datasets)


def ran(
    job: JobRef,
    day: int,
    *quality: QualityResult,
    reads: tuple[DatasetRef, ...] = (),
    writes: tuple[DatasetRef, ...] = (),
) -> LineageEvent:
    at = DAY + timedelta(days=day)
    body = RunEvent(
        type=RunEventType.COMPLETE, ended_at=at, inputs=uses(*reads), outputs=uses(*writes), quality=quality
    )
    return build.lineage_event(body, job=job, run=RunRef(f"{job.name}-{day}"), producer="p", event_time=at)


def batch(number: int, *quality: QualityResult) -> LineageEvent:
    at = DAY + timedelta(minutes=number)
    entry = IntervalEntry(batch_id=number, inputs=uses(RAW), outputs=uses(TOPIC), processing_time=at, quality=quality)
    body = IntervalEvent(query_id="q", query_name="enrich", entries=(entry,))
    return build.lineage_event(body, job=STREAM, run=RunRef("stream-1"), producer="p", event_time=at)


def found(assertion: str, *, passed: bool, dataset: DatasetRef | None = None, **more: Any) -> QualityResult:
    return QualityResult(assertion=assertion, passed=passed, dataset=dataset, **more)


EVENTS = [
    # Wrote it badly, then well; then again, and nothing was checked.
    ran(LOAD, 1, found("few", passed=False), reads=(RAW,), writes=(ORDERS,)),
    ran(LOAD, 2, found("few", passed=True), reads=(RAW,), writes=(ORDERS,)),
    ran(LOAD, 5, reads=(RAW,), writes=(ORDERS,)),
    # A suite that checks two datasets, one a day.
    ran(
        SUITE,
        3,
        found(
            "not_null",
            passed=False,
            dataset=ORDERS,
            column="id",
            rule="COMPLETENESS",
            severity="error",
            suite="orders",
            suite_version="3",
            value=0.5,
        ),
        found("unique", passed=True, dataset=ORDERS),
        reads=(ORDERS, RAW),
    ),
    ran(SUITE, 4, found("fresh", passed=True, dataset=RAW), reads=(ORDERS, RAW)),
    ran(REPORTS, 5, reads=(ORDERS, TOPIC), writes=(REPORT,)),
    batch(0, found("good", passed=True)),
    batch(1, found("good", passed=False), found("other", passed=False, dataset=RAW)),
    *(batch(number) for number in range(2, 6)),
]


@pytest.fixture
def estate(neo4j_driver: Driver, layout: str, reader: Reader) -> Reader:
    hold(neo4j_driver, f"checks, {layout}", EVENTS, at_once=1)
    return reader


def brief(quality: tuple[DatasetQuality, ...]) -> dict[str, list[tuple[Any, ...]]]:
    return {each.dataset.name: [_brief(check) for check in each.checks] for each in quality}


def _brief(check: Check) -> tuple[Any, ...]:
    by = check.run_id if check.batch_id is None else (check.query_id, check.batch_id)
    return check.job and check.job.name, by, check.passed, [each.assertion for each in check.failed]


OF_ORDERS = [("suite", "suite-3", 1, ["not_null"]), ("load", "load-2", 1, [])]
OF_RAW: list[tuple[Any, ...]] = [("suite", "suite-4", 1, [])]
OF_TOPIC = [("stream", ("q", 1), 0, ["good"])]


def asked(reader: Reader, **more: Any) -> dict[str, list[tuple[Any, ...]]]:
    question = LineageQuestion("n/report", LineageDirection.UPSTREAM, depth=None, **more)
    return brief(lineage(reader, question).quality)


def test_lineage_has_the_latest_checks_of_its_datasets(estate: Reader) -> None:
    assert asked(estate, quality=True) == {"orders": OF_ORDERS, "raw": OF_RAW, "topic": OF_TOPIC}
    assert asked(estate) == {}


def test_at_a_time_those_of_runs_that_were_over(estate: Reader) -> None:
    assert asked(estate, quality=True, as_of=DAY + timedelta(days=5)) == {"orders": OF_ORDERS, "raw": OF_RAW}
    question = LineageQuestion("n/orders", LineageDirection.UPSTREAM, quality=True, as_of=DAY + timedelta(days=1))
    assert brief(lineage(estate, question).quality) == {"orders": [("load", "load-1", 0, ["few"])]}


def test_those_of_what_is_tainted(estate: Reader) -> None:
    answer = blast(estate, BadRun("load-5"))
    assert brief(answer.quality) == {"orders": OF_ORDERS}


def test_all_that_is_known_of_a_dataset_has_its_checks(estate: Reader) -> None:
    checks = dataset_details(estate, "n/orders").checks
    assert [_brief(check) for check in checks] == OF_ORDERS
    (failed,) = checks[0].failed
    assert (failed.column, failed.rule, failed.severity, failed.suite, failed.suite_version, failed.value) == (
        *("id", "COMPLETENESS", "error", "orders", "3", "0.5"),
    )
    assert checks[0].at == DAY + timedelta(days=3)


def test_people_see_a_line_for_each_dataset_that_failed(estate: Reader) -> None:
    question = LineageQuestion("n/report", LineageDirection.UPSTREAM, depth=None, quality=True)
    quality = sorted(lineage(estate, question).quality, key=lambda each: each.dataset.name)
    assert show_quality.lines(quality).splitlines() == [
        "n/orders failed its latest checks: not_null of id (error, COMPLETENESS, 0.5, suite orders 3).",
        "n/topic failed its latest checks: good.",
        "1 dataset passed the latest checks.",
    ]


def test_every_streaming_query_is_looked_at(clean_database: Driver, reader: Reader) -> None:
    count = AT_ONCE + 3
    events = []
    for number in range(count):
        quality = (found("good", passed=False),)
        entry = IntervalEntry(batch_id=0, outputs=uses(TOPIC), processing_time=DAY, quality=quality)
        body = IntervalEvent(query_id=f"q{number}", entries=(entry,))
        events.append(build.lineage_event(body, job=STREAM, run=RunRef(f"r{number}"), producer="p", event_time=DAY))
    store(clean_database, events)
    (of_topic,) = reader.read(lambda tx: checks_of(tx, [dataset_key(tx.tenant, "n", "topic")])).values()
    assert {check.query_id for check in of_topic} == {f"q{number}" for number in range(count)}


def test_what_a_later_report_of_a_run_leaves_out_stands(estate: Reader, neo4j_driver: Driver) -> None:
    later = ran(SUITE, 3, found("not_null", passed=True, dataset=ORDERS), reads=(ORDERS,))
    assert later.run_event is not None
    later = build.lineage_event(
        later.run_event, job=SUITE, run=RunRef("suite-3"), producer="p", event_time=DAY + timedelta(days=6)
    )
    store(neo4j_driver, [later])
    assert asked(estate, quality=True)["orders"][0] == ("suite", "suite-3", 1, [])


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["runs", "batches"])
def test_runs_and_segments_come_off_an_index_in_its_order(estate: Reader, neo4j_driver: Driver, name: str) -> None:
    given = {"datasets": ["k"], "until": DAY, "looked_at": 20, "back": 1024}
    for most in ("Run", "Segment", "Job"):
        found = operators(neo4j_driver, statement(f"quality/{name}"), given=given)
        assert not SORTS & set(found), found
        assert not scans(found)
        assert "NodeIndexSeek" in found, found
        with neo4j_driver.session(database="neo4j") as session:
            session.run("UNWIND range(1, 2000) AS n CREATE (:$($label) {key: 'k' + n})", label=most).consume()
