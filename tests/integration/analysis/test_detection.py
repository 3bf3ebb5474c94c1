"""Faults of data in the graph, and the incidents that a policy opens for them: what fires, and what nearly does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.errors import NotFilteredError, TimeLimitError
from headwater_analysis.incidents.actions import opening
from headwater_analysis.incidents.detection import detect_faults, writes
from headwater_analysis.incidents.detection.detect_faults import DetectedOutcome, Detection, detect
from headwater_analysis.incidents.detection.fault_policy import FaultPolicy, default_fault_policy, parse_fault_policy
from headwater_analysis.incidents.fault_effects import FaultEffect
from headwater_analysis.incidents.questions import incident
from headwater_analysis.reader import Reader
from headwater_analysis.visibility import Visible
from headwater_graph.connection import Neo4jTarget
from headwater_openlineage.quality import ASSERTIONS, results_of
from headwater_producers.spark import quality
from headwater_producers.spark.streaming.interval import observed_quality
from headwater_schemas.events import (
    Certainty,
    DatasetRead,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    IncidentAction,
    IncidentResolution,
    IncidentScope,
    JobRef,
    LineageEvent,
    ProcessingType,
    PublicationState,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
)
from headwater_schemas.events.build import lineage_event
from support.analysis.chains import BEGIN, Entry, Stream, files_use, kafka_use, ran
from support.analysis.incident_events import LATER, act
from support.graph.estate import DAY, Estate, schema, version
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

EARLY = BEGIN - timedelta(days=1)
RAW, ORDERS, OTHER = (DatasetRef("file", f"/lake/{name}") for name in ("raw", "orders", "other"))
EXACT = Certainty.EXACT
EVERYTHING = default_fault_policy()


def seconds(number: float) -> datetime:
    return BEGIN + timedelta(seconds=number)


def outcome(*, passed: bool = False, dataset: DatasetRef | None = None, **more: Any) -> tuple[QualityResult]:
    return (QualityResult(assertion="not_null", passed=passed, rule="COMPLETENESS", dataset=dataset, **more),)


def found(
    reader: Reader, policy: FaultPolicy = EVERYTHING, *, since: datetime = EARLY, now: datetime = LATER
) -> Detection:
    return detect(reader, policy, since=since, now=now)


def parts(detection: Detection) -> dict[str, list[str]]:
    """Parts of new faults, by cause."""
    out: dict[str, list[str]] = {}
    for each in detection.faults:
        if each.outcome is DetectedOutcome.NEW:
            out.setdefault(each.cause, []).append(each.part)
    return out


def open_all(driver: Driver, reader: Reader, detection: Detection, at: datetime = LATER) -> list[tuple[str, bool]]:
    """Store the openings, as the materializer does; return the id of each incident, and whether it was open."""
    opened = [opening(reader, each.opening, by="test", now=at) for each in detection.openings]
    store(driver, [each.event for each in opened])
    return [(each.incident, each.was_open) for each in opened]


def failed(
    job: str,
    writes: tuple[DatasetUse, ...],
    at: int,
    *,
    kind: RunEventType = RunEventType.FAIL,
    **more: Any,
) -> LineageEvent:
    body = RunEvent(
        type=kind,
        processing_type=ProcessingType.BATCH,
        outputs=writes,
        started_at=seconds(at),
        ended_at=seconds(at + 5) if kind.is_terminal else None,
        **more,
    )
    return lineage_event(
        body, job=JobRef("jobs", job), run=RunRef(f"{job} {at}"), producer="test", event_time=seconds(at + 5)
    )


def test_a_failed_assertion_of_a_run_that_wrote(clean_database: Driver, reader: Reader) -> None:
    """The run is the part, whether the outcome names its output or not; what wasn't committed opens nothing."""
    uncommitted = DatasetUse(dataset=OTHER)
    store(
        clean_database,
        [
            ran("load", [RAW], [files_use("/lake/orders", ["a"])], 0, quality=outcome(column="id")),
            ran("named", [RAW], [files_use("/lake/other", ["a"])], 10, quality=outcome(dataset=OTHER)),
            ran("passed", [RAW], [files_use("/lake/passed", ["a"])], 20, quality=outcome(passed=True)),
            ran("two", [RAW], [files_use("/lake/one", ["a"]), files_use("/lake/two", ["a"])], 30, quality=outcome()),
            failed("nothing committed", (uncommitted,), 40, quality=outcome()),
            failed("nothing committed of it", (uncommitted,), 50, quality=outcome(dataset=OTHER)),
        ],
    )
    detection = found(reader)
    assert parts(detection) == {
        "assertion COMPLETENESS not_null by jobs/two": ["run two 30"],
        "assertion COMPLETENESS not_null of file:/lake/other by jobs/named": ["run named 10"],
        "assertion COMPLETENESS on id of file:/lake/orders by jobs/load": ["run load 0"],
    }
    assert detection.unknown == ()
    (of_two,) = (each for each in detection.faults if each.part == "run two 30")
    assert of_two.datasets == ("file:/lake/one", "file:/lake/two")
    assert {(each.type, each.severity, each.rule) for each in detection.faults} == {
        ("MISSING_DATA", "SEV3", "COMPLETENESS")
    }
    opened = open_all(clean_database, reader, detection)
    reach = incident(reader, opened[-1][0]).reach
    assert reach is not None
    assert [part.files for part in reach.tainted[0].parts] == [("file:/lake/orders/a",)]


def test_a_failed_assertion_of_a_run_that_only_read(clean_database: Driver, reader: Reader) -> None:
    """Bad is what was written since the same assertion passed last; of a column only where the graph has it."""
    estate = Estate(clean_database, reader)
    schema(estate, ORDERS, "id")

    def checked(at: int, column: str, *, passed: bool) -> LineageEvent:
        return ran("suite", [ORDERS], [], at, quality=outcome(dataset=ORDERS, column=column, passed=passed))

    store(
        clean_database,
        [
            *estate.events,
            ran("load", [RAW], [files_use("/lake/orders", ["old"])], 0),
            checked(20, "id", passed=True),
            ran("load", [RAW], [files_use("/lake/orders", ["new"])], 40),
            checked(60, "id", passed=False),
            checked(80, "gone", passed=False),
        ],
    )
    detection = found(reader)
    whole = "dataset file:/lake/orders"
    assert parts(detection) == {
        "assertion COMPLETENESS on id of file:/lake/orders by jobs/suite": [
            f"{whole}#id, processed from 2025-01-01T00:00:20Z until 2025-01-01T00:01:05Z"
        ],
        "assertion COMPLETENESS on gone of file:/lake/orders by jobs/suite": [
            f"{whole}, processed before 2025-01-01T00:01:25Z"
        ],
    }
    by_cause = dict(zip(parts(detection), open_all(clean_database, reader, detection), strict=True))
    reach = incident(reader, by_cause["assertion COMPLETENESS on id of file:/lake/orders by jobs/suite"][0]).reach
    assert reach is not None
    assert [part.files for each in reach.start for part in each.parts] == [("file:/lake/orders/new",)]
    assert parts(found(reader)) == {}


def soda_check(name: str, outcome: str | None, column: str | None = None) -> dict[str, str | None]:
    return {"name": name, "definition": f"checks for orders:\n  - {name}", "column": column, "outcome": outcome}


def test_results_of_tools_open_incidents_by_their_rules(clean_database: Driver, reader: Reader) -> None:
    """A failed assertion about drift warns. One that passed, or that the tool didn't evaluate, opens nothing."""
    scan = {
        "checks": [
            soda_check("missing_count(id) = 0", "fail", "id"),
            soda_check("distribution_difference(price, p) < 0.1", "fail", "price"),
            soda_check("distribution_difference(age, a) < 0.1", "pass", "age"),
            soda_check("max(price) < 100", "warn", "price"),
            soda_check("freshness(at) < 1d", None, "at"),
        ]
    }
    unique, reference, passed = (f"test.shop.{name}.0" for name in ("unique_other_id", "relationships_of", "not_null"))
    results = {
        "results": [
            {"unique_id": unique, "status": "fail", "failures": 2},
            {"unique_id": reference, "status": "warn", "failures": 1},
            {"unique_id": passed, "status": "pass", "failures": 0},
        ]
    }
    manifest = {"nodes": {unique: {"column_name": "id", "test_metadata": {"name": "unique"}}}}
    of_soda, of_dbt = quality.soda(scan), quality.dbt(results, manifest)
    store(
        clean_database,
        [
            ran("load", [RAW], [files_use("/lake/orders", ["a"])], 0, quality=tuple(of_soda)),
            ran("build", [RAW], [files_use("/lake/other", ["a"])], 10, quality=tuple(of_dbt)),
            ran("report", [files_use("/lake/orders", ["a"])], [files_use("/lake/report", ["a"])], 20),
        ],
    )
    detection = found(reader)
    answers = [incident(reader, name) for name, _ in open_all(clean_database, reader, detection)]
    orders, other = "of file:/lake/orders by jobs/load", "of file:/lake/other by jobs/build"
    assert {each.brief.cause: each.brief.type for each in answers} == {
        f"assertion COMPLETENESS on id {orders}": "MISSING_DATA",
        f"assertion DRIFT on price {orders}": "SCHEMA",
        f"assertion RANGE (WARN) on price {orders}": "BAD_RECORDS",
        f"assertion UNIQUENESS on id {other}": "DUPLICATES",
        f"assertion REFERENTIAL relationships_of (WARN) {other}": "BAD_RECORDS",
    }
    effects = {each.brief.cause: each.asked_reach.all_columns for each in answers}
    assert effects[f"assertion DRIFT on price {orders}"] is FaultEffect.WARNS
    assert effects[f"assertion RANGE (WARN) on price {orders}"] is FaultEffect.TAINTS


def of_observe(*, passed: bool) -> list[QualityResult]:
    return list(observed_quality({"orders": {"not_null_id": passed, "not_null_id_value": 3}}))


def of_great_expectations(*, passed: bool, severity: str = "critical") -> list[QualityResult]:
    config = {
        "type": "expect_column_values_to_be_unique",
        "kwargs": {"column": "id"},
        "severity": severity,
    }
    return quality.great_expectations({"results": [{"expectation_config": config, "success": passed}]})


def of_deequ(*, passed: bool, severity: str = "Error") -> list[QualityResult]:
    constraint = "UniquenessConstraint(Uniqueness(List(id),None,None))"
    status = "Success" if passed else "Failure"
    return quality.deequ([{"constraint": constraint, "constraint_status": status, "check_level": severity}])


def of_dbt(*, passed: bool, severity: str = "fail") -> list[QualityResult]:
    name = "test.shop.not_null_orders_id.0"
    node = {"column_name": "id", "test_metadata": {"name": "not_null"}, "config": {"severity": "ERROR"}}
    results = {"results": [{"unique_id": name, "status": "pass" if passed else severity}]}
    return quality.dbt(results, {"nodes": {name: node}})


def of_soda(*, passed: bool, severity: str = "fail") -> list[QualityResult]:
    name = "distribution_difference(price, p) < 0.1"
    return quality.soda({"checks": [soda_check(name, "pass" if passed else severity, "price")]})


def of_facet(*, passed: bool, severity: str = "error") -> list[QualityResult]:
    assertion = {"assertion": "freshness", "success": passed, "severity": severity}
    return list(results_of(ORDERS, {ASSERTIONS: ({"assertions": [assertion]}, f"/outputs/0/{ASSERTIONS}")}))


@pytest.mark.parametrize(
    ("source", "rule", "type_"),
    [
        (of_observe, "COMPLETENESS", "MISSING_DATA"),
        (of_great_expectations, "UNIQUENESS", "DUPLICATES"),
        (of_deequ, "UNIQUENESS", "DUPLICATES"),
        (of_dbt, "COMPLETENESS", "MISSING_DATA"),
        (of_soda, "DRIFT", "SCHEMA"),
        (of_facet, "FRESHNESS", "LATE"),
    ],
)
def test_a_failed_check_of_each_source_opens_an_incident_of_its_type(
    clean_database: Driver, reader: Reader, source: Callable[..., list[QualityResult]], rule: str, type_: str
) -> None:
    """The check of a batch run and of micro-batch 1 failed; that of another run and of micro-batch 0 passed."""
    passed, failing = tuple(source(passed=True)), tuple(source(passed=False))
    stream = Stream("enrich")
    for batch, results in enumerate((passed, failing)):
        read = kafka_use("raw", {0: (batch * 10, batch * 10 + 10)}, EXACT)
        stream.entries.append(Entry(batch, (read,), (files_use("/lake/orders", [f"part-{batch}"]),), quality=results))
    store(
        clean_database,
        [
            *stream.events(),
            ran("good", [RAW], [files_use("/lake/orders", ["a"])], 0, quality=passed),
            ran("bad", [RAW], [files_use("/lake/orders", ["b"])], 10, quality=failing),
        ],
    )
    detection = found(reader)
    assert {(each.part, each.rule, each.type) for each in detection.faults} == {
        (f"query {stream.query_id}, batch 1", rule, type_),
        ("run bad 10", rule, type_),
    }
    answers = [incident(reader, name, with_reach=False) for name, _ in open_all(clean_database, reader, detection)]
    assert sorted((each.brief.type, each.brief.scope) for each in answers) == [
        (type_, (f"query {stream.query_id}, batch 1",)),
        (type_, ("run bad 10",)),
    ]
    of_rule = '[[open]]\nfault = "ASSERTION"\nrules = ["{}"]\n'
    for rules, entry in ((rule, 1), ("VOLUME", None)):
        chosen = parse_fault_policy(of_rule.format(rules), "p.toml")
        assert {each.entry for each in found(reader, chosen).faults} == {entry}, rules


def test_two_checks_of_one_rule_have_an_incident_each(clean_database: Driver, reader: Reader) -> None:
    """Metrics of `observe` have no column: their names tell them apart."""
    failing = tuple(observed_quality({"orders": {"not_null_id": False, "not_null_amount": False}}))
    store(clean_database, [ran("load", [RAW], [files_use("/lake/orders", ["a"])], 0, quality=failing)])
    detection = found(reader)
    assert len({each.cause for each in detection.faults}) == 2
    assert len(open_all(clean_database, reader, detection)) == 2


@pytest.mark.parametrize(
    ("source", "warned", "failing"),
    [
        (of_great_expectations, "warning", "critical"),
        (of_deequ, "Warning", "Error"),
        (of_dbt, "warn", "fail"),
        (of_soda, "warn", "fail"),
        (of_facet, "warn", "error"),
    ],
)
def test_a_warning_and_an_error_of_one_check(
    clean_database: Driver, reader: Reader, source: Callable[..., list[QualityResult]], warned: str, failing: str
) -> None:
    """Each has an incident of its own: a later warning doesn't change the severity of the error's incident."""

    def load(at: int, severity: str) -> LineageEvent:
        results = tuple(source(passed=False, severity=severity))
        return ran("load", [RAW], [files_use("/lake/orders", [f"{at}"])], at, quality=results)

    store(clean_database, [load(0, failing), load(10, warned)])
    policy = parse_fault_policy(
        '[[open]]\nfault = "ASSERTION"\nseverities = ["WARN"]\nignore = true\n'
        '[[open]]\nfault = "ASSERTION"\nseverities = ["ERROR", "CRITICAL"]\nseverity = "SEV2"\n',
        "p.toml",
    )
    outcomes = {each.part: (each.outcome, each.severity) for each in found(reader, policy).faults}
    assert outcomes == {
        "run load 0": (DetectedOutcome.NEW, "SEV2"),
        "run load 10": (DetectedOutcome.IGNORED, None),
    }
    detection = found(reader)
    opened = open_all(clean_database, reader, detection)
    briefs = [incident(reader, name, with_reach=False).brief for name, _ in opened]
    assert {each.scope: each.severity for each in briefs} == {("run load 0",): "SEV3", ("run load 10",): "SEV4"}
    (warning,) = (each for each in detection.faults if each.part == "run load 10")
    assert warning.assertion_severity == "WARN"
    assert (" (WARN)" in warning.cause, "WARN) " in warning.title) == (True, True)


def test_an_assertion_about_nothing_that_is_known(clean_database: Driver, reader: Reader) -> None:
    store(
        clean_database,
        [
            ran("wrote nothing", [RAW], [], 0, quality=outcome()),
            ran("checks another", [RAW], [], 10, quality=outcome(dataset=OTHER)),
        ],
    )
    detection = found(reader)
    assert parts(detection) == {}
    assert detection.unknown == (
        "the bad part of file:/lake/other: run checks another 10, which checked it, isn't known to use it",
        "the data that not_null in run wrote nothing 0 checked: the run has no known output",
    )


def checked_stream(failing: tuple[int, ...], batches: int = 10) -> Stream:
    stream = Stream("enrich")
    for batch in range(batches):
        read = kafka_use("raw", {0: (batch * 10, batch * 10 + 10)}, EXACT)
        written = files_use("/lake/orders", [f"part-{batch}"])
        quality = outcome(passed=batch not in failing)
        stream.entries.append(Entry(batch, (read,), (written,), quality=quality))
    return stream


def test_failed_assertions_of_micro_batches(clean_database: Driver, reader: Reader) -> None:
    """Those that follow on each other are one part. A later round adds what is new, and repeats nothing."""
    stream = checked_stream((2, 3, 7))
    store(clean_database, stream.events())
    detection = found(reader)
    cause = "assertion COMPLETENESS not_null of file:/lake/orders by jobs/enrich"
    query = f"query {stream.query_id}"
    assert parts(detection) == {cause: [f"{query}, batch {number}" for number in (7, 3, 2)]}
    [(name, _)] = open_all(clean_database, reader, detection)
    assert list(incident(reader, name, with_reach=False).brief.scope) == [f"{query}, batches 2..4", f"{query}, batch 7"]
    assert {each.outcome for each in found(reader).faults} == {DetectedOutcome.KNOWN}
    more = checked_stream((2, 3, 4, 7))
    more.entries = [Entry(4, *_of(more, 4), quality=outcome(), emitted=1)]
    store(clean_database, more.events())
    again = found(reader)
    assert parts(again) == {cause: [f"{query}, batch 4"]}
    assert open_all(clean_database, reader, again) == [(name, True)]
    assert parts(found(reader)) == {}
    # By the start of each micro-batch.
    assert [each.part for each in found(reader, since=stream.time(7)).faults] == [f"{query}, batch 7"]
    assert found(reader, since=stream.time(8)).faults == ()


def _of(stream: Stream, batch: int) -> tuple[tuple[DatasetUse, ...], tuple[DatasetUse, ...]]:
    entry = stream.entries[batch]
    return entry.inputs, entry.outputs


def chained(name: str, *ranges: tuple[int, int, int]) -> Stream:
    """A query of batches, each with start and end offset."""
    stream = Stream(name)
    for batch, start, end in ranges:
        read = kafka_use(f"of {name}", {0: (start, end)}, EXACT)
        stream.entries.append(Entry(batch, (read,), (files_use(f"/lake/{name}", [f"{batch}"]),)))
    return stream


def test_gaps_and_overlaps(clean_database: Driver, reader: Reader) -> None:
    """Missing micro-batches are no fault of their data that is known."""
    gap = chained("gap", (0, 0, 10), (1, 11, 20), (2, 20, 30))
    overlap = chained("overlap", (0, 0, 10), (1, 9, 20))
    sound = chained("sound", (0, 0, 10), (1, 10, 20))
    missing = chained("missing", (0, 0, 10), (2, 20, 30))
    store(clean_database, [event for each in (gap, overlap, sound, missing) for event in each.events()])
    detection = found(reader)
    assert parts(detection) == {
        f"gap in query {gap.query_id}": [f"query {gap.query_id}, batch 1"],
        f"overlap in query {overlap.query_id}": [f"query {overlap.query_id}, batch 1"],
    }
    assert detection.unknown == ("whether 1 missing micro-batches of query missing skipped or repeated offsets",)
    assert {each.type for each in detection.faults} == {"BROKEN_CHAIN"}
    (of_gap,) = (each for each in detection.faults if each.cause.startswith("gap"))
    assert set(of_gap.datasets) == {"kafka://k/of gap", "file:/lake/gap"}
    open_all(clean_database, reader, detection)
    assert parts(found(reader)) == {}
    assert found(reader, since=gap.time(2)).faults == ()


def test_failed_runs_that_had_committed(clean_database: Driver, reader: Reader) -> None:
    named = DatasetUse(dataset=ORDERS)
    committed = files_use("/lake/orders", ["a"])
    store(
        clean_database,
        [
            failed("wrote", (committed,), 0),
            failed("published", (named,), 10, publication=PublicationState.PARTIAL),
            failed("aborted", (committed,), 20, kind=RunEventType.ABORT),
            # Nearly: nothing committed; it completed; it only runs, and named its output before it failed.
            failed("named", (named,), 30),
            ran("complete", [RAW], [committed], 40),
            failed("runs", (committed,), 50, kind=RunEventType.RUNNING),
            failed("announced", (named,), 60, kind=RunEventType.RUNNING),
            failed("announced", (named,), 60),
            failed("staged", (committed,), 70, publication=PublicationState.UNPUBLISHED),
        ],
    )
    detection = found(reader)
    assert parts(detection) == {
        "failure after a commit of jobs/aborted": ["run aborted 20"],
        "failure after a commit of jobs/published": ["run published 10"],
        "failure after a commit of jobs/wrote": ["run wrote 0"],
    }
    assert {(each.type, each.datasets) for each in detection.faults} == {("FAILED_RUN", ("file:/lake/orders",))}
    open_all(clean_database, reader, detection)
    assert parts(found(reader)) == {}
    assert {each.part for each in found(reader, since=seconds(25)).faults} == {"run aborted 20"}
    assert found(reader, since=seconds(26)).faults == ()


def test_a_failed_micro_batch_that_had_committed_a_version(clean_database: Driver, reader: Reader) -> None:
    """The versions that it wrote are the parts, not all micro-batches of its run."""
    stream = chained("sink", (0, 0, 10), (1, 10, 20))
    body = RunEvent(
        type=RunEventType.FAIL,
        processing_type=ProcessingType.STREAMING,
        outputs=(version(ORDERS, 7), files_use("/lake/other", ["a"])),
        publication=PublicationState.PARTIAL,
        query_id=stream.query_id,
        started_at=BEGIN,
        ended_at=seconds(30),
    )
    job, run = JobRef("jobs", "sink"), RunRef(stream.run_id(0))
    event = lineage_event(body, job=job, run=run, producer="test", event_time=seconds(30))
    store(clean_database, [*stream.events(), event])
    assert parts(found(reader)) == {"failure after a commit of jobs/sink": ["dataset file:/lake/orders, version 7"]}


def test_versions_that_no_known_run_wrote(clean_database: Driver, reader: Reader) -> None:
    """The part is the version itself where it is known, because somebody read it; else the first one upon it."""
    estate = Estate(clean_database, reader)
    unread, read, sound = (DatasetRef("n", name) for name in ("unread", "read", "sound"))
    for dataset, numbers in ((unread, (5, 6, 8)), (read, (5, 6, 8)), (sound, (5, 6, 7))):
        for day, number in enumerate(numbers):
            estate.ran(JobRef("f", dataset.name), writes=[version(dataset, number)], day=day)
    estate.ran(JobRef("f", "reader"), reads=[version(read, 7)], writes=[OTHER], day=1)
    store(clean_database, estate.events)
    detection = found(reader, since=EARLY)
    assert parts(detection) == {
        "versions of n/read from outside": ["dataset n/read, version 7"],
        "versions of n/unread from outside": ["dataset n/unread, version 8"],
    }
    assert {each.type for each in detection.faults} == {"CUSTOM"}
    opened = open_all(clean_database, reader, detection, DAY + timedelta(days=5))
    reaches = [incident(reader, name).reach for name, _ in opened]
    assert [[each.certainty for each in reach.scope] for reach in reaches if reach is not None] == [[EXACT], [EXACT]]
    assert parts(found(reader)) == {}
    # Version 7 becomes known later, and is no new fault.
    late = Estate(clean_database, reader)
    late.ran(JobRef("f", "late reader"), reads=[version(unread, 7)], writes=[OTHER], day=3)
    store(clean_database, late.events)
    assert parts(found(reader)) == {}
    assert found(reader, since=DAY + timedelta(days=2, minutes=2)).faults == ()


def declare(driver: Driver, reader: Reader, *declarations: DeclarationEvent) -> None:
    estate = Estate(driver, reader)
    estate.declared(*declarations)
    store(driver, estate.events)


def test_late_datasets(clean_database: Driver, reader: Reader) -> None:
    """Fresh until the second. A failed run is no complete write, and what isn't known is not fresh."""
    of_consumer, failing, unknown = (DatasetRef("file", f"/lake/{name}") for name in ("read", "failing", "unknown"))
    store(
        clean_database,
        [
            ran("load", [RAW], [files_use("/lake/orders", ["a"])], 0),
            ran("load", [RAW], [files_use("/lake/orders", ["b"])], 100),
            ran("read", [RAW], [files_use("/lake/read", ["a"])], 100),
            ran("failing", [RAW], [files_use("/lake/failing", ["a"])], 50),
            failed("failing", (DatasetUse(dataset=failing),), 100),
            failed("unknown", (files_use("/lake/unknown", ["a"]),), 100),
        ],
    )
    promised = 60
    declare(
        clean_database,
        reader,
        DeclarationEvent(set="s", dataset=ORDERS, freshness_seconds=promised),
        DeclarationEvent(set="s", dataset=of_consumer, freshness_seconds=10_000),
        DeclarationEvent(set="s", consumer="board", reads=(DatasetRead(of_consumer),), freshness_seconds=promised),
        DeclarationEvent(set="s", dataset=failing, freshness_seconds=promised),
        DeclarationEvent(set="s", dataset=unknown, freshness_seconds=promised),
    )
    # The runs at 100 ended at 105, that at 50 at 55.
    fresh = found(reader, now=seconds(55 + promised))
    assert {each.part for each in fresh.faults if each.fault == "STALE"} == set()
    assert fresh.unknown == ("whether file:/lake/unknown is fresh: no complete write is known",)
    one_late = found(reader, now=seconds(55 + promised + 1))
    assert list(parts(_only_late(one_late))) == ["freshness of file:/lake/failing"]
    late = _only_late(found(reader, now=seconds(105 + promised + 1)))
    assert parts(late) == {
        "freshness of file:/lake/failing": ["dataset file:/lake/failing, processed before 2025-01-01T00:00:55.000001Z"],
        "freshness of file:/lake/orders": ["dataset file:/lake/orders, processed before 2025-01-01T00:01:45.000001Z"],
        "freshness of file:/lake/read": ["dataset file:/lake/read, processed before 2025-01-01T00:01:45.000001Z"],
    }
    titles = {each.title for each in late.faults}
    assert "file:/lake/read is late: its declared freshness for board is 1 minute" in titles
    # Missed before the look-back: opens nothing, and is listed.
    before = found(reader, since=seconds(105 + promised), now=LATER)
    assert before.earlier == ("file:/lake/failing",)
    assert len(_only_late(before).faults) == 2


def _only_late(detection: Detection) -> Detection:
    return replace(detection, faults=tuple(each for each in detection.faults if each.fault == "STALE"))


def test_lateness_of_a_stream_is_that_of_its_micro_batches(clean_database: Driver, reader: Reader) -> None:
    """A run that reports that it lives writes nothing; a new write ends the lateness, and the next is another part."""
    stream = chained("orders", (0, 0, 10), (1, 10, 20))
    alive = RunEvent(type=RunEventType.RUNNING, processing_type=ProcessingType.STREAMING, query_id=stream.query_id)
    job, run = JobRef("jobs", "orders"), RunRef(stream.run_id(0))
    store(
        clean_database,
        [*stream.events(), lineage_event(alive, job=job, run=run, producer="test", event_time=seconds(500))],
    )
    declare(clean_database, reader, DeclarationEvent(set="s", dataset=ORDERS, freshness_seconds=60))
    # Batch 1 began at 10 and took 9 seconds.
    assert found(reader, now=seconds(79)).faults == ()
    late = found(reader, now=seconds(80))
    cause = "freshness of file:/lake/orders"
    assert parts(late) == {cause: ["dataset file:/lake/orders, processed before 2025-01-01T00:00:19.000001Z"]}
    [(name, _)] = open_all(clean_database, reader, late)
    assert parts(found(reader, now=seconds(500))) == {}
    more = chained("orders", (2, 20, 30))
    store(clean_database, more.events())
    assert found(reader, now=seconds(89)).faults == ()
    again = found(reader, now=seconds(90))
    assert parts(again) == {cause: ["dataset file:/lake/orders, processed before 2025-01-01T00:00:29.000001Z"]}
    assert open_all(clean_database, reader, again) == [(name, True)]


def test_what_was_resolved_stays_so_and_a_new_bad_run_opens_another(clean_database: Driver, reader: Reader) -> None:
    def bad(at: int) -> LineageEvent:
        return ran("load", [RAW], [files_use("/lake/orders", [f"{at}"])], at, quality=outcome())

    store(clean_database, [bad(0)])
    [(first, _)] = open_all(clean_database, reader, found(reader))
    store(clean_database, [bad(10)])
    extended = found(reader)
    assert list(parts(extended).values()) == [["run load 10"]]
    assert open_all(clean_database, reader, extended) == [(first, True)]
    # Somebody takes a part out: it doesn't come back.
    removed, after = (IncidentScope(run="load 10"),), LATER + timedelta(minutes=1)
    store(clean_database, [act(IncidentAction.SCOPE_CHANGED, of=first, at=after, removed=removed)])
    assert parts(found(reader)) == {}
    resolution = {"resolution": IncidentResolution.FALSE_POSITIVE, "reason": "r"}
    store(clean_database, [act(IncidentAction.RESOLVED, of=first, at=LATER + timedelta(minutes=2), **resolution)])
    assert {each.outcome for each in found(reader).faults} == {DetectedOutcome.KNOWN}
    assert found(reader).openings == ()
    store(clean_database, [bad(20)])
    another = found(reader)
    assert list(parts(another).values()) == [["run load 20"]]
    [(second, was_open)] = open_all(clean_database, reader, another, LATER + timedelta(minutes=3))
    assert (second != first, was_open) == (True, False)
    assert list(incident(reader, second, with_reach=False).brief.scope) == ["run load 20"]


def test_the_policy_decides(clean_database: Driver, reader: Reader) -> None:
    store(
        clean_database,
        [
            ran("load", [RAW], [files_use("/lake/orders", ["a"])], 0, quality=outcome()),
            ran("other", [RAW], [files_use("/lake/other", ["a"])], 10, quality=outcome()),
            failed("wrote", (files_use("/lake/third", ["a"]),), 20),
        ],
    )
    text = (
        '[[open]]\nfault = "ASSERTION"\ndatasets = ["*/other"]\nignore = true\n'
        '[[open]]\nfault = "ASSERTION"\nseverity = "SEV2"\ntype = "CUSTOM"\nassign = "team:orders"\n'
    )
    detection = found(reader, parse_fault_policy(text, "p.toml"))
    assert {each.part: (each.outcome, each.entry) for each in detection.faults} == {
        "run load 0": (DetectedOutcome.NEW, 2),
        "run other 10": (DetectedOutcome.IGNORED, 1),
        "run wrote 20": (DetectedOutcome.NO_ENTRY, None),
    }
    (due,) = detection.openings
    assert (due.opening.severity, due.opening.type, due.assignee) == ("SEV2", "CUSTOM", "team:orders")


def test_only_the_latest_faults_of_a_kind_count(
    clean_database: Driver, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(clean_database, [failed("wrote", (files_use("/lake/orders", ["a"]),), at) for at in (0, 10)])
    monkeypatch.setattr(writes, "MOST_FAULTS", 2)
    assert found(reader).truncated == ()
    monkeypatch.setattr(writes, "MOST_FAULTS", 1)
    detection = found(reader)
    assert (parts(detection), detection.truncated) == (
        {"failure after a commit of jobs/wrote": ["run wrote 10"]},
        ("FAILED_AFTER_COMMIT",),
    )


BEHIND = """
CREATE (:HwProgress {key: 'lineage.events/0', topic: 'lineage.events', topic_id: '', partition: 0, next_offset: 7,
  end_offset: 7, at: datetime() - duration('PT2H')})
"""


def test_a_graph_that_is_behind_makes_nothing_late(clean_database: Driver, reader: Reader) -> None:
    store(clean_database, [ran("load", [RAW], [files_use("/lake/orders", ["a"])], 0)])
    declare(clean_database, reader, DeclarationEvent(set="s", dataset=ORDERS, freshness_seconds=60))
    clean_database.execute_query(BEHIND)
    detection = found(reader)
    assert detection.faults == ()
    first, second = detection.unknown
    assert first.startswith("whether 1 dataset is fresh: no consumer has reported since ")
    assert second.startswith("what is not in the graph yet: no consumer has reported since ")


def test_a_kind_that_takes_too_long_is_unknown(
    clean_database: Driver, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(clean_database, [failed("wrote", (files_use("/lake/orders", ["a"]),), 0)])

    def late(*_: Any, **__: Any) -> Any:
        raise TimeLimitError(30)

    monkeypatch.setattr(detect_faults, "broken_chains", late)
    detection = found(reader)
    assert [each.part for each in detection.faults] == ["run wrote 0"]
    assert detection.unknown == ("BROKEN_CHAIN: no answer within 30 s",)


def test_who_may_not_see_all_gets_no_answer(clean_database: Driver, target: Neo4jTarget) -> None:
    asker = Reader(clean_database, target, visible=lambda: Visible(frozenset({"dataset:file"})))
    with pytest.raises(NotFilteredError):
        found(asker)
