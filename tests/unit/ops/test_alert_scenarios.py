"""Every alert has a scenario with real processes, in `tests/integration/ops`, which the nightly run goes through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from support.prometheus_server import RULE_FILES, THRESHOLDS, shortened
from support.promtool import accept

SCENARIOS = Path(__file__).parents[2] / "integration" / "ops"

WITHOUT: dict[str, str] = {}
"""Alerts without a scenario ⇒ why."""

ALERTS = {
    rule["alert"]
    for path in RULE_FILES
    for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
    if "alert" in rule
}


def watched(source: str) -> Iterator[str]:
    """Alerts of a test file that are waited for: arguments of `watch(…)`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "watch":
            yield from (str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))


def test_an_alert_has_a_scenario() -> None:
    found = {alert for path in SCENARIOS.glob("test_*.py") for alert in watched(path.read_text(encoding="utf-8"))}
    assert found | WITHOUT.keys() == ALERTS
    assert found & WITHOUT.keys() == set()


def test_rules_with_shorter_durations_are_rules(tmp_path: Path) -> None:
    assert THRESHOLDS.keys() <= ALERTS
    for path in RULE_FILES:
        (tmp_path / path.name).write_text(yaml.safe_dump(shortened(yaml.safe_load(path.read_text(encoding="utf-8")))))
    accept("check", "rules", *tmp_path.iterdir())


def test_a_rule_is_shortened_and_a_threshold_that_is_not_there_is_found() -> None:
    rule = {"alert": "A", "expr": "deriv(x[15m]) > 100 and y > 1000", "for": "5m", "labels": {"severity": "warning"}}
    document = {"groups": [{"name": "g", "rules": [rule]}]}
    made = shortened(document, {"A": {"> 100": "> 7"}})["groups"][0]["rules"][0]
    assert made == {**rule, "expr": "deriv(x[16000ms]) > 7 and y > 1000", "for": "5000ms"}
    with pytest.raises(ValueError, match="A has no '> 10'"):
        shortened(document, {"A": {"> 10": "> 7"}})
