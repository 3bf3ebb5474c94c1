"""Rules over time: since when something differs, and what mends it; exemptions, pages, the command and its reports.

What each rule finds, and what it nearly finds, is in test_checks_pairs.py.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from headwater.cli import main
from headwater_analysis.checks import RULES, Exemption, check, rule_named
from headwater_analysis.errors import QuestionError
from headwater_analysis.reader import Reader, Transaction
from headwater_graph.write.retention import retire
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    JobEvent,
    JobRef,
    Owner,
    QualityResult,
    RetentionEvent,
    RetentionMode,
    RunEventType,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
)
from support.analysis.paging import pages
from support.graph.estate import DAY, LOAD, NOW, ORDERS, OTHER, READ, REPORT, Estate, lineage, schema

if TYPE_CHECKING:
    from neo4j import Driver, Record

pytestmark = pytest.mark.stack

BOTH_LAYOUTS = pytest.mark.usefixtures("layout")
"""For worlds that have micro-batches: nothing else is kept in segments."""


@pytest.fixture
def estate(clean_database: Driver, reader: Reader) -> Estate:
    return Estate(clean_database, reader)


@pytest.mark.nightly
@BOTH_LAYOUTS
def test_a_stream_that_wrote_and_reports_no_code_version(estate: Estate) -> None:
    # What it wrote is known by its micro-batches alone.
    estate.batch(0, start=0, end=10)
    estate.ran(LOAD, kind=RunEventType.RUNNING, run="stream-1")
    assert estate.subjects("runs-without-code-version") == []
    estate.ran(READ, versions=None, kind=RunEventType.RUNNING, run="stream-2")
    estate.batch(0, start=0, end=10, job=READ, run="stream-2", query="q2")
    assert estate.subjects("runs-without-code-version") == ["f/read"]
    estate.add(RetentionEvent(before=NOW, mode=RetentionMode.SUMMARIZE), NOW, LOAD)
    assert estate.subjects("runs-without-code-version") == ["f/read"]
    assert retire(estate.driver, None, lambda _moved, _left: None).micro_batches
    assert estate.subjects("runs-without-code-version") == ["f/read"]


@pytest.mark.nightly
def test_a_run_that_is_open_too_long(estate: Estate) -> None:
    estate.ran(LOAD, reads=[ORDERS], day=29, kind=RunEventType.RUNNING)
    assert estate.subjects("runs-open-too-long") == []
    (finding,) = estate.check("runs-open-too-long", open_after=timedelta(hours=23)).findings
    assert finding.subject.name == "f/load"
    estate.ran(LOAD, reads=[ORDERS], day=29)
    assert estate.subjects("runs-open-too-long", open_after=timedelta(0)) == []


@pytest.mark.nightly
def test_failed_quality_of_a_batch_write(estate: Estate) -> None:
    bad, good = (QualityResult(assertion="few", passed=passed) for passed in (False, True))
    estate.ran(LOAD, writes=[ORDERS], quality=[good], run="load-0")
    estate.ran(READ, reads=[ORDERS])
    assert estate.subjects("failed-quality") == []
    # A run of which nothing was committed made nothing bad.
    estate.ran(LOAD, writes=[ORDERS], quality=[bad], day=1, kind=RunEventType.FAIL)
    # What is asserted of another dataset says nothing of this one, and what isn't written has no unnamed outcome.
    other = QualityResult(assertion="few", passed=False, dataset=OTHER)
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS], quality=[good, other], day=2)
    estate.ran(READ, reads=[ORDERS], quality=[bad], day=2)
    assert estate.subjects("failed-quality") == []
    estate.ran(LOAD, writes=[ORDERS], quality=[bad, good], day=3)
    (finding,) = estate.check("failed-quality").findings
    assert (finding.subject.name, finding.since) == ("n/orders", DAY + timedelta(days=3, minutes=1))
    assert finding.message.startswith("An assertion failed in run load-3 of job f/load, and none passed since; 1 jobs")
    # Without assertions it is as it was.
    estate.ran(LOAD, writes=[ORDERS], day=4)
    assert estate.subjects("failed-quality") == ["n/orders"]
    estate.ran(LOAD, writes=[ORDERS], quality=[good], day=5)
    assert estate.subjects("failed-quality") == []
    # A suite of another tool reads what it checks.
    suite = JobRef("f", "suite")
    estate.ran(suite, reads=[ORDERS], quality=[QualityResult(assertion="u", passed=False, dataset=ORDERS)], day=6)
    assert estate.subjects("failed-quality") == ["n/orders"]
    assert estate.check("failed-quality", exemptions=[exemption("n/orders", rule="failed-quality")]).exempted == 1


@pytest.mark.nightly
def test_drift_of_datasets(estate: Estate) -> None:
    declared = DeclarationEvent(set="s", job=LOAD, inputs=(OTHER,), outputs=(ORDERS,))
    estate.declared(declared)
    estate.ran(LOAD, reads=[OTHER], writes=[ORDERS, REPORT], day=1)
    # Another that declares nothing drifts from nothing.
    estate.ran(READ, reads=[ORDERS], writes=[REPORT])
    (finding,) = estate.check("drift-of-datasets").findings
    assert finding.message == "It was observed to write n/report, but this isn't declared."
    assert finding.since is not None
    estate.declared(DeclarationEvent(set="t", job=READ, inputs=(ORDERS, OTHER)), day=7)
    since = {each.message: each.since for each in estate.check("drift-of-datasets").findings}
    assert len(since) == 2
    # The job ran before: it differs since the declaration.
    assert since["It is declared to read n/other, but this was never observed."] == DAY + timedelta(days=7)


@pytest.mark.nightly
def test_drift_of_columns(estate: Estate) -> None:
    estate.declared(
        DeclarationEvent(set="s", job=LOAD, inputs=(ORDERS,), outputs=(REPORT,), lineage=lineage(("a", "x")))
    )
    estate.ran(LOAD, reads=[ORDERS], writes=[REPORT], plan=lineage(("a", "x"), ("b", "y")))
    estate.ran(LOAD, reads=[ORDERS], writes=[REPORT], day=1, plan=lineage(("c", "x")))
    (finding,) = estate.check("drift-of-columns").findings
    assert finding.message == (
        "n/report#x is made from other columns than declared (observed and not declared: n/orders#c)."
    )
    # Since it differs, and not since the first plan, which didn't.
    assert finding.since == DAY + timedelta(days=1)
    estate.ran(READ, reads=[ORDERS], writes=[OTHER], plan=lineage(("a", "x"), target=OTHER))
    stated = lineage(("a", "x"), ("b", "x"), target=OTHER)
    estate.declared(DeclarationEvent(set="r", job=READ, inputs=(ORDERS,), outputs=(OTHER,), lineage=stated), day=6)
    (late,) = [each for each in estate.check("drift-of-columns").findings if each.id != finding.id]
    assert (
        late.message == "n/other#x is made from other columns than declared (declared and never observed: n/orders#b)."
    )
    assert late.since == DAY + timedelta(days=6)


@pytest.mark.nightly
@pytest.mark.parametrize("format_", ["dbt", "odcs"])
def test_drift_of_what_a_contract_declares(estate: Estate, format_: str) -> None:
    """Nothing runs by the name of the job that a contract or a dbt project declares: its datasets do."""
    contract = JobRef(format_, "report")
    table = estate.called(REPORT, "shop.report")
    declared = DeclarationEvent(
        set="c",
        job=contract,
        owners=(Owner("team:x"),),
        inputs=(ORDERS,),
        outputs=(table,),
        lineage=lineage(("a", "x"), target=table),
    )
    estate.declared(declared, format_=format_)
    assert estate.subjects("drift-of-datasets") == []  # nothing was observed to write it
    estate.ran(LOAD, reads=[ORDERS], writes=[REPORT], plan=lineage(("a", "x")))
    assert estate.subjects("drift-of-datasets") == []
    assert estate.subjects("drift-of-columns") == []
    estate.ran(LOAD, reads=[ORDERS, OTHER], writes=[REPORT], day=2, plan=lineage(("b", "x")))
    (finding,) = estate.check("drift-of-datasets").findings
    assert (finding.subject.name, finding.subject.owners) == (f"{format_}/report", ("team:x",))
    assert finding.message == ("n/report (shop.report) was observed to be made from n/other, but this isn't declared.")
    assert finding.since is not None
    assert finding.since.date() == (DAY + timedelta(days=2)).date()
    (finding,) = estate.check("drift-of-columns").findings
    assert finding.message == (
        "n/report (shop.report)#x is made from other columns than declared (observed and not declared: n/orders#b)."
    )
    assert finding.since is not None
    assert finding.since.date() == (DAY + timedelta(days=2)).date()
    # What goes through a view is observed to be made from what the view is made from.
    view = DatasetRef("n", "view")
    estate.declared(
        DeclarationEvent(set="v", job=JobRef(format_, "view"), inputs=(OTHER,), outputs=(view,)),
        DeclarationEvent(set="v", job=JobRef(format_, "of view"), inputs=(view, ORDERS), outputs=(REPORT,)),
        format_=format_,
    )
    assert estate.subjects("drift-of-datasets") == [f"{format_}/report"]
    # A file of Headwater's own names jobs that run: one that never did drifts from nothing.
    other = DeclarationEvent(set="o", job=JobRef("own", "report"), inputs=(DatasetRef("n", "x"),), outputs=(REPORT,))
    estate.declared(other)
    assert {each.subject.name for each in estate.check("drift-of-datasets").findings} == {f"{format_}/report"}


@pytest.mark.nightly
def test_drift_of_a_schema(estate: Estate) -> None:
    schema(estate, ORDERS, "a", "b")
    columns = tuple(DeclaredColumn(path=path) for path in ("a", "b"))
    estate.declared(DeclarationEvent(set="c", dataset=ORDERS, owners=(Owner("team:x"),), columns=columns))
    assert estate.subjects("drift-of-schemas") == []
    left = SchemaDefinition(fields=(SchemaField(path="a", type="string"),))
    estate.add(DatasetEvent(dataset=ORDERS, schema=left), DAY + timedelta(days=3))
    (finding,) = estate.check("drift-of-schemas").findings
    assert (finding.subject.owners, finding.since) == (("team:x",), DAY)
    assert finding.message == "Its column b is declared by c, but has left the schema."
    # What was declared only after it had left differs since then.
    estate.declared(DeclarationEvent(set="d", dataset=REPORT, columns=columns), day=5)
    estate.add(DatasetEvent(dataset=REPORT, schema=left), DAY + timedelta(days=4))
    since = {each.subject.name: each.since for each in estate.check("drift-of-schemas").findings}
    assert since == {"n/orders": DAY, "n/report": DAY + timedelta(days=5)}


@pytest.mark.nightly
def test_drift_of_a_type(estate: Estate) -> None:
    columns = (DeclaredColumn(path="a", type="varchar(9)"), DeclaredColumn(path="B", type="bigint"))
    estate.declared(DeclarationEvent(set="c", dataset=ORDERS, owners=(Owner("team:x"),), columns=columns))

    def reported(day: int, *types: str) -> None:
        fields = tuple(SchemaField(path=path, type=type_) for path, type_ in zip("ab", types, strict=True))
        estate.add(DatasetEvent(dataset=ORDERS, schema=SchemaDefinition(fields=fields)), DAY + timedelta(days=day))

    reported(0, "string", "bigint")
    assert estate.subjects("drift-of-schemas") == []
    reported(3, "string", "string")
    reported(4, "int", "string")
    found = estate.check("drift-of-schemas")
    assert [(each.message, each.since) for each in found.findings] == [
        ("Its column B is declared by c as bigint, but its type is string.", DAY + timedelta(days=3)),
        ("Its column a is declared by c as varchar(9), but its type is int.", DAY + timedelta(days=4)),
    ]
    assert (found.total, found.findings[0].subject.owners) == (2, ("team:x",))
    # Two sets that declare one type are one finding; of another type it is another.
    more = (DeclaredColumn(path="B", type="bigint"), DeclaredColumn(path="a", type="string"))
    estate.declared(DeclarationEvent(set="d", dataset=estate.called(ORDERS, "shop.orders"), columns=more), day=9)
    (first, *others) = estate.check("drift-of-schemas").findings
    assert first.message == "Its column B is declared by c, d as bigint, but its type is string."
    assert [(each.message, each.since) for each in others] == [
        ("Its column a is declared by d as string, but its type is int.", DAY + timedelta(days=9)),
        ("Its column a is declared by c as varchar(9), but its type is int.", DAY + timedelta(days=4)),
    ]
    assert estate.check("drift-of-schemas", limit=1, cursor=None).total == 3
    reported(10, "string", "bigint")
    assert estate.subjects("drift-of-schemas") == []


def test_owners_are_those_that_are_declared_else_those_of_events(estate: Estate) -> None:
    for name in ("one", "two"):
        estate.add(JobEvent(owners=(Owner(name="of-events"),)), job=JobRef("f", name))
    estate.add(JobEvent(), job=JobRef("f", "three"))
    estate.declared(DeclarationEvent(set="s", job=JobRef("f", "two"), owners=(Owner(name="declared"),)))
    owners = {each.subject.name: each.subject.owners for each in estate.check("orphan-jobs").findings}
    assert owners == {"f/one": ("of-events",), "f/two": ("declared",), "f/three": ()}


@pytest.mark.nightly
def test_owners_of_a_dataset_are_those_of_all_its_names(estate: Estate) -> None:
    schema(estate, ORDERS, "a")
    schema(estate, OTHER, "a")
    table = estate.called(ORDERS, "shop.orders")
    estate.add(DatasetEvent(dataset=estate.called(OTHER, "shop.other"), owners=(Owner("of-events"),)))
    estate.declared(DeclarationEvent(set="s", dataset=table, owners=(Owner(name="declared"),)))
    found = {each.subject.name: each.subject for each in estate.check("orphan-datasets").findings}
    assert {name: each.owners for name, each in found.items()} == {
        "n/orders": ("declared",),
        "n/other": ("of-events",),
    }
    assert found["n/orders"].table == "shop.orders"


@pytest.mark.nightly
@pytest.mark.parametrize("restricted", ["email", "phone"])
def test_of_several_sensitive_sources_one_is_named_with_its_own_word(estate: Estate, restricted: str) -> None:
    schema(estate, REPORT, "contact")
    estate.ran(LOAD, reads=[ORDERS], writes=[REPORT], plan=lineage(("email", "contact"), ("phone", "contact")))
    words = {name: Sensitivity.RESTRICTED if name == restricted else Sensitivity.PII for name in ("email", "phone")}
    columns = tuple(DeclaredColumn(path=name, sensitivity=word) for name, word in words.items())
    estate.declared(DeclarationEvent(set="s", dataset=ORDERS, columns=columns))
    (finding,) = estate.check("sensitive-downstream").findings
    assert finding.message in {
        f"contact is made from n/orders#{name}, which is {word.value}, and has no sensitivity or classification."
        for name, word in words.items()
    }


def exemption(subject: str, until: datetime = NOW, rule: str = "orphan-jobs") -> Exemption:
    return Exemption(rule, subject, "meant so", "team:x", until.date(), line=2)


def test_exemptions_hold_until_their_day_and_are_missed_where_they_exempt_nothing(estate: Estate) -> None:
    for name in ("one", "two", "three"):
        estate.add(JobEvent(), job=JobRef("f", name))
    estate.ran(LOAD, writes=[ORDERS])
    found = estate.check("orphan-jobs", exemptions=[exemption("f/one"), exemption("two", NOW - timedelta(days=1))])
    assert {each.subject.name for each in found.findings} == {"f/two", "f/three"}
    assert (found.total, found.exempted) == (2, 1)
    given = [exemption("f/one"), exemption("two", NOW - timedelta(days=1)), exemption("load"), exemption("nothing")]
    unused = check(estate.reader, NOW, rules=[rule_named("orphan-jobs")], exemptions=given).unused
    assert [(each.subject, each.reason) for each in unused] == [
        ("two", "EXPIRED"),
        ("load", "MENDED"),
        ("nothing", "UNKNOWN_SUBJECT"),
    ]


def test_a_rule_is_asked_once_whatever_is_exempted(estate: Estate, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a large graph a rule takes seconds, and a team may have a hundred exemptions."""
    for number in range(5):
        estate.add(JobEvent(), job=JobRef("f", f"idle{number}"))
    asked: list[str] = []
    one = Transaction.one

    def counted(tx: Transaction, name: str, /, **given: Any) -> Record:
        asked.append(name)
        return one(tx, name, **given)

    monkeypatch.setattr(Transaction, "one", counted)
    found = estate.check("orphan-jobs", exemptions=[exemption(f"idle{number}") for number in range(4)])
    assert (found.total, found.exempted) == (1, 4)
    assert asked.count(rule_named("orphan-jobs").statement) == 1


def test_pages_of_a_rule_have_every_finding_once(estate: Estate) -> None:
    for number in range(5):
        estate.add(JobEvent(), job=JobRef("f", f"idle{number}"))
    found = pages(estate.check, "orphan-jobs", limit=2)
    assert {page.total for page in found} == {5}
    seen = sorted(each.subject.name for page in found for each in page.findings)
    assert seen == [f"f/idle{number}" for number in range(5)]
    with pytest.raises(QuestionError):
        check(estate.reader, NOW, cursor="x")


def test_the_command(
    estate: Estate, settings_of_stack: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    estate.add(JobEvent(), job=JobRef("f", "idle"))
    estate.check("orphan-jobs")
    report = tmp_path / "report.xml"
    assert main(["check", "--json", "--junit", str(report)]) == 5
    document = json.loads(capsys.readouterr().out)
    assert document["total"] == 1
    assert [rule["rule"] for rule in document["rules"]] == [rule.name for rule in RULES]
    root = ET.fromstring(report.read_text(encoding="utf-8"))
    assert root.attrib["failures"] == "1"
    assert [suite.attrib["name"] for suite in root] == [rule.name for rule in RULES]
    (failure,) = root.iter("failure")
    assert failure.attrib["message"] == "No dataset that it reads or writes is known."
    exempt = tmp_path / "exempt.yaml"
    exempt.write_text(
        "exemptions:\n- {rule: orphan-jobs, subject: f/idle, reason: a, owner: b, until: 2999-01-01}\n"
        "- {rule: broken-chains, subject: f/idle, reason: a, owner: b, until: 2999-01-01}\n"
    )
    both = ["--rule", "orphan-jobs", "--rule", "broken-chains"]
    assert main(["check", *both, "--exemptions", str(exempt)]) == 0
    assert "exempt.yaml:3 exempts f/idle from broken-chains without effect" in capsys.readouterr().err.replace("\n", "")
    assert main(["check", "--rule", "orphan-jobs", "--exemptions", str(exempt)]) == 0
    assert main(["check", "--rule", "orphan-job"]) == 2
    assert "orphan-jobs" in capsys.readouterr().err
    exempt.write_text("exemptions:\n- rule: orphan-jobs\n")
    assert main(["check", "--exemptions", str(exempt)]) == 2
    assert "exempt.yaml:2: until: missing" in capsys.readouterr().err.replace("\n", "")
    assert main(["check", "--exemptions", str(tmp_path / "none.yaml")]) == 2
