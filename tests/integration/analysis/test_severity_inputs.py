"""Inputs of a severity are read from the graph: each input of an asset raises, and that of another one doesn't."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.impact import ChangeType, ImpactChange, ImpactItem, SchemaChange, Severity, analyze
from headwater_analysis.impact.policy_inputs import QualityState
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    PublicationState,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    Symlink,
    build,
)
from headwater_schemas.identity import plan_digest
from support.analysis.declared_graph import declare
from support.analysis.written import plan, table
from support.gate import first_in_gate, named_in_gate
from support.graph.colliding import PRODUCER, START

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

PLAN = plan("make", "orders.id > report.id COPY", "orders.id > plain.id COPY")
EVENTS = [
    table("orders", ["id"]),
    table("report", ["id", "other"]),
    table("plain", ["id"]),
    PLAN,
    # By way of report, so that it is late by a second hop.
    plan("late", "report.id > board.id COPY"),
]
WRONG = ImpactChange("orders", "id", ChangeType.DATA_INCORRECT)
LATE = ImpactChange("orders", type=ChangeType.FRESHNESS_BREACH)
SECRET = ImpactChange("orders", "id", ChangeType.PRIVACY_RECLASSIFICATION)
GOES = ImpactChange("orders", type=ChangeType.ASSET_DEPRECATED)


def items(reader: Reader, change: ImpactChange) -> dict[str, ImpactItem]:
    return {item.asset.name: item for item in analyze(reader, change).items}


def text(**datasets: str) -> str:
    rows = "\n".join(f"  - {{name: {name}, namespace: w, {about}}}" for name, about in datasets.items())
    return f"datasets:\n{rows}\n"


def consumer(reads: str, about: str = "type: DASHBOARD, criticality: tier-1") -> str:
    return f"consumers: [{{name: sales, {about}, reads: [{reads}]}}]\n"


def ran(
    job: str, name: str, day: int, *quality: QualityResult, publication: PublicationState = PublicationState.PUBLISHED
) -> LineageEvent:
    at = START + timedelta(days=day)
    body = RunEvent(
        type=RunEventType.COMPLETE,
        ended_at=at,
        outputs=(DatasetUse(dataset=DatasetRef("w", name)),),
        plan_digest=digest_of(job),
        publication=publication,
        quality=quality,
    )
    return build.lineage_event(
        body, job=JobRef("j", job), run=RunRef(f"{job}-{name}-{day}"), producer=PRODUCER, event_time=at
    )


def digest_of(job: str) -> str:
    event = {"make": PLAN, "late": EVENTS[-1]}[job].plan_event
    assert event is not None
    return plan_digest(event.lineage)


DECLARED = {
    "criticality of the dataset": (WRONG, text(report="criticality: tier-1"), "CRITICAL", "criticality tier-1"),
    "criticality of the job": (
        LATE,
        "jobs: [{name: late, namespace: j, criticality: high}]\n",
        {"board": "BLOCKING"},
        "made by late (high)",
    ),
    "a consumer of the dataset": (
        WRONG,
        consumer("{namespace: w, name: report}"),
        "CRITICAL",
        "read by dashboard 'sales' (tier-1)",
    ),
    "a consumer of the column": (
        WRONG,
        consumer("{dataset: {namespace: w, name: report}, columns: [id]}"),
        "CRITICAL",
        "read by dashboard 'sales' (tier-1)",
    ),
    "a deadline": (LATE, text(report="deadline: 06:00 UTC"), "CRITICAL", "deadline 06:00 UTC"),
    "a consumer's deadline": (
        LATE,
        consumer("{namespace: w, name: report}", "type: REPORT, deadline: 08:00 UTC"),
        "CRITICAL",
        "read by report 'sales' (deadline 08:00 UTC)",
    ),
    "freshness": (LATE, text(board="freshness: 2h"), {"board": "BLOCKING"}, "no older than 2 hours"),
    "sensitivity of the dataset": (SECRET, text(report="sensitivity: PUBLIC"), "CRITICAL", "declared PUBLIC"),
    "sensitivity of the column": (
        SECRET,
        text(report="sensitivity: INTERNAL, columns: {id: {sensitivity: PUBLIC}}"),
        "CRITICAL",
        "declared PUBLIC",
    ),
    "classification": (SECRET, text(report="classification: open"), "CRITICAL", "classified open"),
}


RAISES = {"criticality of the dataset", "a consumer's deadline", "sensitivity of the column"}
"""In the gate: of a dataset, a consumer and a column. Each rule: tests/unit/analysis/test_impact_raises.py."""


@pytest.mark.parametrize("name", named_in_gate(RAISES, DECLARED, str))
def test_what_is_declared_raises(clean_database: Driver, reader: Reader, name: str) -> None:
    change, declared, to, because = DECLARED[name]
    declare(clean_database, "", more=EVENTS)
    before = {each: item.severity for each, item in items(reader, change).items()}
    declare(clean_database, declared, revision=2)
    after = items(reader, change)
    raised = to if isinstance(to, dict) else {"report": to}
    assert {each: item.severity for each, item in after.items()} == {**before, **raised}
    for each in raised:
        decision = after[each].decision
        assert (decision.by_rule, decision.because) == (before[each], (because,))
        assert decision.text == f"raised from {before[each]} to {raised[each]}: {because}"
    assert all(item.decision.raised_by is None for each, item in after.items() if each not in raised)


NEARLY = {
    "another dataset": (WRONG, text(orders="criticality: tier-1")),
    "a consumer of another column": (
        WRONG,
        consumer("{dataset: {namespace: w, name: report}, columns: [other]}"),
    ),
    "a deadline of another": (LATE, text(orders="deadline: 06:00 UTC")),
    "sensitivity of another column": (SECRET, text(report="columns: {other: {sensitivity: PUBLIC}}")),
}


@pytest.mark.parametrize("name", named_in_gate({"sensitivity of another column"}, NEARLY, str))
def test_what_is_declared_of_another_does_not(clean_database: Driver, reader: Reader, name: str) -> None:
    change, declared = NEARLY[name]
    declare(clean_database, declared, more=EVENTS)
    assert all(item.decision.raised_by is None for item in items(reader, change).values())


def test_a_withdrawn_declaration_raises_nothing(clean_database: Driver, reader: Reader) -> None:
    declare(clean_database, text(report="criticality: tier-1"), more=EVENTS)
    declare(clean_database, "", revision=2)
    assert items(reader, WRONG)["report"].severity is Severity.TAINTED


@pytest.mark.parametrize(("last", "severity"), [(PublicationState.UNPUBLISHED, "BLOCKING"), (None, "TAINTED")])
def test_what_the_latest_run_published(
    clean_database: Driver, reader: Reader, last: PublicationState | None, severity: str
) -> None:
    """An older run that published nothing decides nothing."""
    first = PublicationState.UNPUBLISHED if last is None else PublicationState.PUBLISHED
    runs = [ran("make", "report", 1, publication=first), ran("make", "plain", 1)]
    runs.append(ran("make", "report", 2, publication=last or PublicationState.PUBLISHED))
    declare(clean_database, "", more=[*EVENTS, *runs])
    found = items(reader, WRONG)
    assert {name: item.severity for name, item in found.items() if name != "board"} == {
        "report": severity,
        "plain": "TAINTED",
    }
    assert found["report"].decision.inputs.publication == (last or PublicationState.PUBLISHED)


@pytest.mark.parametrize("days", first_in_gate(1, [(1, 2), (2, 1)]))
def test_the_latest_run_under_any_name_of_the_dataset(
    clean_database: Driver, reader: Reader, days: tuple[int, int]
) -> None:
    """`report` and `report_again` are one; of its two runs the one under the other name published nothing."""
    symlink = (Symlink("kafka://cluster", "report", "TOPIC"),)
    named = [
        build.lineage_event(
            DatasetEvent(dataset=DatasetRef("w", name), symlinks=symlink), producer=PRODUCER, event_time=START
        )
        for name in ("report", "report_again")
    ]
    here, there = days
    runs = [ran("make", "report", here)]
    runs.append(ran("late", "report_again", there, publication=PublicationState.UNPUBLISHED))
    declare(clean_database, "", more=[*EVENTS, *named, *runs])
    report = items(reader, WRONG)["report"]
    assert report.severity == ("BLOCKING" if there > here else "TAINTED")
    assert report.decision.inputs.publication == ("UNPUBLISHED" if there > here else "PUBLISHED")


@pytest.mark.parametrize(("passed", "severity"), [(False, "TAINTED"), (True, "WARNING")])
def test_what_the_latest_checks_found(clean_database: Driver, reader: Reader, passed: bool, severity: str) -> None:
    """Wrong values make a WARNING of a mere count; the dataset's own checks decide."""
    counted = plan("late", "report.id > board.n AGGREGATE!")
    checks = [QualityResult(assertion="few", passed=True), QualityResult(assertion="many", passed=passed)]
    at = START + timedelta(days=1)
    outputs = (DatasetUse(dataset=DatasetRef("w", "board")),)
    body = RunEvent(type=RunEventType.COMPLETE, ended_at=at, outputs=outputs, quality=tuple(checks))
    run = build.lineage_event(body, job=JobRef("j", "late"), run=RunRef("1"), producer=PRODUCER, event_time=at)
    declare(clean_database, "", more=[*EVENTS[:-1], counted, run])
    board = items(reader, WRONG)["board"]
    assert board.severity == severity
    assert board.decision.inputs.quality is (QualityState.PASSED if passed else QualityState.FAILED)
    assert board.decision.inputs.failed == (() if passed else ("many",))


def test_every_input_is_shown_whether_it_changed_anything_or_not(clean_database: Driver, reader: Reader) -> None:
    about = "criticality: tier-2, deadline: 06:00 UTC, freshness: 1d, sensitivity: INTERNAL, classification: ours"
    declared = text(report=about) + consumer("{namespace: w, name: report}", "type: MODEL")
    declared += "jobs: [{name: make, namespace: j, criticality: low}]\n"
    few = QualityResult(assertion="few", passed=True)
    declare(clean_database, declared, more=[*EVENTS, ran("make", "report", 1, few)])
    impact = analyze(reader, ImpactChange("orders", "id", schema=SchemaChange.REMOVED))
    item = next(each for each in impact.items if (each.asset.name, each.asset.column) == ("report", "id"))
    known = (
        "criticality tier-2; made by make (low); read by model 'sales'; deadline 06:00 UTC; no older than 1 day; "
        "declared INTERNAL; classified ours; latest run PUBLISHED; latest checks passed"
    )
    assert item.decision.text == ""
    assert f"| id of report | BREAKING | {known} |" in impact.summary
    assert [(job.job.name, job.criticality) for job in impact.jobs if job.job.name == "make"] == [("make", "low")]
    assert "### Whom to notify\n\n- `sales`: model" in impact.summary
