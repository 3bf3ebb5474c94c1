"""What a CI system counts is what was found, beyond the limit, too."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from headwater.show.check import junit
from headwater_consumers.analysis.checks import CheckedRule, Checks, Finding, Subject


def rule(name: str, listed: int, total: int) -> CheckedRule:
    subject = Subject("JOB", "k", "n/j", ("o",))
    findings = tuple(Finding(str(number), subject, "It is so.", None) for number in range(listed))
    return CheckedRule(name, f"{name} holds", "Mend it.", total, 1, findings, None)


def test_findings_beyond_the_limit_are_a_failed_case_together() -> None:
    found = Checks((rule("broken", 2, 1_005), rule("whole", 0, 0), rule("listed", 1, 1)), 1_006, 3)
    root = ET.fromstring(junit(found))
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
