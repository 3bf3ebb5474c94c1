"""A rule that takes too long is named, and ends no other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from headwater.commands import check as show
from headwater_analysis.checks import RULES, CheckedRule, check
from headwater_analysis.errors import TimeLimitError
from headwater_analysis.identity import several_names

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class SlowReader:
    """Answers none of some rules in time."""

    tenant = "t"

    def __init__(self, slow: Callable[[str], bool], *, slow_names: bool = False) -> None:
        self._slow = slow
        self._slow_names = slow_names

    def read(self, question: Any) -> Any:
        if question is several_names:
            if self._slow_names:
                raise TimeLimitError(30)
            return {}
        rule = question.keywords["rule"]
        if self._slow(rule.name):
            raise TimeLimitError(30)
        return CheckedRule(rule.name, rule.title, rule.fix, 0, 0, (), None), []


def test_the_error_names_the_rule() -> None:
    reader: Any = SlowReader(lambda _: True)
    with pytest.raises(TimeLimitError) as raised:
        check(reader, NOW, rules=RULES[3:])
    assert str(raised.value) == (
        f"Rule {RULES[3].name} wasn't checked within 30 s. Check others by their names, or allow more time."
    )


def test_the_others_are_checked() -> None:
    slow = RULES[3]
    reader: Any = SlowReader(lambda name: name == slow.name)
    found = check(reader, NOW)
    assert [each.rule for each in found.rules] == [each.name for each in RULES if each is not slow]
    [late] = found.unchecked
    assert (late.rule, late.title, late.reason) == (slow.name, slow.title, "No answer within the time limit of 30 s.")
    suites = ET.fromstring(show.junit_report(found))
    assert (suites.get("failures"), suites.get("errors")) == ("0", "1")
    [error] = suites.iter("error")
    assert (error.get("type"), error.get("message")) == (slow.name, late.reason)


def test_rules_that_need_the_names_of_datasets_arent_checked_without_them() -> None:
    reader: Any = SlowReader(lambda _: False, slow_names=True)
    found = check(reader, NOW)
    assert {each.rule for each in found.unchecked} == {rule.name for rule in RULES if rule.follows_names}
    assert {each.rule for each in found.rules} == {rule.name for rule in RULES if not rule.follows_names}
    assert "drift-of-datasets" in {each.rule for each in found.unchecked}
