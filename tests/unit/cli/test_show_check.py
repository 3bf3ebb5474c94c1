"""Findings as people and CI systems get them: each is counted, beyond the limit, too."""

from __future__ import annotations

import io
from dataclasses import replace
from xml.etree import ElementTree as ET

from headwater.commands.check import junit_report, view
from headwater.console import PlainConsole
from headwater_analysis.checks import CheckedRule, Checks, Finding, Subject, rule_named


def rule(name: str, listed: int, total: int) -> CheckedRule:
    subject = Subject("JOB", "k", "n/j", ("o",))
    findings = tuple(Finding(str(number), subject, "It is so.", None) for number in range(listed))
    return CheckedRule(name, f"{name} holds", "Mend it.", total, 1, findings, None)


def test_findings_of_one_kind_are_one_line_for_people() -> None:
    def finding(number: int, message: str, owner: str) -> Finding:
        return Finding(str(number), Subject("JOB", str(number), f"n/j{number}", (owner,)), message, None)

    lacks = "Its latest column lineage is incomplete: the document has no source of some columns of"
    findings = [finding(number, f"{lacks} n/t{number}.", f"o{number % 2}") for number in range(619)]
    findings[7] = finding(7, "It writes datasets, and its column lineage is unknown.", "o2")
    rule_ = CheckedRule("lineage-incomplete", "It is whole.", "Declare it.", 700, 0, tuple(findings), "cursor")
    out = io.StringIO()
    PlainConsole(out, width=100_000, soft_wrap=True).print(view(Checks((rule_,), 700, 0)))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert len(lines) == 5
    assert "618 × n/j0, n/j1, n/j2 and 615 more" in lines[1]
    assert f"{lacks} …" in lines[1]
    assert lines[1].endswith("o0, o1")
    assert "n/j7" in lines[2]
    assert "its column lineage is unknown" in lines[2]
    assert "and 81 more" in lines[3]


def test_a_rule_of_which_not_all_is_known_never_passes() -> None:
    found = Checks((replace(rule("safe", 0, 0), unknown="what <load> may make of it"),), 0, 0)
    out = io.StringIO()
    PlainConsole(out).print(view(found))
    assert "UNKNOWN: what <load> may make of it" in out.getvalue()
    suite = ET.fromstring(junit_report(found))[0]
    assert (suite.attrib["tests"], suite.attrib["errors"], suite.attrib["failures"]) == ("1", "1", "0")
    assert suite[0][0].attrib["message"] == "UNKNOWN: what <load> may make of it"


def test_findings_of_several_runs_are_one_kind() -> None:
    def finding(job: str, run: str) -> Finding:
        message = rule_named("runs-without-code-version").message({"run_id": run})
        return Finding(run, Subject("JOB", job, f"n/{job}", ()), message, None)

    runs = [finding(f"j{number % 2}", f"0197c1de-52f0-7bd1-9d55-{number:012}") for number in range(38)]
    several = CheckedRule("runs-without-code-version", "Each does.", "Set it.", 38, 0, tuple(runs), None)
    one = CheckedRule("runs-without-code-version", "Each does.", "Set it.", 1, 0, (runs[5],), None)
    out = io.StringIO()
    PlainConsole(out, width=100_000, soft_wrap=True).print(view(Checks((several, one), 39, 0)))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert len(lines) == 6
    assert lines[1].startswith("38 × n/j0, n/j1 ")
    assert "Run … wrote something" in lines[1]
    assert "Run 0197c1de-52f0-7bd1-9d55-000000000005 wrote something" in lines[4]


def test_findings_beyond_the_limit_are_a_failed_case_together() -> None:
    found = Checks((rule("broken", 2, 1_005), rule("whole", 0, 0), rule("listed", 1, 1)), 1_006, 3)
    root = ET.fromstring(junit_report(found))
    suites = {suite.attrib["name"]: suite for suite in root}
    assert {name: (suite.attrib["tests"], suite.attrib["failures"]) for name, suite in suites.items()} == {
        "broken": ("3", "3"),
        "whole": ("1", "0"),
        "listed": ("1", "1"),
    }
    assert root.attrib["failures"] == str(len([*root.iter("failure")])) == "4"
    for suite in suites.values():
        assert len(suite.findall("testcase")) == int(suite.attrib["tests"])
    assert [case.attrib["name"] for case in suites["broken"].findall("testcase")] == ["n/j", "n/j", "1,003 more"]
    assert suites["broken"].findtext("system-out") == "1 exempted"
